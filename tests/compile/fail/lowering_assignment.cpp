// expect: this would lower the kind of the elements silently
// compile: cpp cu
#include <heddle/heddle.hpp>

namespace hd = heddle;

void misuse(const hd::Tensor<float, 1>& x, const hd::Tensor<float, 1>& y) {
#ifdef HEDDLE_MISUSE
  hd::Tensor<int, 1> i = x + y;
#else
  hd::Tensor<int, 1> i = hd::cast<int>(x + y);
#endif
}
