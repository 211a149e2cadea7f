// Normalisation by channels within an image: group_norm, instance_norm and their gradients. Axis 1 is the channels.
// (Over a whole batch: ops/batch_norm.hpp.) Statistics, precision and fusion are as in ops/norm.hpp.
#pragma once

#include "heddle/kernels/cpu/joined_source.hpp"
#include "heddle/ops/norm.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/joined_source.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

/// A weight of a channel each (axis 1 of x), as it broadcasts against x. Throws ShapeError.
template <int Rank, class W>
auto by_channel(const char* operation, const Shape<Rank>& shape, W&& weight) {
  if constexpr (!Expression<W>) {
    return nullptr;
  } else {
    static_assert(std::remove_cvref_t<W>::rank == 1, "a weight of a channel each has rank 1");
    const auto tensor = eval(std::forward<W>(weight));
    if (tensor.size() != shape[1])
      throw ShapeError(Message{} << operation << ": a weight, bias or statistic of shape " << tensor.shape() << " for "
                                 << shape[1] << " channels: axis 1 of shape " << shape);
    Shape<Rank - 1> seen;
    Strides<Rank - 1> strides;
    for (int i = 0; i < Rank - 1; ++i) {
      seen[i] = i == 0 ? shape[1] : 1;
      strides[i] = i == 0 ? tensor.strides()[0] : 1;
    }
    using Tensor1 = std::remove_cvref_t<decltype(tensor)>;
    return Tensor<const typename Tensor1::value_type, Rank - 1, typename Tensor1::device_type>(
        tensor.storage(), tensor.data(), seen, strides, tensor.device());
  }
}

/// The element type of a channel's gradients: the weight's, or x's where there is none.
template <class T, class W>
struct channel_element {
  using type = T;
};
template <class T, Expression W>
struct channel_element<T, W> {
  using type = std::remove_const_t<value_type_of_t<W>>;
};
template <class T, class W>
using channel_element_t = typename channel_element<T, W>::type;

/// Throws ShapeError where the channels can't be divided.
template <int Rank>
void require_groups(const char* operation, const Shape<Rank>& shape, index_t groups) {
  // No channels are no groups.
  const bool nothing = groups == 0 && shape[1] == 0;
  if (!nothing && (groups <= 0 || shape[1] % groups != 0))
    throw ShapeError(Message{} << operation << ": the " << shape[1] << " channels of shape " << shape
                               << " can't be divided into " << groups << " groups");
}

/// Each image's channels in `groups` groups, each group brought to mean 0 and variance 1, times weight plus bias (one a
/// channel, or nullptr). x: batch, channels, then any axes. Throws ShapeError where the channels don't divide.
/// Example: `h = hd::group_norm(x, 32, weight, bias);`
template <Expression X, std::integral G, OptionalExpression W = std::nullptr_t, OptionalExpression B = std::nullptr_t>
auto group_norm(X&& x, G groups, W&& weight = nullptr, B&& bias = nullptr, double eps = 1e-5) {
  using Node = std::remove_cvref_t<X>;
  static_assert(Node::rank >= 2, "group_norm: x has a batch axis and a channel axis");
  const auto shape = x.shape();
  const index_t parts = static_cast<index_t>(groups);
  require_groups("group_norm", shape, parts);
  auto operand = floating_formula(std::forward<X>(x));
  return scale_and_shift(normalised_formula<true, true, decltype(operand), 0U>(std::move(operand), eps, parts),
                         by_channel("group_norm", shape, std::forward<W>(weight)),
                         by_channel("group_norm", shape, std::forward<B>(bias)));
}

/// Each channel of each image brought to mean 0 and variance 1, times weight plus bias (one a channel, or nullptr).
/// x: batch, channels, then at least one axis. Throws ShapeError. Example: `h = hd::instance_norm(x);`
template <Expression X, OptionalExpression W = std::nullptr_t, OptionalExpression B = std::nullptr_t>
auto instance_norm(X&& x, W&& weight = nullptr, B&& bias = nullptr, double eps = 1e-5) {
  constexpr int rank = std::remove_cvref_t<X>::rank;
  static_assert(rank >= 3, "instance_norm: x has a batch axis, a channel axis and at least one more");
  const auto shape = x.shape();
  return scale_and_shift(normalise_over<true, ((1U << rank) - 1) & ~3U>(std::forward<X>(x), eps),
                         by_channel("instance_norm", shape, std::forward<W>(weight)),
                         by_channel("instance_norm", shape, std::forward<B>(bias)));
}

// ---- gradients ----

/// Where a reduction by channels leaves the gradients of weight and bias.
template <class W>
struct channel_gradients_output {
  struct Position {
    index_t channel;
  };
  W* weight;
  W* bias;
  HEDDLE_HOST_DEVICE Position at(index_t channel) const { return {channel}; }
  template <class Sums>
  HEDDLE_HOST_DEVICE void store(const Position& position, index_t, index_t, const Sums& sums) const {
    weight[position.channel] = static_cast<W>(sums.second);
    bias[position.channel] = static_cast<W>(sums.first);
  }
};

