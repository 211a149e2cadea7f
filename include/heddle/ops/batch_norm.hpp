// Normalisation of channels over a whole batch, and its gradients. Axis 1 is the channels; the statistics of a channel
// are taken over all other axes: by one pass that loses no digits to a large mean, in a fixed order. What normalises is
// a map, so that it fuses with what stands above it, and inference also with what stands below.
#pragma once

#include "heddle/ops/group_norm.hpp"
#include "heddle/ops/math.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// ((x - mean) - rest) / sqrt(variance + eps), for elements of type T. Where the statistics are a batch's, `spread` is
/// already 1 / sqrt(variance + eps), and the mean comes in two parts.
template <class T>
struct batch_normalised {
  using Real = compute_type<T>;
  static constexpr const char* name = "batch_norm";
  template <class...>
  struct signature {
    using result = T;
    using argument = Real;
  };
  Real eps;
  bool in_parts, is_scale;
  HEDDLE_HOST_DEVICE Real operator()(Real x, Real mean, Real rest, Real spread) const {
    return centred(x, mean, rest) * (is_scale ? spread : rsqrt_function{}(spread + eps));
  }
  // Without a root that keeps the loop from vectorising: on the CPU it always is the scale.
  HEDDLE_ALWAYS_INLINE Real on_host(Real x, Real mean, Real rest, Real spread) const {
    return centred(x, mean, rest) * spread;
  }

 private:
  HEDDLE_HOST_DEVICE Real centred(Real x, Real mean, Real rest) const {
    return (x - mean) - (in_parts ? rest : Real{0});
  }
};

/// A running statistic that batches are mixed into, or none.
template <class T>
struct running_statistic {
  T* data = nullptr;
  index_t stride = 0;
  template <class Real>
  HEDDLE_HOST_DEVICE void update(index_t channel, Real value, Real momentum) const {
    if (data == nullptr) return;
    T& own = data[channel * stride];
    own = static_cast<T>(static_cast<Real>(own) + momentum * (value - static_cast<Real>(own)));
  }
};

/// Where a batch's statistics go: for the map that follows, and into the running ones.
template <class Real, class M, class V>
struct batch_statistics_output {
  struct Position {
    index_t channel;
  };
  Real* mean;  ///< [3, channels]: the mean in two parts, and the scale
  index_t channels;
  Real eps, momentum;
  running_statistic<M> running_mean;
  running_statistic<V> running_var;

  HEDDLE_HOST_DEVICE Position at(index_t channel) const { return {channel}; }
  HEDDLE_HOST_DEVICE void store(const Position& position, index_t, index_t, const channel_moments<Real>& batch) const {
    const index_t channel = position.channel;
    mean[channel] = batch.shift;
    mean[channels + channel] = batch.mean;
    mean[2 * channels + channel] = rsqrt_function{}(batch.variance() + eps);
    running_mean.update(channel, batch.shift + batch.mean, momentum);
    running_var.update(channel, batch.squares / static_cast<Real>(batch.count - 1), momentum);
  }
};

/// A statistic that is updated in place: a tensor of a channel each, or nullptr.
template <class X>
concept RunningStatistic = std::is_null_pointer_v<std::remove_cvref_t<X>> || is_tensor_v<X>;
template <class T, class S>
auto running(const char* operation, index_t channels, const S& statistic) {
  if constexpr (std::is_null_pointer_v<S>) {
    return running_statistic<T>{};
  } else {
    static_assert(!tensor_base_t<S>::is_read_only, "training updates the running statistics: they must be writable");
    static_assert(S::rank == 1, "a statistic of a channel each has rank 1");
    if (statistic.size() != channels)
      throw ShapeError(Message{} << operation << ": a running statistic of shape " << statistic.shape() << " for "
                                 << channels << " channels");
#if HEDDLE_HAS_CUDA
    if constexpr (std::is_same_v<typename S::device_type, Cuda>)
      cuda::record_current_stream(*statistic.storage().get());
#endif
    return running_statistic<typename S::value_type>{statistic.data(), statistic.strides()[0]};
  }
}

