// Reductions over the whole tensor, an axis or several axes. Maps below are computed on the way in, maps above on the
// way out, in the same kernel. A reduction is a struct in ops/reductions.hpp and a function here.
#pragma once

#include "heddle/expr/producer.hpp"
#include "heddle/kernels/cpu/reduce.hpp"
#include "heddle/ops/map.hpp"
#include "heddle/ops/reductions.hpp"
#include "heddle/ops/shape.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/reduce.cuh"
#include "heddle/kernels/cuda/vector_source.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

/// What may stand behind the operand of a reduction: an axis, several, keep_dims.
template <class A>
inline constexpr bool is_reduction_argument_v = std::is_same_v<A, keep_dims_t>;
template <int A>
inline constexpr bool is_reduction_argument_v<axis_t<A>> = true;
template <int... A>
inline constexpr bool is_reduction_argument_v<axes_t<A...>> = true;
template <class... A>
concept ReductionArguments = (is_reduction_argument_v<A> && ...);

template <int Rank, int... A>
consteval unsigned axes_mask(axes_t<A...>) {
  constexpr unsigned mask = ((1U << normalized_axis<A, Rank>()) | ... | 0U);
  static_assert(((1U << normalized_axis<A, Rank>()) + ... + 0U) == mask, "a reduction names an axis twice");
  return mask;
}
template <int Rank, int A>
consteval unsigned axes_mask(axis_t<A>) {
  return 1U << normalized_axis<A, Rank>();
}
template <int Rank, class Other>
consteval unsigned axes_mask(Other) {
  return 0;
}
/// Which axes of a rank are reduced, as bits; no axes named means all.
template <int Rank, class... A>
consteval unsigned reduced_axes() {
  const unsigned mask = (axes_mask<Rank>(A{}) | ... | 0U);
  return mask == 0 ? (1U << Rank) - 1 : mask;
}
template <class... A>
inline constexpr bool keeps_dims_v = (std::is_same_v<A, keep_dims_t> || ...);

constexpr int count_axes(unsigned mask) {
  int count = 0;
  for (; mask != 0; mask &= mask - 1) ++count;
  return count;
}
/// How many elements of a shape are reduced to one.
template <int Rank>
constexpr index_t reduced_count(const Shape<Rank>& shape, unsigned mask) {
  index_t count = 1;
  for (int i = 0; i < Rank; ++i)
    if (((mask >> i) & 1U) != 0) count *= shape[i];
  return count;
}

/// The reduction R of a formula's axes in Mask.
template <class R, class Operand, unsigned Mask, bool Keep>
class reduce_formula : public producer<reduce_formula<R, Operand, Mask, Keep>> {
 public:
  using value_type = typename R::element;
  using device_type = typename Operand::device_type;
  static constexpr int rank = Keep ? Operand::rank : Operand::rank - count_axes(Mask);
  static constexpr producer_work work = producer_work::reduction;

  explicit reduce_formula(Operand operand, const R& reduction = {})
      : operand_(std::move(operand)), reduction_(reduction) {
    if constexpr (!R::has_identity) {
      if (reduces_nothing())
        throw ShapeError(Message{} << R::name << " of no elements: shape " << operand_.shape()
                                   << " has an empty reduced axis");
    }
  }

  Shape<rank> shape() const {
    const Shape<Operand::rank> from = operand_.shape();
    Shape<rank> shape;
    if constexpr (rank > 0) {
      for (int i = 0, to = 0; i < Operand::rank; ++i) {
        const bool reduced = ((Mask >> i) & 1U) != 0;
        if (reduced && !Keep) continue;
        shape[to++] = reduced ? 1 : from[i];
      }
    }
    return shape;
  }
  device_type device() const { return operand_.device(); }
  /// Whether there are results, but no elements to make them of.
  bool reduces_nothing() const { return reduced_count(operand_.shape(), Mask) == 0 && shape().size() > 0; }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool = false) const {
    operand_.for_each_tensor(visit, true);
  }

  template <class Bound>
  void run(const Bound& bound) const {
    with_source(operand_, [&](const auto& from) {
      bool inner[static_cast<std::size_t>(Operand::rank > 0 ? Operand::rank : 1)] = {};
      for (int i = 0; i < Operand::rank; ++i) inner[i] = ((Mask >> i) & 1U) != 0;
      using From = std::remove_cvref_t<decltype(from)>;
      const index_t outer_count = shape().size();
      const index_t inner_count = reduced_count(operand_.shape(), Mask);
      if constexpr (runs_here<device_type>() && std::is_same_v<device_type, Cpu>) {
        on_cpu::reduce<R>(on_cpu::source<From>(from, inner).values(),
                          on_cpu::sink<Bound>(bound, -1, -1).template values<typename R::result>(), outer_count,
                          inner_count, reduction_);
      } else {
#if HEDDLE_CUDA_COMPILER
        on_cuda::reduce<R>(on_cuda::vector_source<From>(from, inner), on_cuda::sink<Bound>(bound, -1, -1), outer_count,
                           inner_count, on_cuda::current_context(device().index, R::name), reduction_);
#endif
      }
    });
  }

 private:
  Operand operand_;
  [[no_unique_address]] R reduction_;
};

