// expect: this named formula contains a producer (matmul, sum, ...), which would be computed again at every use
// compile: cpp cu
#include <heddle/heddle.hpp>

namespace hd = heddle;

void misuse(const hd::Tensor<float, 2>& x, const hd::Tensor<float, 2>& w) {
  auto product = hd::matmul(x, w);
#ifdef HEDDLE_MISUSE
  hd::Tensor y = hd::relu(product);
#else
  hd::Tensor y = hd::relu(std::move(product));
#endif
}
