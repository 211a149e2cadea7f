// expect: this would lower the kind of the elements silently
#include <heddle/heddle.hpp>

namespace hd = heddle;

void misuse(hd::Tensor<int, 1>& i, const hd::Tensor<float, 1>& x) {
#ifdef HEDDLE_MISUSE
  i += x;
#else
  i += hd::cast<int>(x);
#endif
}