/// The statistics of each channel of x: [3, channels], as batch_statistics_output leaves them.
template <class Node, class M, class V>
auto batch_statistics(const Node& x, const M& running_mean, const V& running_var, double momentum, double eps) {
  using Device = typename Node::device_type;
  using Real = compute_type<typename Node::value_type>;
  constexpr int rank = Node::rank;
  const auto shape = x.shape();
  const index_t channels = shape[1], each = channels == 0 ? 0 : shape.size() / channels;
  if (each == 1)
    throw ShapeError(Message{} << "batch_norm: one value a channel has no variance to train with: shape " << shape);
  const auto to_mean = running<Real>("batch_norm", channels, running_mean);
  const auto to_var = running<Real>("batch_norm", channels, running_var);
  const Shape<2> three{3, channels};
  auto result = allocate_tensor<Real>(three, row_major(three), x.device());
  if (each == 0) return result;
  using Mean = std::remove_pointer_t<decltype(to_mean.data)>;
  using Var = std::remove_pointer_t<decltype(to_var.data)>;
  const batch_statistics_output<Real, Mean, Var> output{
      result.data(), channels, static_cast<Real>(eps), static_cast<Real>(momentum), to_mean, to_var};
  bool inner[static_cast<std::size_t>(rank)] = {};
  for (int i = 0; i < rank; ++i) inner[i] = i != 1;
  if constexpr (!std::is_same_v<Device, Cpu>) record_uses(x, result);
  with_source(x, [&](const auto& from) {
    using From = std::remove_cvref_t<decltype(from)>;
    if constexpr (runs_here<Device>() && std::is_same_v<Device, Cpu>) {
      const on_cpu::source<From> source(from, inner);
      on_cpu::reduce<moments_reduction<Real>>(source.values(), output, channels, each);
    } else {
#if HEDDLE_CUDA_COMPILER
      on_cuda::reduce<moments_reduction<Real>>(on_cuda::vector_source<From>(from, inner), output, channels, each,
                                               on_cuda::current_context(x.device().index, "batch_norm"));
#endif
    }
  });
  return result;
}

/// x normalised by given statistics, one a channel, of which `spread` is the scale or the variance.
template <class Node, class Mean, class Rest, class Spread>
auto batch_normalise(Node x, const Mean& mean, const Rest& rest, const Spread& spread, double eps, bool in_parts,
                     bool is_scale) {
  using T = typename Node::value_type;
  const auto shape = x.shape();
  return map_formula(batch_normalised<T>{static_cast<compute_type<T>>(eps), in_parts, is_scale}, std::move(x),
                     as_formula(by_channel("batch_norm", shape, mean)),
                     as_formula(by_channel("batch_norm", shape, rest)),
                     as_formula(by_channel("batch_norm", shape, spread)));
}
/// A variance as `spread` takes it: on the CPU as a scale.
template <class Real, class V>
auto given_spread(const V& variance, [[maybe_unused]] double eps) {
  using Given = tensor_base_t<V>;
  if constexpr (std::is_same_v<typename Given::device_type, Cpu>)
    return eval(rsqrt(cast<Real>(variance) + eps));
  else
    return as_tensor<Real>(as_formula(variance));
}

/// (x - mean) / sqrt(variance + eps) times weight plus bias, all of them one a channel (axis 1 of x; weight and bias
/// may be nullptr): batch normalisation by running statistics, for inference. x: batch, channels, then any axes. A map:
/// `hd::relu(hd::batch_norm(hd::conv2d(x, w), mean, variance, weight, bias))` is one kernel. The statistics may be read
/// now or when the formula is computed. Throws ShapeError.
template <Expression X, Expression M, Expression V, OptionalExpression W = std::nullptr_t,
          OptionalExpression B = std::nullptr_t>
auto batch_norm(X&& x, M&& mean, V&& variance, W&& weight = nullptr, B&& bias = nullptr, double eps = 1e-5) {
  static_assert(std::remove_cvref_t<X>::rank >= 2, "batch_norm: x has a batch axis and a channel axis");
  const auto shape = x.shape();
  auto operand = floating_formula(std::forward<X>(x));
  using Real = compute_type<typename decltype(operand)::value_type>;
  const auto center = as_tensor<Real>(as_formula(std::forward<M>(mean)));
  const auto spread = given_spread<Real>(eval(std::forward<V>(variance)), eps);
  constexpr bool is_scale = std::is_same_v<typename decltype(operand)::device_type, Cpu>;
  return scale_and_shift(batch_normalise(std::move(operand), center, center, spread, eps, false, is_scale),
                         by_channel("batch_norm", shape, std::forward<W>(weight)),
                         by_channel("batch_norm", shape, std::forward<B>(bias)));
}