/// Reduces each channel (axis 1) of two formulas of one shape together to `output`.
template <class Reduction, class First, class Second, class Output>
void reduce_channels(const First& first, const Second& second, const Output& output) {
  using Device = typename Second::device_type;
  constexpr int rank = Second::rank;
  bool inner[static_cast<std::size_t>(rank)] = {};
  for (int i = 0; i < rank; ++i) inner[i] = i != 1;
  const index_t channels = second.shape()[1], each = channels == 0 ? 0 : second.shape().size() / channels;
  with_source(first, [&](const auto& a) {
    with_source(second, [&](const auto& b) {
      using A = std::remove_cvref_t<decltype(a)>;
      using B = std::remove_cvref_t<decltype(b)>;
      if constexpr (runs_here<Device>() && std::is_same_v<Device, Cpu>) {
        const on_cpu::source<A> left(a, inner);
        const on_cpu::source<B> right(b, inner);
        on_cpu::reduce<Reduction>(on_cpu::joined_source(left.values(), right.values()), output, channels, each);
      } else {
#if HEDDLE_CUDA_COMPILER
        using Source = on_cuda::joined_source<on_cuda::vector_source<A>, on_cuda::vector_source<B>>;
        on_cuda::reduce<Reduction>(Source{on_cuda::vector_source<A>(a, inner), on_cuda::vector_source<B>(b, inner)},
                                   output, channels, each,
                                   on_cuda::current_context(second.device().index, Reduction::name));
#endif
      }
    });
  });
}

/// One number a group of channels (images by groups), as it broadcasts against x.
template <int Rank, class Real, class Device>
auto by_group(const Tensor<Real, 2, Device>& numbers, const Shape<Rank>& shape) {
  const index_t images = shape[0], channels = shape[1], groups = numbers.shape()[1];
  Shape<Rank> seen = shape_of_ones<Rank>();
  seen[0] = images, seen[1] = channels;
  if (groups == channels) return numbers.reshape(seen);
  const auto repeated = numbers.unsqueeze(axis<2>).expand({images, groups, channels / groups}).clone();
  return Tensor<Real, 3, Device>(repeated.contiguous()).reshape(seen);
}

/// Gradients of weight * normalised(x) + bias by groups of channels.
template <class G, class X, class W>
auto group_gradients(const char* operation, G&& dy, X&& x, index_t groups, W&& weight, double eps) {
  using Node = std::remove_cvref_t<X>;
  using Device = typename Node::device_type;
  using T = float_result_t<typename Node::value_type>;
  using Real = compute_type<T>;
  using WeightT = channel_element_t<T, W>;
  constexpr int rank = Node::rank;
  const auto shape = x.shape();
  require_gradient_shape(operation, shape, dy);
  require_groups(operation, shape, groups);
  const auto given = by_channel(operation, shape, std::forward<W>(weight));
  const auto input = reusable(floating_formula(std::forward<X>(x)));
  const auto gradient = map_formula(conversion<Real>{}, reusable(as_formula(std::forward<G>(dy))));
  const Device device = input.device();
  norm_gradients<Tensor<T, rank, Device>, Tensor<WeightT, 1, Device>> result;
  result.input = allocate_tensor<T>(shape, preferred_strides(input), device);
  result.weight = allocate_tensor<WeightT>(Shape<1>{shape[1]}, Strides<1>{{1}}, device);
  result.bias = allocate_tensor<WeightT>(Shape<1>{shape[1]}, Strides<1>{{1}}, device);
  if (result.input.size() == 0) {
    result.weight.fill(0);
    result.bias.fill(0);
    return result;
  }
  if constexpr (!std::is_same_v<Device, Cpu>) {
    record_uses(gradient, result.input);
    record_uses(input, result.input);
  }
  const Shape<2> statistics{shape[0], groups};
  const auto mean = allocate_tensor<Real>(statistics, row_major(statistics), device);
  const auto scale = allocate_tensor<Real>(statistics, row_major(statistics), device);
  const auto of_x = [&](const auto& weighted) {
    with_source(weighted, [&](const auto& g) {
      with_source(input, [&](const auto& from) {
        bool inner[static_cast<std::size_t>(rank + 1)] = {};
        for (int i = 2; i <= rank; ++i) inner[i] = true;
        run_normalise_gradient<true>(split_channels(plain_output(result.input), groups), split_channels(g, groups),
                                     split_channels(from, groups), inner, eps, mean.data(), scale.data(), device,
                                     operation);
      });
    });
  };
  if constexpr (Expression<W>)
    of_x(map_formula(conversion<Real>{}, gradient * given));
  else
    of_x(gradient);
  reduce_channels<gradient_sums_reduction<Real>>(
      gradient, (input - by_group(mean, shape)) * by_group(scale, shape),
      channel_gradients_output<WeightT>{result.weight.data(), result.bias.data()});
  return result;
}

/// The gradients of group_norm(x, groups, weight, bias, eps), given its result's: .input, .weight and .bias (the latter
/// two also where there was no weight). Sums have a fixed order. Throws ShapeError.
/// Example: `auto [dx, dw, db] = hd::group_norm_grad(dy, x, 32, weight);`
template <Expression G, Expression X, std::integral Groups, OptionalExpression W = std::nullptr_t>
auto group_norm_grad(G&& dy, X&& x, Groups groups, W&& weight = nullptr, double eps = 1e-5) {
  return group_gradients("group_norm_grad", std::forward<G>(dy), std::forward<X>(x), static_cast<index_t>(groups),
                         std::forward<W>(weight), eps);
}
/// The gradients of instance_norm(x, weight, bias, eps), given its result's: .input, .weight and .bias.
template <Expression G, Expression X, OptionalExpression W = std::nullptr_t>
auto instance_norm_grad(G&& dy, X&& x, W&& weight = nullptr, double eps = 1e-5) {
  static_assert(std::remove_cvref_t<X>::rank >= 3, "instance_norm: x has a batch axis, a channel axis and more");
  const index_t channels = x.shape()[1];
  return group_gradients("instance_norm_grad", std::forward<G>(dy), std::forward<X>(x), channels,
                         std::forward<W>(weight), eps);
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
