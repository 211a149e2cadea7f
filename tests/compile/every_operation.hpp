// Uses every operation once, on one device: what this instantiates must compile without a warning, and on a GPU without
// spilling registers. Functions of one kind share a formula, so that the kernels stay few.
#pragma once

#include <cstdint>

#include "heddle/heddle.hpp"

namespace every_operation {

namespace hd = heddle;

struct Twice {
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return x + x;
  }
};

template <class T, class Device>
void floating_maps(Device device) {
  const auto x = hd::rand<T>({8, 64}, device);
  const auto y = hd::randn<T>({8, 64}, device);
  hd::Tensor exponentials =
      hd::exp(x) + hd::exp2(x) + hd::expm1(x) + hd::log(x) + hd::log2(x) + hd::log10(x) + hd::log1p(x);
  hd::Tensor trigonometry = hd::sin(x) + hd::cos(x) + hd::tan(x) + hd::asin(x) + hd::acos(x) + hd::atan(x);
  hd::Tensor hyperbolic = hd::sinh(x) + hd::cosh(x) + hd::tanh(x) + hd::asinh(x) + hd::acosh(x) + hd::atanh(x);
  hd::Tensor special = hd::erf(x) + hd::erfc(x) + hd::lgamma(x);
  hd::Tensor roots = hd::sqrt(x) + hd::rsqrt(x) + hd::cbrt(x) + hd::reciprocal(x) + hd::hypot(x, y);
  hd::Tensor powers = hd::pow(x, y) + hd::atan2(x, y) + hd::lerp(x, y, hd::cast<T>(0.25f * x));
  hd::Tensor rounded = hd::floor(x) + hd::ceil(x) + hd::round(x) + hd::trunc(x) + hd::fmod(x, y) + hd::remainder(x, y);
  hd::Tensor kinds = hd::isnan(x) || hd::isinf(y) || hd::isfinite(x);
  hd::Tensor activations =
      hd::relu(x) + hd::sigmoid(y) + hd::leaky_relu(x) + hd::gelu(y) + hd::silu(x) + hd::softplus(y);
}

template <class T, class Device>
void maps(Device device) {
  const auto x = hd::ones<T>({8, 64}, device);
  const auto row = hd::full<T>({64}, T(2), device);
  const auto column = hd::full<T>({8, 1}, T(3), device);
  hd::Tensor arithmetic = (x + row) * column - x / row + x % row;
  hd::Tensor choice = hd::where(x < row, hd::abs(x), hd::square(row)) + hd::maximum(x, column) + hd::minimum(x, row);
  hd::Tensor comparison = (x == row) && (x != column) && (x <= row) && !(x > row) && (x >= column);
  hd::Tensor transposed = -x.transpose() + hd::sign(column.transpose());
  hd::Tensor own = hd::map(Twice{}, x);
  x(hd::_, hd::range(0, 64, 2)) = hd::clamp(x(hd::_, hd::range(1, 64, 2)), T(0), T(1));
  hd::Tensor floats = hd::cast<float>(x);
  own += x;
}

template <class T, class Device>
void integer_maps(Device device) {
  const auto x = hd::ones<T>({64}, device);
  hd::Tensor bits = ((x & x) | (~x ^ x)) << (x >> x);
}

template <class T, class Device>
void reductions(Device device) {
  const auto x = hd::ones<T>({4, 8, 64}, device);
  hd::Tensor sums = hd::sum(x) + hd::cast<hd::sum_result_t<T>>(hd::mean(hd::square(x - x)));
  hd::Tensor rows = hd::sum(x, hd::axis<-1>);
  hd::Tensor columns = hd::sum(x, hd::axis<0>, hd::keep_dims);
  hd::Tensor middle = hd::mean(x, hd::axis<1>);
  hd::Tensor outer = hd::mean(x, hd::axes<0, 2>);
  hd::Tensor product = hd::prod(x, hd::axis<1>);
  hd::Tensor greatest = hd::max(x, hd::axis<1>);
  hd::Tensor least = hd::min(x);
  hd::Tensor positions = hd::argmax(x, hd::axis<2>) + hd::argmin(x, hd::axis<2>);
  hd::Tensor count = hd::count_nonzero(x, hd::axis<1>);
  hd::Tensor any = hd::any(x, hd::axis<1>) && hd::all(x, hd::axis<1>);
}