/// The reduction of x over the axes that the arguments name.
template <template <class> class Reduction, class... A, class X>
auto reduce_over(X&& x, Reduction<typename std::remove_cvref_t<X>::value_type> reduction = {}) {
  static_assert(
      ReductionArguments<A...>,
      "an axis is named by a type: hd::sum(x, hd::axis<1>), hd::axes<0, 2>, hd::keep_dims (and the greater of "
      "two numbers is hd::maximum)");
  using Node = formula_of_t<X&&>;
  return reduce_formula<decltype(reduction), Node, reduced_axes<Node::rank, A...>(), keeps_dims_v<A...>>(
      as_formula(std::forward<X>(x)), reduction);
}

/// The sum of all elements, or over an axis or axes. Integers and bool give int64. Of nothing: 0.
/// Example: `hd::sum(x)`, `hd::sum(x, hd::axis<1>)`, `hd::sum(x, hd::axes<0, 2>, hd::keep_dims)`.
template <Expression X, class... A>
auto sum(X&& x, A...) {
  return reduce_over<sum_reduction, A...>(std::forward<X>(x));
}
/// The arithmetic mean; float for integers; NaN of nothing. Example: `hd::mean(x, hd::axis<0>)`.
template <Expression X, class... A>
auto mean(X&& x, A...) {
  return reduce_over<mean_reduction, A...>(std::forward<X>(x));
}
/// The product. Integers and bool give int64. Of nothing: 1.
template <Expression X, class... A>
auto prod(X&& x, A...) {
  return reduce_over<prod_reduction, A...>(std::forward<X>(x));
}
/// The greatest element; NaN if there is one. Throws ShapeError for an empty axis. Example: `hd::max(x, hd::axis<-1>)`.
template <Expression X, class... A>
auto max(X&& x, A...) {
  return reduce_over<max_reduction, A...>(std::forward<X>(x));
}
/// The least element; NaN if there is one. Throws ShapeError for an empty axis.
template <Expression X, class... A>
auto min(X&& x, A...) {
  return reduce_over<min_reduction, A...>(std::forward<X>(x));
}
/// The index of the greatest element as int64, the first of equals, the first NaN; over several axes the flat row-major
/// index. Throws ShapeError for an empty axis. Example: `labels = hd::argmax(scores, hd::axis<1>)`.
template <Expression X, class... A>
auto argmax(X&& x, A...) {
  return reduce_over<argmax_reduction, A...>(std::forward<X>(x));
}
/// The index of the least element, as argmax.
template <Expression X, class... A>
auto argmin(X&& x, A...) {
  return reduce_over<argmin_reduction, A...>(std::forward<X>(x));
}
/// Whether any element is true (not 0; NaN is true). Of nothing: false. Example: `if (hd::any(x < 0).item()) …`
template <Expression X, class... A>
auto any(X&& x, A...) {
  return reduce_over<any_reduction, A...>(std::forward<X>(x));
}
/// Whether all elements are true. Of nothing: true. Example: `if (hd::all(a == b).item()) …`
template <Expression X, class... A>
auto all(X&& x, A...) {
  return reduce_over<all_reduction, A...>(std::forward<X>(x));
}
/// How many elements are not 0, as int64.
template <Expression X, class... A>
auto count_nonzero(X&& x, A...) {
  return reduce_over<count_reduction, A...>(std::forward<X>(x));
}

/// log(sum(exp(x))) without overflow; float for integers. Of nothing, or of nothing but -inf: -inf; with an inf: inf.
/// Example: `hd::logsumexp(scores, hd::axis<1>)`.
template <Expression X, class... A>
auto logsumexp(X&& x, A...) {
  return reduce_over<logsumexp_reduction, A...>(std::forward<X>(x));
}