/// Batch normalisation as PyTorch's. With `training` by the mean and the variance of x itself over all axes but the
/// channels (axis 1); they are computed by this call, and mixed into running_mean and running_var in place: r = r +
/// momentum (batch - r), the variance with correction 1. Either may be nullptr. Without `training` the same as above.
/// Throws ShapeError, and does so for training with a single value a channel, before anything is written.
/// Example: `h = hd::batch_norm(x, running_mean, running_var, weight, bias, true);`
template <Expression X, RunningStatistic M, RunningStatistic V, OptionalExpression W, OptionalExpression B,
          std::same_as<bool> Training>
auto batch_norm(X&& x, M&& running_mean, V&& running_var, W&& weight, B&& bias, Training training,
                double momentum = 0.1, double eps = 1e-5) {
  static_assert(std::remove_cvref_t<X>::rank >= 2, "batch_norm: x has a batch axis and a channel axis");
  constexpr bool has_statistics = is_tensor_v<M> && is_tensor_v<V>;
  const auto shape = x.shape();
  auto operand = reusable(floating_formula(std::forward<X>(x)));
  using Real = compute_type<typename decltype(operand)::value_type>;
  using Device = typename decltype(operand)::device_type;
  auto scale = by_channel("batch_norm", shape, std::forward<W>(weight));
  auto shift = by_channel("batch_norm", shape, std::forward<B>(bias));
  Tensor<const Real, 1, Device> mean, rest, spread;
  if (training) {
    const auto three = batch_statistics(operand, running_mean, running_var, momentum, eps);
    mean = three[0], rest = three[1], spread = three[2];
  } else if constexpr (has_statistics) {
    mean = as_tensor<Real>(as_formula(running_mean));
    rest = mean;
    spread = given_spread<Real>(running_var, eps);
  } else {
    throw Error("batch_norm: inference takes running statistics");
  }
  const bool is_scale = training || std::is_same_v<Device, Cpu>;
  return scale_and_shift(batch_normalise(std::move(operand), mean, rest, spread, eps, training, is_scale),
                         std::move(scale), std::move(shift));
}

// ---- gradients ----

/// dy * factor + ((x - mean) * slope + offset), all but dy and x one a channel.
template <class T>
struct batch_gradient {
  using Real = compute_type<T>;
  static constexpr const char* name = "batch_norm_grad";
  template <class...>
  struct signature {
    using result = T;
    using argument = Real;
  };
  HEDDLE_HOST_DEVICE Real operator()(Real dy, Real x, Real mean, Real factor, Real slope, Real offset) const {
    return dy * factor + ((x - mean) * slope + offset);
  }
};

/// Where a reduction of (dy, x) by channels leaves what the gradient of x is made of, [4, channels], and the gradients
/// of weight and bias.
template <class Real, class W>
struct batch_gradient_output {
  struct Position {
    index_t channel;
  };
  Real* terms;
  index_t channels;
  Real eps;
  const W* weight;  ///< null: 1
  index_t weight_stride;
  channel_gradients_output<W> gradients;

  HEDDLE_HOST_DEVICE Position at(index_t channel) const { return {channel}; }
  HEDDLE_HOST_DEVICE void store(const Position& position, index_t, index_t, const channel_gradient<Real>& sums) const {
    const index_t channel = position.channel;
    const Real count = static_cast<Real>(sums.count);
    const Real scale = rsqrt_function{}(sums.variance() + eps);
    const Real own = weight == nullptr ? Real{1} : static_cast<Real>(weight[channel * weight_stride]);
    const Real factor = own * scale, slope = -factor * scale * scale * sums.product / count;
    terms[channel] = sums.shift;
    terms[channels + channel] = factor;
    terms[2 * channels + channel] = slope;
    terms[3 * channels + channel] = -factor * sums.gradient / count - slope * sums.mean;
    gradients.store({channel}, 0, 0, joined<Real>{sums.gradient, sums.product * scale});
  }
};

/// What both gradients begin with: checked operands and room for the results.
template <class G, class X, class W>
struct batch_gradient_call {
  using T = typename X::value_type;
  using Device = typename X::device_type;
  using WeightT = channel_element_t<T, W>;
  using Result = norm_gradients<Tensor<T, X::rank, Device>, Tensor<WeightT, 1, Device>>;

