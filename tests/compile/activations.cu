// Every activation, for activations.sh to look at.
#include <heddle/ops/activation.hpp>
#include <heddle/ops/arithmetic.hpp>

namespace hd = heddle;

template <class T>
void activations() {
  const auto x = hd::Tensor<T, 1, hd::Cuda>();
  hd::Tensor sigmoids = hd::sigmoid(x) + hd::silu(x) + hd::logsigmoid(x) + hd::tanh(x) + hd::tanhshrink(x);
  hd::Tensor gelus = hd::gelu(x) + hd::gelu_tanh(x) + hd::mish(x) + hd::softplus(x, 2.0) + hd::softsign(x);
  hd::Tensor linear_units = hd::relu(x) + hd::elu(x) + hd::celu(x, 2.0) + hd::selu(x) + hd::leaky_relu(x);
  hd::Tensor bounded = hd::hardsigmoid(x) + hd::hardswish(x) + hd::hardtanh(x) + hd::relu6(x) +
                       hd::threshold(x, 0.1, 0) + hd::prelu(x, x);
}
template void activations<float>();
template void activations<hd::half>();
template void activations<hd::bfloat16>();
