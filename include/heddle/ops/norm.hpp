// Normalisation by rows: layer_norm, rms_norm, group_norm, instance_norm. Statistics are taken over the last axes, or
// over a group of channels; weight and bias ride in the epilogue, and so does whatever follows. A row is read once and
// written once where it fits a block's registers (Cuda) or the cache (Cpu). The mean comes first, then the squared
// distances from it, so that nothing cancels. half and bfloat16 are computed in float.
#pragma once

#include "heddle/expr/producer.hpp"
#include "heddle/kernels/cpu/norm.hpp"
#include "heddle/kernels/cpu/row_form.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/map.hpp"
#include "heddle/ops/reduce.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/norm.cuh"
#include "heddle/kernels/cuda/row_form.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

/// A bound formula whose axis 1 is seen as two, the first of extent `parts`.
template <class Form, class Out, int Leaves, int Rank>
auto split_channels(const bound_formula<Form, Out, Leaves, Rank>& bound, index_t parts) {
  bound_formula<Form, Out, Leaves, Rank + 1> split{bound.form, bound.out, {}, {}, {}};
  for (int i = 0; i <= Rank; ++i) {
    const int from = i < 2 ? i : i - 1;
    const index_t each = bound.shape[1] / parts;
    split.shape[i] = i == 1 ? parts : (i == 2 ? each : bound.shape[from]);
    split.out_stride[i] = bound.out_stride[from] * (i == 1 ? each : 1);
    for (int r = 0; r < Leaves; ++r) split.table.stride[r][i] = bound.table.stride[r][from] * (i == 1 ? each : 1);
  }
  for (int r = 0; r < Leaves; ++r) split.table.data[r] = bound.table.data[r];
  return split;
}

/// A formula normalised over the axes in Mask; with Grouped, over groups of channels (axis 1) and all axes behind.
template <bool Centred, bool Grouped, class Operand, unsigned Mask>
class normalised_formula : public producer<normalised_formula<Centred, Grouped, Operand, Mask>> {
 public:
  using value_type = typename Operand::value_type;
  using device_type = typename Operand::device_type;
  static constexpr int rank = Operand::rank;
  static constexpr producer_work work = producer_work::row_wise;

  normalised_formula(Operand operand, double eps, index_t groups = 1)
      : operand_(std::move(operand)), eps_(eps), groups_(groups) {}
  Shape<rank> shape() const { return operand_.shape(); }
  device_type device() const { return operand_.device(); }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool = false) const {
    operand_.for_each_tensor(visit, true);
  }

  template <class Bound>
  void run(const Bound& bound) const {
    with_source(operand_, [&](const auto& from) {
      if constexpr (Grouped)
        run_rows(split_channels(bound, groups_), split_channels(from, groups_));
      else
        run_rows(bound, from);
    });
  }

 private:
  template <class Bound, class From>
  void run_rows(const Bound& bound, const From& from) const {
    bool inner[static_cast<std::size_t>(Bound::rank > 0 ? Bound::rank : 1)] = {};
    for (int i = 0; i < Bound::rank; ++i) inner[i] = Grouped ? i >= 2 : ((Mask >> i) & 1U) != 0;
    index_t columns = 1;
    for (int i = 0; i < Bound::rank; ++i)
      if (inner[i]) columns *= bound.shape[i];
    const index_t rows = columns == 0 ? 0 : bound.shape.size() / columns;
    if constexpr (runs_here<device_type>() && std::is_same_v<device_type, Cpu>) {
      on_cpu::normalise<Centred>(on_cpu::source<From>(from, inner).values(), on_cpu::row_sink<Bound>(bound, inner),
                                 rows, columns, eps_);
    } else {
#if HEDDLE_CUDA_COMPILER
      on_cuda::normalise<Centred>(on_cuda::row_source<From>(from, inner), on_cuda::row_sink<Bound>(bound, inner), rows,
                                  columns, eps_,
                                  on_cuda::current_context(device().index, Centred ? "layer_norm" : "rms_norm"));
#endif
    }
  }

  Operand operand_;
  double eps_;
  index_t groups_;
};

/// An argument as a formula of floating elements.
template <class X>
auto floating_formula(X&& x) {
  using T = typename std::remove_cvref_t<X>::value_type;
  if constexpr (std::is_same_v<float_result_t<T>, T>)
    return as_formula(std::forward<X>(x));
  else
    return map_formula(conversion<float>{}, as_formula(std::forward<X>(x)));
}
template <bool Centred, unsigned Mask, class X>
auto normalise_over(X&& x, double eps) {
  auto operand = floating_formula(std::forward<X>(x));
  return normalised_formula<Centred, false, decltype(operand), Mask>(std::move(operand), eps);
}

/// A weight or a bias: a tensor, a formula, or nullptr for none.
template <class X>
concept OptionalExpression = Expression<X> || std::is_null_pointer_v<std::remove_cvref_t<X>>;

/// y * weight + bias, where there are such.
template <class Y, class W, class B>
auto scale_and_shift(Y&& y, W&& weight, B&& bias) {
  if constexpr (!Expression<W>) {
    if constexpr (!Expression<B>)
      return std::forward<Y>(y);
    else
      return std::forward<Y>(y) + std::forward<B>(bias);
  } else {
    if constexpr (!Expression<B>)
      return std::forward<Y>(y) * std::forward<W>(weight);
    else
      return std::forward<Y>(y) * std::forward<W>(weight) + std::forward<B>(bias);
  }
}

