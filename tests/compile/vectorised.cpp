// The CPU's loops that have to vectorise; vectorised.sh looks at their machine code.
#include <heddle/ops/activation.hpp>
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/math.hpp>
#include <heddle/ops/reduce.hpp>
#include <heddle/ops/softmax.hpp>

namespace hd = heddle;
using Vector = hd::Tensor<float, 1, hd::Cpu>;
using Matrix = hd::Tensor<float, 2, hd::Cpu>;

void fused(Vector& y, const Vector& a, const Vector& b, const Vector& c) { y = hd::relu(a * b + c); }
void each(Vector& y, const Vector& x) {
  y = hd::exp(x);
  y = hd::log(x);
  y = hd::tanh(x);
  y = hd::erf(x);
  y = hd::sigmoid(x);
  y = hd::silu(x);
  y = hd::gelu(x);
  y = hd::gelu_tanh(x);
  y = hd::elu(x);
  y = hd::softplus(x);
}
float total(const Vector& x) { return hd::sum(x).item(); }
void rows(Matrix& y, const Matrix& x) { y = hd::softmax(x, hd::axis<1>); }