/// Reductions of floating types only.
template <class T, class Device>
void spreads(Device device) {
  const auto x = hd::ones<T>({4, 8, 64}, device);
  hd::Tensor variance = hd::var(x, hd::axis<2>) + hd::stddev(x, hd::axis<2>, hd::correction{0});
  hd::Tensor exponent = hd::logsumexp(x, hd::axis<2>);
  hd::Tensor length = hd::norm(x, hd::axis<2>) + hd::norm(x, 3, hd::axis<2>);
}

template <class T, class Device>
void products(Device device) {
  const auto x = hd::ones<T>({2, 32, 48}, device);
  const auto w = hd::ones<T>({48, 64}, device);
  const auto b = hd::ones<T>({64}, device);
  hd::Tensor y = hd::maximum(hd::matmul(x, w) + b, T(0));
  hd::Tensor transposed = hd::matmul(w.transpose(), x.transpose());
  hd::Tensor vector = hd::matmul(x, b.slice(hd::axis<0>, hd::range(0, 48)));
  // An epilogue with as many operands as a residual block has.
  const auto skip = hd::ones<T>({2, 32, 64}, device);
  hd::Tensor residual = (hd::matmul(x, w) * T(2) + b) * skip + skip + b;
}

template <class T, class Device>
void rows(Device device) {
  const auto x = hd::ones<T>({16, 64}, device);
  hd::Tensor weights = hd::softmax(x / T(8) + x, hd::axis<-1>);
  hd::Tensor columns = hd::softmax(x, hd::axis<0>);
  hd::Tensor logarithms = hd::log_softmax(x, hd::axis<1>);
}

template <class T, class Device>
void normalisations(Device device) {
  const auto x = hd::ones<T>({4, 16, 64}, device);
  const auto own = hd::ones<T>({64}, device), channels = hd::ones<T>({16}, device);
  hd::Tensor layers = hd::layer_norm(x, own, own) + x;
  hd::Tensor squares = hd::rms_norm(x, own);
  hd::Tensor groups = hd::group_norm(x, 4, channels, channels);
  hd::Tensor instances = hd::instance_norm(x);
  hd::Tensor batch = hd::batch_norm(x, channels, channels, channels, channels, true);
  const auto of_layers = hd::layer_norm_grad(x, x, own);
  const auto of_squares = hd::rms_norm_grad(x, x, own);
  const auto of_groups = hd::group_norm_grad(x, x, 4, channels);
  const auto of_batch = hd::batch_norm_grad(x, x, channels);
  const auto of_constants = hd::batch_norm_grad(x, x, channels, channels, channels);
}

template <class T, class Device>
void losses(Device device) {
  const auto x = hd::ones<T>({4, 16}, device);
  const auto labels = hd::zeros<std::int64_t>({4}, device);
  hd::Tensor errors = hd::mse_loss(x, x) + hd::l1_loss(x, x) + hd::smooth_l1_loss(x, x) + hd::huber_loss(x, x);
  hd::Tensor entropies = hd::binary_cross_entropy_with_logits(x, x) + hd::kl_div(x, x);
  hd::Tensor slopes = hd::mse_loss_grad(1, x, x) + hd::binary_cross_entropy_with_logits_grad(1, x, x);
  hd::Tensor weights = hd::softmax_grad(x, x, hd::axis<1>);
  hd::Tensor classes = hd::cross_entropy(x, labels);
  hd::Tensor each = hd::cross_entropy(x, labels, hd::reduction::none);
  hd::Tensor weighted =
      hd::cross_entropy(x, labels, hd::ones<T>({16}, device), hd::reduction::mean, {.label_smoothing = 0.1f});
  hd::Tensor soft = hd::cross_entropy(x, x);
  hd::Tensor likelihood = hd::nll_loss(x, labels);
  hd::Tensor of_classes = hd::cross_entropy_grad(1, x, labels) + hd::nll_loss_grad(1, x, labels);
}