/// Throws ShapeError where a weight has not the shape of the last axes.
template <int Rank, class W>
void require_last_axes(const char* operation, const Shape<Rank>& shape, const W& weight) {
  if constexpr (Expression<W>) {
    static_assert(W::rank > 0 && W::rank <= Rank,
                  "the weight has the shape of the last axes of x: its rank is 1 to x's");
    const Shape<W::rank> own = weight.shape();
    bool fits = true;
    for (int i = 0; i < W::rank; ++i) fits = fits && own[i] == shape[Rank - W::rank + i];
    if (!fits)
      throw ShapeError(Message{} << operation << ": a weight or bias of shape " << own
                                 << " does not have the extents of the last axes of shape " << shape);
  }
}

/// (x - mean) / sqrt(variance + eps) over the named axes, variance without correction. Of a single element: 0. Integers
/// give float. Example: `hd::layer_norm(x, hd::axis<-1>)`, `hd::layer_norm(x, hd::axes<-2, -1>, 1e-6)`.
template <Expression X, class A>
requires(is_reduction_argument_v<A> && !std::is_same_v<A, keep_dims_t>) auto layer_norm(X&& x, A, double eps = 1e-5) {
  return normalise_over<true, reduced_axes<std::remove_cvref_t<X>::rank, A>()>(std::forward<X>(x), eps);
}
/// As above over the last axes, as many as `weight` has, times weight plus bias (each of the shape of those axes, or
/// nullptr). One kernel, with what follows. Throws ShapeError. Example: `h = hd::gelu(hd::layer_norm(x, weight,
/// bias));`
template <Expression X, Expression W, OptionalExpression B>
auto layer_norm(X&& x, W&& weight, B&& bias, double eps = 1e-5) {
  constexpr int rank = std::remove_cvref_t<X>::rank, own = std::remove_cvref_t<W>::rank;
  require_last_axes("layer_norm", x.shape(), weight);
  require_last_axes("layer_norm", x.shape(), bias);
  constexpr unsigned mask = ((1U << own) - 1) << (rank - own);
  return scale_and_shift(normalise_over<true, mask>(std::forward<X>(x), eps), std::forward<W>(weight),
                         std::forward<B>(bias));
}

/// The distance from 1 to the next number of a type.
template <class T>
inline constexpr double epsilon_of = std::is_same_v<T, double> ? 0x1p-52 : 0x1p-23;
template <>
inline constexpr double epsilon_of<half> = 0x1p-10;
template <>
inline constexpr double epsilon_of<bfloat16> = 0x1p-7;

/// x / sqrt(mean(x^2) + eps) over the named axes; eps is by default the element type's (PyTorch's finfo(dtype).eps).
/// Example: `hd::rms_norm(x, hd::axis<-1>)`.
template <Expression X, class A>
requires(is_reduction_argument_v<A> && !std::is_same_v<A, keep_dims_t>) auto rms_norm(
    X&& x, A, double eps = epsilon_of<float_result_t<typename std::remove_cvref_t<X>::value_type>>) {
  return normalise_over<false, reduced_axes<std::remove_cvref_t<X>::rank, A>()>(std::forward<X>(x), eps);
}
/// As above over the last axes, as many as `weight` has, times weight. Throws ShapeError.
/// Example: `h = hd::rms_norm(x, weight, 1e-6);`
template <Expression X, Expression W>
auto rms_norm(X&& x, W&& weight, double eps = epsilon_of<float_result_t<typename std::remove_cvref_t<X>::value_type>>) {
  constexpr int rank = std::remove_cvref_t<X>::rank, own = std::remove_cvref_t<W>::rank;
  require_last_axes("rms_norm", x.shape(), weight);
  constexpr unsigned mask = ((1U << own) - 1) << (rank - own);
  return normalise_over<false, mask>(std::forward<X>(x), eps) * std::forward<W>(weight);
}

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

/// Each image's channels in `groups` groups, each group brought to mean 0 and variance 1, times weight plus bias (one a
/// channel, or nullptr). x: batch, channels, then any axes. Throws ShapeError where the channels don't divide.
/// Example: `h = hd::group_norm(x, 32, weight, bias);`
template <Expression X, std::integral G, OptionalExpression W = std::nullptr_t, OptionalExpression B = std::nullptr_t>
auto group_norm(X&& x, G groups, W&& weight = nullptr, B&& bias = nullptr, double eps = 1e-5) {
  using Node = std::remove_cvref_t<X>;
  static_assert(Node::rank >= 2, "group_norm: x has a batch axis and a channel axis");
  const auto shape = x.shape();
  const index_t parts = static_cast<index_t>(groups);
  if (parts <= 0 || shape[1] % parts != 0)
    throw ShapeError(Message{} << "group_norm: the " << shape[1] << " channels of shape " << shape
                               << " can't be divided into " << parts << " groups");
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

}  // namespace HEDDLE_BUILD
}  // namespace heddle
