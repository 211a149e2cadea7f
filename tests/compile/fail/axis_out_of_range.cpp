// expect: axis out of range: it must lie in [-rank, rank)
#include <heddle/heddle.hpp>

namespace hd = heddle;

void misuse(const hd::Tensor<float, 2>& x) {
#ifdef HEDDLE_MISUSE
  hd::Tensor y = hd::sum(x, hd::axis<2>);
#else
  hd::Tensor y = hd::sum(x, hd::axis<-2>);
#endif
}
