// expect: this named formula contains a producer (matmul, sum, ...), which would be computed again at every use
#include <heddle/heddle.hpp>

namespace hd = heddle;

void misuse(const hd::Tensor<float, 2>& x) {
  const auto total = hd::sum(x) + 1.0f;
#ifdef HEDDLE_MISUSE
  hd::Tensor y = total;
#endif
}