  batch_gradient_call(const G& dy, const X& x) {
    static_assert(X::rank >= 2, "batch_norm: x has a batch axis and a channel axis");
    require_gradient_shape("batch_norm_grad", x.shape(), dy);
    const Shape<1> channels{x.shape()[1]};
    result.input = allocate_tensor<T>(x.shape(), preferred_strides(x), x.device());
    result.weight = allocate_tensor<WeightT>(channels, Strides<1>{{1}}, x.device());
    result.bias = allocate_tensor<WeightT>(channels, Strides<1>{{1}}, x.device());
    if (result.input.size() == 0) {
      result.weight.fill(0);
      result.bias.fill(0);
    }
    if constexpr (!std::is_same_v<Device, Cpu>) {
      record_uses(dy, result.input);
      record_uses(x, result.input);
    }
  }
  channel_gradients_output<WeightT> sums() const { return {result.weight.data(), result.bias.data()}; }

  Result result;
};

/// The gradients of batch_norm(x, …, training), given its result's: .input, .weight and .bias (the latter two also
/// where there was no weight). The statistics are worked out anew along with the sums, so that dy and x are read twice
/// in all. Sums have a fixed order. Throws ShapeError. Example: `auto [dx, dw, db] = hd::batch_norm_grad(dy, x,
/// weight);`
template <Expression G, Expression X, OptionalExpression W = std::nullptr_t>
auto batch_norm_grad(G&& dy, X&& x, W&& weight = nullptr, double eps = 1e-5) {
  const auto input = reusable(floating_formula(std::forward<X>(x)));
  using Input = std::remove_cvref_t<decltype(input)>;
  using T = typename Input::value_type;
  using Real = compute_type<T>;
  const auto gradient = map_formula(conversion<Real>{}, reusable(as_formula(std::forward<G>(dy))));
  batch_gradient_call<std::remove_cvref_t<decltype(gradient)>, Input, W> call(gradient, input);
  const auto given = by_channel("batch_norm_grad", input.shape(), std::forward<W>(weight));
  if (call.result.input.size() == 0) return std::move(call.result);
  const Shape<2> four{4, input.shape()[1]};
  const auto terms = allocate_tensor<Real>(four, row_major(four), input.device());
  batch_gradient_output<Real, typename decltype(call)::WeightT> output{terms.data(), four[1], static_cast<Real>(eps),
                                                                       nullptr,      0,       call.sums()};
  if constexpr (Expression<W>) {
    if constexpr (!std::is_same_v<typename Input::device_type, Cpu>) record_uses(as_formula(given), terms);
    output.weight = given.data();
    output.weight_stride = given.strides()[0];
  }
  reduce_channels<batch_gradient_reduction<Real>>(gradient, map_formula(conversion<Real>{}, input), output);
  const auto term = [&](index_t i) { return as_formula(by_channel("batch_norm_grad", input.shape(), terms[i])); };
  evaluate(map_formula(batch_gradient<T>{}, gradient, input, term(0), term(1), term(2), term(3)), call.result.input);
  return std::move(call.result);
}

/// The gradients of batch_norm(x, mean, variance, weight, bias), whose statistics are constants, given its result's:
/// .input, .weight and .bias. Example: `auto [dx, dw, db] = hd::batch_norm_grad(dy, x, mean, variance, weight);`
template <Expression G, Expression X, Expression M, Expression V, OptionalExpression W>
auto batch_norm_grad(G&& dy, X&& x, M&& mean, V&& variance, W&& weight, double eps = 1e-5) {
  const auto input = reusable(floating_formula(std::forward<X>(x)));
  using Input = std::remove_cvref_t<decltype(input)>;
  using T = typename Input::value_type;
  using Real = compute_type<T>;
  const auto gradient = map_formula(conversion<Real>{}, reusable(as_formula(std::forward<G>(dy))));
  batch_gradient_call<std::remove_cvref_t<decltype(gradient)>, Input, W> call(gradient, input);
  const auto center = as_tensor<Real>(as_formula(std::forward<M>(mean)));
  const auto given = by_channel("batch_norm_grad", input.shape(), std::forward<W>(weight));
  const Tensor scale = rsqrt(cast<Real>(std::forward<V>(variance)) + eps);
  const auto of_channel = [&](const auto& numbers) { return by_channel("batch_norm_grad", input.shape(), numbers); };
  const auto middle = of_channel(center);
  const auto factor = of_channel(scale);
  if (call.result.input.size() == 0) return std::move(call.result);
  if constexpr (Expression<W>)
    evaluate(map_formula(conversion<T>{}, gradient * (factor * given)), call.result.input);
  else
    evaluate(map_formula(conversion<T>{}, gradient * factor), call.result.input);
  reduce_channels<gradient_sums_reduction<Real>>(gradient, (input - middle) * factor, call.sums());
  return std::move(call.result);
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
