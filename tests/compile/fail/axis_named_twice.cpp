// expect: a reduction names an axis twice
#include <heddle/heddle.hpp>

namespace hd = heddle;

void misuse(const hd::Tensor<float, 2>& x) {
#ifdef HEDDLE_MISUSE
  hd::Tensor y = hd::max(x, hd::axes<0, -2>);
#else
  hd::Tensor y = hd::max(x, hd::axes<0, -1>);
#endif
}
