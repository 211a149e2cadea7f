// expect: the formula's rank is not the tensor's
// compile: cpp cu
#include <heddle/heddle.hpp>

namespace hd = heddle;

void misuse(hd::Tensor<float, 1>& y, const hd::Tensor<float, 2>& x) {
#ifdef HEDDLE_MISUSE
  y = x * 2.0f;
#else
  y = hd::sum(x * 2.0f, hd::axis<0>);
#endif
}
