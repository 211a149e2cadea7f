// expect: could not convert || is not contextually convertible to 'bool'
#include <heddle/heddle.hpp>

namespace hd = heddle;

int misuse(const hd::Tensor<float, 1>& x, const hd::Tensor<float, 1>& y) {
#ifdef HEDDLE_MISUSE
  if (x == y) return 1;
#else
  if (hd::array_equal(x, y)) return 1;
#endif
  return 0;
}
