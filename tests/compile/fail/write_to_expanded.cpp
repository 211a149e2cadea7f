// expect: this tensor is read-only
#include <heddle/heddle.hpp>

namespace hd = heddle;

void misuse(const hd::Tensor<float, 1>& x) {
#ifdef HEDDLE_MISUSE
  x.expand({4, 3}).fill(1.0f);
#else
  x.expand({4, 3}).clone().fill(1.0f);
#endif
}