/// Elements moved, in rows and one by one.
template <class T, class Device>
void moves(Device device) {
  const auto x = hd::ones<T>({2, 8, 64}, device);
  const auto index = hd::zeros<std::int64_t>({2, 8, 5}, device);
  const auto places = hd::zeros<std::int32_t>({5}, device);
  hd::Tensor joined = hd::concat<1>(x, x) + hd::concat<1>(x + x, x);
  hd::Tensor stacked = hd::stack<0>(x, x);
  hd::Tensor padded = hd::pad(x, {{1, 2}, {3, 4}});
  hd::Tensor mirrored = hd::pad(x, {{1, 2}, {3, 4}}, hd::pad_mode::reflect);
  hd::Tensor rolled = hd::roll(x, 3, hd::axis<2>) + hd::tril(x);
  hd::Tensor tiled = hd::tile(x, {1, 2, 3});
  hd::Tensor gathered = hd::gather<2>(x, index);
  hd::Tensor selected = hd::index_select<0>(x, hd::zeros<std::int32_t>({3}, device));
  hd::Tensor filled = hd::masked_fill(x, x, T(1));
  hd::Tensor classes = hd::one_hot<T>(index, 64);
  hd::Tensor scattered = hd::scatter<2>(x, index, T(1)) + hd::scatter_add<2>(x, index, hd::gather<2>(x, index));
  hd::Tensor weights = hd::embedding_grad(hd::ones<T>({5, 64}, device), places, 10);
  hd::Tensor sums = hd::cumsum(x, hd::axis<2>) * hd::cumprod(x, hd::axis<0>);
  hd::Tensor sorted = hd::sort(x, hd::axis<1>);
  hd::Tensor order = hd::argsort(x);
  const auto [values, indices] = hd::topk(x, 5);
  hd::Tensor found = hd::nonzero(x);
  hd::Tensor added =
      hd::index_add(x, hd::axis<1>, hd::zeros<std::int64_t>({3}, device), hd::ones<T>({2, 3, 64}, device));
  hd::Tensor gathered_gradient = hd::gather_grad(hd::gather<2>(x, index), hd::axis<2>, index, x.shape());
  hd::Tensor sums_gradient = hd::cumsum_grad(x, hd::axis<2>);
  hd::Tensor repeated = hd::repeat_interleave(x, 2, hd::axis<1>);
  hd::Tensor flipped = hd::eval(hd::flip(x, hd::axis<2>)) + x;
}

template <class T, class Device>
void random(Device device) {
  const auto x = hd::ones<T>({8, 64}, device);
  hd::Tensor dropped = hd::dropout(hd::relu(x), 0.1);
  hd::Tensor drawn = hd::bernoulli(x) + hd::bernoulli<T>(0.5, {8, 64}, device) + hd::randint<T>(0, 10, {8, 64}, device);
  hd::Tensor order = hd::permutation(64, device);
}

/// With the element types that have kernels of their own.
template <class Device>
void main_types(Device device) {
  floating_maps<float>(device);
  floating_maps<double>(device);
  maps<float>(device);
  maps<hd::half>(device);
  maps<std::int32_t>(device);
  integer_maps<std::int64_t>(device);
  reductions<float>(device);
  reductions<double>(device);
  reductions<hd::bfloat16>(device);
  reductions<std::int32_t>(device);
  products<float>(device);
  products<double>(device);
  products<hd::half>(device);
  products<hd::bfloat16>(device);
  products<std::int32_t>(device);
  rows<float>(device);
  rows<hd::half>(device);
  spreads<float>(device);
  normalisations<float>(device);
  losses<float>(device);
  moves<float>(device);
  random<float>(device);
  hd::Tensor numbers =
      hd::arange<float>(64, device) + hd::linspace<float>(0, 1, 64, device) + hd::eye<float>(64, device);
}

/// With the others.
template <class Device>
void further_types(Device device) {
  floating_maps<hd::half>(device);
  floating_maps<hd::bfloat16>(device);
  maps<std::uint8_t>(device);
  maps<double>(device);
  integer_maps<std::uint16_t>(device);
  reductions<hd::half>(device);
  reductions<std::uint8_t>(device);
  products<std::int64_t>(device);
  rows<double>(device);
  spreads<double>(device);
  normalisations<hd::half>(device);
  moves<hd::half>(device);
  moves<std::int64_t>(device);
}

}  // namespace every_operation
