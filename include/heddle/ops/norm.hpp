// Normalisation by rows: layer_norm, rms_norm and their gradients. (By channels: ops/group_norm.hpp,
// ops/batch_norm.hpp.) Statistics are taken over the last axes; weight and bias ride in the epilogue, and so does
// whatever follows. A row is read once and written once where it fits a block's registers (Cuda) or the cache (Cpu).
// The mean comes first, then the squared distances from it, so that nothing cancels. half and bfloat16 are computed in
// float.
#pragma once

#include "heddle/expr/producer.hpp"
#include "heddle/kernels/cpu/norm.hpp"
#include "heddle/kernels/cpu/norm_gradient.hpp"
#include "heddle/kernels/cpu/row_form.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/map.hpp"
#include "heddle/ops/reduce.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/norm.cuh"
#include "heddle/kernels/cuda/norm_gradient.cuh"
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
      on_cpu::normalise<Centred>(on_cpu::source<From>(from, inner).values(),
                                 on_cpu::row_sink<Bound>(bound, inner).template values<compute_type<value_type>>(),
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
/// A formula that may be read several times: one that contains a producer is computed into a tensor.
template <class Node>
auto reusable(Node node) {
  if constexpr (Node::has_producer)
    return as_formula(evaluation_for<Node>::make(node));
  else
    return node;
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

// ---- gradients ----

/// What layer_norm_grad and its kin return: the gradients with respect to x, weight and bias.
template <class Input, class Weight>
struct norm_gradients {
  Input input;
  Weight weight;
  Weight bias;
};

/// A tensor as the output of a kernel, without an epilogue.
template <class T, int Rank, class Device>
bound_formula<hole_form, T, 0, Rank> plain_output(const Tensor<T, Rank, Device>& out) {
  return {hole_form{}, out.data(), out.shape(), out.strides(), {}};
}

/// The gradient of x under a normalisation over the axes `inner`, of g = dy * weight; rows' means and scales go to
/// `mean` and `scale` (dense, or null).
template <bool Centred, class Bound, class Dy, class From, class Device, class Real>
void run_normalise_gradient(const Bound& out, const Dy& dy, const From& x,
                            const bool (&inner)[static_cast<std::size_t>(Bound::rank)], double eps, Real* mean,
                            Real* scale, [[maybe_unused]] Device device, [[maybe_unused]] const char* operation) {
  index_t columns = 1;
  for (int i = 0; i < Bound::rank; ++i)
    if (inner[i]) columns *= out.shape[i];
  const index_t rows = columns == 0 ? 0 : out.shape.size() / columns;
  if constexpr (runs_here<Device>() && std::is_same_v<Device, Cpu>) {
    on_cpu::normalise_gradient<Centred>(on_cpu::source<Dy>(dy, inner).values(), on_cpu::source<From>(x, inner).values(),
                                        on_cpu::row_sink<Bound>(out, inner).template values<Real>(), rows, columns, eps,
                                        mean, scale);
  } else {
#if HEDDLE_CUDA_COMPILER
    on_cuda::normalise_gradient<Centred>(on_cuda::row_source<Dy>(dy, inner), on_cuda::row_source<From>(x, inner),
                                         on_cuda::row_sink<Bound>(out, inner), rows, columns, eps, mean, scale,
                                         on_cuda::current_context(device.index, operation));
#endif
  }
}

/// As above over the last axes, with the parts of the weight's and the bias's gradients: [2 or 1, parts, columns], or
/// a tensor of no parts where these rows are not served.
template <bool Centred, class G, class X, class T, class W, int WeightRank, class Device>
auto normalise_gradient_parts(const Tensor<T, X::rank, Device>& out, const G& gradient, const X& input,
                              const Tensor<const W, WeightRank, Device>& weight, double eps,
                              [[maybe_unused]] const char* operation) {
  using Real = compute_type<T>;
  constexpr index_t kinds = Centred ? 2 : 1;
  const index_t columns = weight.size(), rows = columns == 0 ? 0 : out.size() / columns;
  Tensor<Real, 3, Device> parts;
  const auto allocate = [&](index_t count) {
    const Shape<3> shape(kinds, count, columns);
    parts = allocate_tensor<Real>(shape, row_major(shape), out.device());
  };
  with_source(gradient, [&](const auto& dy) {
    with_source(input, [&](const auto& x) {
      using Dy = std::remove_cvref_t<decltype(dy)>;
      using From = std::remove_cvref_t<decltype(x)>;
      const auto bound = plain_output(out);
      using Bound = std::remove_cvref_t<decltype(bound)>;
      bool inner[static_cast<std::size_t>(X::rank)] = {};
      for (int i = 0; i < X::rank; ++i) inner[i] = i >= X::rank - WeightRank;
      if constexpr (runs_here<Device>() && std::is_same_v<Device, Cpu>) {
        allocate(on_cpu::norm_gradient_parts(rows));
        on_cpu::normalise_gradient<Centred>(on_cpu::source<Dy>(dy, inner).values(),
                                            on_cpu::source<From>(x, inner).values(), weight.data(),
                                            on_cpu::row_sink<Bound>(bound, inner).template values<Real>(), rows,
                                            columns, eps, parts.data(), parts.shape()[1]);
      } else {
#if HEDDLE_CUDA_COMPILER
        const on_cuda::row_source<Dy> dy_rows(dy, inner);
        const on_cuda::row_source<From> x_rows(x, inner);
        const on_cuda::row_sink<Bound> out_rows(bound, inner);
        const auto plan = on_cuda::plan_norm_gradient(dy_rows, x_rows, out_rows, rows, columns);
        allocate(plan.blocks);
        if (plan.blocks > 0)
          on_cuda::normalise_gradient<Centred>(dy_rows, x_rows, weight.data(), out_rows, rows, columns, eps,
                                               parts.data(), plan,
                                               on_cuda::current_context(out.device().index, operation));
#endif
      }
    });
  });
  return parts;
}

/// Throws ShapeError where a gradient has not the shape of x.
template <int Rank, class G>
void require_gradient_shape(const char* operation, const Shape<Rank>& shape, const G& dy) {
  static_assert(G::rank == Rank, "dy has the shape of x");
  if (!(dy.shape() == shape))
    throw ShapeError(Message{} << operation << ": a gradient of shape " << dy.shape() << " for x of shape " << shape);
}

/// The sum over the leading axes, in the shape of the last Rank.
template <int Rank, class X>
auto sum_leading(X&& x) {
  constexpr int leading = std::remove_cvref_t<X>::rank - Rank;
  return [&]<int... A>(std::integer_sequence<int, A...>) { return sum(std::forward<X>(x), axes<A...>); }
  (std::make_integer_sequence<int, leading>{});
}

/// Gradients of weight * normalised(x) + bias over the last axes.
template <bool Centred, class G, class X, class W>
auto last_axes_gradients(const char* operation, G&& dy, X&& x, W&& weight, double eps) {
  using Node = std::remove_cvref_t<X>;
  using Device = typename Node::device_type;
  using T = float_result_t<typename Node::value_type>;
  using WeightT = value_type_of_t<W>;
  using Real = compute_type<T>;
  constexpr int rank = Node::rank, own = std::remove_cvref_t<W>::rank, leading = rank - own;
  require_last_axes(operation, x.shape(), weight);
  require_gradient_shape(operation, x.shape(), dy);
  const auto dense = as_tensor<WeightT>(as_formula(std::forward<W>(weight))).contiguous();
  const auto input = reusable(floating_formula(std::forward<X>(x)));
  const auto gradient = map_formula(conversion<Real>{}, reusable(as_formula(std::forward<G>(dy))));
  norm_gradients<Tensor<T, rank, Device>, Tensor<WeightT, own, Device>> result;
  result.input = allocate_tensor<T>(input.shape(), preferred_strides(input), input.device());
  if constexpr (!std::is_same_v<Device, Cpu>) {
    record_uses(gradient, result.input);
    record_uses(input, result.input);
  }
  if (result.input.size() == 0) {
    result.weight = allocate_tensor<WeightT>(dense.shape(), row_major(dense.shape()), input.device());
    result.weight.fill(0);
    if constexpr (Centred) result.bias = result.weight.clone();
    return result;
  }
  if constexpr (leading > 0) {
    const auto parts = normalise_gradient_parts<Centred>(result.input, gradient, input, dense, eps, operation);
    if (parts.shape()[1] > 0) {
      const Tensor<WeightT, 2, Device> sums = sum(parts, axis<1>);
      result.weight = sums[0].reshape(dense.shape());
      if constexpr (Centred) result.bias = sums[1].reshape(dense.shape());
      return result;
    }
  }
  // Rows of other layouts, too long ones, or a single one: in three passes.
  Shape<rank> each = shape_of_ones<rank>();
  for (int i = 0; i < leading; ++i) each[i] = input.shape()[i];
  const auto mean = allocate_tensor<Real>(each, row_major(each), input.device());
  const auto scale = allocate_tensor<Real>(each, row_major(each), input.device());
  bool inner[static_cast<std::size_t>(rank)] = {};
  for (int i = leading; i < rank; ++i) inner[i] = true;
  with_source(map_formula(conversion<Real>{}, gradient * dense), [&](const auto& weighted) {
    with_source(input, [&](const auto& from) {
      run_normalise_gradient<Centred>(plain_output(result.input), weighted, from, inner, eps, mean.data(), scale.data(),
                                      input.device(), operation);
    });
  });
  const auto centred = [&] {
    if constexpr (Centred)
      return (input - mean) * scale;
    else
      return input * scale;
  };
  if constexpr (leading > 0) {
    result.weight = sum_leading<own>(gradient * centred());
    if constexpr (Centred) result.bias = sum_leading<own>(gradient);
  } else {
    result.weight = gradient * centred();
    if constexpr (Centred) result.bias = eval(gradient);
  }
  return result;
}

/// The gradients of layer_norm(x, weight, bias, eps), given its result's: .input, .weight and .bias. dy and x are read
/// once where rows fit a block's registers; weight and bias sums have a fixed order. Throws ShapeError.
/// Example: `auto [dx, dw, db] = hd::layer_norm_grad(dy, x, weight);`
template <Expression G, Expression X, Expression W>
auto layer_norm_grad(G&& dy, X&& x, W&& weight, double eps = 1e-5) {
  return last_axes_gradients<true>("layer_norm_grad", std::forward<G>(dy), std::forward<X>(x), std::forward<W>(weight),
                                   eps);
}
/// The gradients of rms_norm(x, weight, eps), given its result's: .input and .weight (.bias holds nothing).
template <Expression G, Expression X, Expression W>
auto rms_norm_grad(G&& dy, X&& x, W&& weight,
                   double eps = epsilon_of<float_result_t<typename std::remove_cvref_t<X>::value_type>>) {
  return last_axes_gradients<false>("rms_norm_grad", std::forward<G>(dy), std::forward<X>(x), std::forward<W>(weight),
                                    eps);
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
