// expect: an axis is named by a type: hd::sum(x, hd::axis<1>)
#include <heddle/heddle.hpp>

namespace hd = heddle;

void misuse(const hd::Tensor<float, 2>& x) {
#ifdef HEDDLE_MISUSE
  hd::Tensor y = hd::sum(x, 1);
#else
  hd::Tensor y = hd::sum(x, hd::axis<1>);
#endif
}