/// exp(x - y), each element's part of a logsumexp y; 0 where that is -inf.
struct logsumexp_gradient : to_floating {
  static constexpr const char* name = "logsumexp_grad";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T dy, T x, T y) const {
    // Of two equal infinities the distance is NaN.
    const T part = std::exp(x == y ? T(0) : x - y);
    return y == -greatest_value<T> ? T(0) : dy * part;
  }
};
/// The gradient of logsumexp over the same axes with respect to x, given the result's: dy exp(x - logsumexp(x)). Of
/// nothing but -inf it is 0. Throws ShapeError. Example: `dx = hd::logsumexp_grad(dy, x, hd::axis<1>);`
template <Expression G, Expression X, class... A>
requires ReductionArguments<A...>
auto logsumexp_grad(G&& dy, X&& x, A...) {
  const auto whole = eval(std::forward<X>(x));
  const auto gradient = eval(std::forward<G>(dy));
  const auto wanted = reduce_over<logsumexp_reduction, A...>(whole).shape();
  static_assert(std::remove_cvref_t<decltype(gradient)>::rank == decltype(wanted)::rank, "dy has the result's rank");
  if (!(gradient.shape() == wanted))
    throw ShapeError(Message{} << "logsumexp_grad: dy of shape " << gradient.shape() << " for a result of shape "
                               << wanted);
  const auto y = eval(reduce_over<logsumexp_reduction, A..., keep_dims_t>(whole));
  return promoted_map(logsumexp_gradient{}, reshape(gradient, y.shape()), whole, y);
}

/// The square root of the sum of squares; float for integers. Of nothing: 0. Example: `hd::norm(x, hd::axis<-1>)`.
template <Expression X, class... A>
requires ReductionArguments<A...>
auto norm(X&& x, A...) { return reduce_over<norm2_reduction, A...>(std::forward<X>(x)); }
/// sum(|x|^order)^(1 / order); the greatest and the least |x| for the orders inf and -inf, how many elements are not 0
/// for order 0. NaN stays. Throws ShapeError for an empty axis if the order is inf or negative.
/// Example: `hd::norm(x, 1, hd::axis<1>, hd::keep_dims)`.
template <Expression X, ScalarArgument P, class... A>
requires ReductionArguments<A...>
auto norm(X&& x, P order, A...) {
  using Node = std::remove_cvref_t<X>;
  const norm_reduction<typename Node::value_type> reduction(static_cast<double>(order));
  auto formula = reduce_over<norm_reduction, A...>(std::forward<X>(x), reduction);
  if (!reduction.takes_nothing() && formula.reduces_nothing())
    throw ShapeError(Message{} << "norm of no elements: an order that is infinite or negative needs one");
  return formula;
}

/// What the sum of squared distances is divided by: count - correction. 1, the default, is for samples; 0 for whole
/// populations. Example: `hd::var(x, hd::axis<0>, hd::correction{0})`.
struct correction {
  double value = 1;
};
template <>
inline constexpr bool is_reduction_argument_v<correction> = true;

constexpr double correction_of() { return 1; }
template <class First, class... Rest>
constexpr double correction_of(const First& first, const Rest&... rest) {
  if constexpr (std::is_same_v<First, correction>)
    return first.value;
  else
    return correction_of(rest...);
}

/// The variance, or its square root, as an element of type T.
template <class T, bool Root>
struct from_squares {
  double divisor;
  template <class Squares>
  struct signature {
    using result = T;
    using argument = void;
  };
  template <class Real>
  HEDDLE_HOST_DEVICE Real operator()(Real squares) const {
    const Real variance = squares / static_cast<Real>(divisor);
    if constexpr (Root)
      return std::sqrt(variance);
    else
      return variance;
  }
};
template <bool Root, class... A, class X>
auto spread_over(X&& x, double corrected) {
  using T = float_result_t<typename std::remove_cvref_t<X>::value_type>;
  constexpr unsigned mask = reduced_axes<std::remove_cvref_t<X>::rank, A...>();
  const double divisor = static_cast<double>(reduced_count(x.shape(), mask)) - corrected;
  auto squares = reduce_over<squares_reduction, A...>(std::forward<X>(x));
  return map_formula(from_squares<T, Root>{divisor > 0 ? divisor : 0.0}, std::move(squares));
}

/// The variance: the mean of the squared distances from the mean, by default of a sample (correction 1: divided by
/// count - 1); float for integers. Computed in one pass that loses no digits to a large mean. Where count - correction
/// is not positive it is divided by 0, as PyTorch does: NaN, or inf where elements differ. Of nothing: NaN. Example:
/// `hd::var(x)`, `hd::var(x, hd::axes<0, 2>, hd::keep_dims, hd::correction{0})`.
template <Expression X, class... A>
requires ReductionArguments<A...>
auto var(X&& x, A... arguments) { return spread_over<false, A...>(std::forward<X>(x), correction_of(arguments...)); }
/// The standard deviation, the square root of var; correction 1 by default. Example: `hd::stddev(x, hd::axis<0>)`.
template <Expression X, class... A>
requires ReductionArguments<A...>
auto stddev(X&& x, A... arguments) { return spread_over<true, A...>(std::forward<X>(x), correction_of(arguments...)); }

}  // namespace HEDDLE_BUILD
}  // namespace heddle
