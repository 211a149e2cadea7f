// expect: bool - bool has no meaning: use ^, or cast<int> first
#include <heddle/heddle.hpp>

namespace hd = heddle;

void misuse(const hd::Tensor<bool, 1>& x) {
#ifdef HEDDLE_MISUSE
  hd::Tensor y = x - x;
#else
  hd::Tensor y = x ^ x;
#endif
}
