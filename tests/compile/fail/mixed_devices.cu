// expect: the operands live on different kinds of device (Cpu and Cuda): move one with .to(device) first
#include <heddle/heddle.hpp>

namespace hd = heddle;

void misuse(const hd::Tensor<float, 1>& x, const hd::Tensor<float, 1, hd::Cuda>& y) {
#ifdef HEDDLE_MISUSE
  hd::Tensor z = x + y;
#else
  hd::Tensor z = x.to(hd::Cuda{}) + y;
#endif
}
