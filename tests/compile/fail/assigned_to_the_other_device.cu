// expect: the formula and the tensor live on different kinds of device (Cpu and Cuda): move one with .to(device) first
#include <heddle/heddle.hpp>

namespace hd = heddle;

void misuse(hd::Tensor<float, 1>& x, const hd::Tensor<float, 1, hd::Cuda>& y) {
#ifdef HEDDLE_MISUSE
  x = y * 2.0f;
#else
  x = (y * 2.0f).to(hd::cpu);
#endif
}
