// expect: deleted
#include <heddle/heddle.hpp>

namespace hd = heddle;

void misuse(const hd::Tensor<float, 1>& y, const hd::Tensor<float, 1>& x) {
#ifdef HEDDLE_MISUSE
  y = x + 1.0f;
#else
  y.assign(x + 1.0f);
#endif
}
