// Reductions over the whole tensor, an axis or several axes. Maps below are computed on the way in, maps above on the
// way out, in the same kernel. A reduction is a struct of this file's first part and a function of its last.
#pragma once

#include <limits>

#include "heddle/expr/producer.hpp"
#include "heddle/kernels/cpu/reduce.hpp"
#include "heddle/ops/map.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/reduce.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

// Variables, because device code may read a constant but not call numeric_limits' functions.
template <class T>
inline constexpr T lowest_value = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                                       : std::numeric_limits<T>::lowest();
template <class T>
inline constexpr T greatest_value = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                                         : std::numeric_limits<T>::max();
template <>
inline constexpr bool lowest_value<bool> = false;
template <>
inline constexpr bool greatest_value<bool> = true;

/// The sum. Integers and bool add up in int64, half and bfloat16 in float.
template <class T>
struct sum_reduction {
  using input = compute_type<T>;
  using state = accumulator_type<T>;
  using result = state;
  using element = sum_result_t<T>;
  static constexpr const char* name = "sum";
  static constexpr bool has_identity = true;
  static HEDDLE_HOST_DEVICE state identity() { return state{}; }
  static HEDDLE_HOST_DEVICE void accumulate(state& total, input value, index_t) {
    if constexpr (std::is_integral_v<state>)
      total = wrapping_add(total, static_cast<state>(value));
    else
      total += value;
  }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) {
    if constexpr (std::is_integral_v<state>)
      left = wrapping_add(left, right);
    else
      left += right;
  }
  static HEDDLE_HOST_DEVICE result finish(const state& total, index_t) { return total; }
};

/// The sum over the count; float for integers; NaN of nothing.
template <class T>
struct mean_reduction : sum_reduction<T> {
  using state = typename sum_reduction<T>::state;
  using element = float_result_t<T>;
  using result = compute_type<element>;
  static constexpr const char* name = "mean";
  static HEDDLE_HOST_DEVICE result finish(const state& total, index_t count) {
    if constexpr (std::is_integral_v<state>)
      return static_cast<result>(static_cast<double>(total) / static_cast<double>(count));
    else
      return total / static_cast<result>(count);
  }
};

/// The product. Integers and bool multiply in int64.
template <class T>
struct prod_reduction {
  using input = compute_type<T>;
  using state = accumulator_type<T>;
  using result = state;
  using element = sum_result_t<T>;
  static constexpr const char* name = "prod";
  static constexpr bool has_identity = true;
  static HEDDLE_HOST_DEVICE state identity() { return state{1}; }
  static HEDDLE_HOST_DEVICE void accumulate(state& total, input value, index_t) {
    combine(total, static_cast<state>(value));
  }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) {
    if constexpr (std::is_integral_v<state>)
      left = wrapping_multiply(left, right);
    else
      left *= right;
  }
  static HEDDLE_HOST_DEVICE result finish(const state& total, index_t) { return total; }
};

/// The greatest element; NaN if there is one.
template <class T>
struct max_reduction {
  using input = compute_type<T>;
  using state = input;
  using result = input;
  using element = T;
  static constexpr const char* name = "max";
  static constexpr bool has_identity = false;
  static HEDDLE_HOST_DEVICE state identity() { return lowest_value<state>; }
  static HEDDLE_HOST_DEVICE void accumulate(state& greatest, input value, index_t) { combine(greatest, value); }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) {
    if constexpr (std::is_integral_v<state>)
      left = left < right ? right : left;
    else
      left = left > right || left != left ? left : right;
  }
  static HEDDLE_HOST_DEVICE result finish(const state& greatest, index_t) { return greatest; }
};

/// The least element; NaN if there is one.
template <class T>
struct min_reduction {
  using input = compute_type<T>;
  using state = input;
  using result = input;
  using element = T;
  static constexpr const char* name = "min";
  static constexpr bool has_identity = false;
  static HEDDLE_HOST_DEVICE state identity() { return greatest_value<state>; }
  static HEDDLE_HOST_DEVICE void accumulate(state& least, input value, index_t) { combine(least, value); }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) {
    if constexpr (std::is_integral_v<state>)
      left = right < left ? right : left;
    else
      left = left < right || left != left ? left : right;
  }
  static HEDDLE_HOST_DEVICE result finish(const state& least, index_t) { return least; }
};

/// Where the greatest (Sign 1) or least (Sign -1) element is: the first of equals, the first NaN.
template <class T, int Sign>
struct position_reduction {
  using input = compute_type<T>;
  struct state {
    input value;
    index_t position;
  };
  using result = std::int64_t;
  using element = std::int64_t;
  static constexpr const char* name = Sign > 0 ? "argmax" : "argmin";
  static constexpr bool has_identity = false;
  static HEDDLE_HOST_DEVICE state identity() {
    return {Sign > 0 ? lowest_value<input> : greatest_value<input>, INT64_MAX};
  }
  static HEDDLE_HOST_DEVICE void accumulate(state& best, input value, index_t position) {
    combine(best, state{value, position});
  }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) {
    const bool left_nan = left.value != left.value;
    const bool right_nan = right.value != right.value;
    const bool equal = left.value == right.value || (left_nan && right_nan);
    const bool greater = Sign > 0 ? right.value > left.value : right.value < left.value;
    const bool better = equal ? right.position < left.position : (right_nan || (!left_nan && greater));
    left.value = better ? right.value : left.value;
    left.position = better ? right.position : left.position;
  }
  static HEDDLE_HOST_DEVICE result finish(const state& best, index_t) { return best.position; }
};
template <class T>
using argmax_reduction = position_reduction<T, 1>;
template <class T>
using argmin_reduction = position_reduction<T, -1>;

/// Whether any element is not 0.
template <class T>
struct any_reduction {
  using input = compute_type<T>;
  using state = bool;
  using result = bool;
  using element = bool;
  static constexpr const char* name = "any";
  static constexpr bool has_identity = true;
  static HEDDLE_HOST_DEVICE state identity() { return false; }
  static HEDDLE_HOST_DEVICE void accumulate(state& found, input value, index_t) { found = found || value != input(0); }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) { left = left || right; }
  static HEDDLE_HOST_DEVICE result finish(const state& found, index_t) { return found; }
};

/// Whether all elements are not 0.
template <class T>
struct all_reduction {
  using input = compute_type<T>;
  using state = bool;
  using result = bool;
  using element = bool;
  static constexpr const char* name = "all";
  static constexpr bool has_identity = true;
  static HEDDLE_HOST_DEVICE state identity() { return true; }
  static HEDDLE_HOST_DEVICE void accumulate(state& every, input value, index_t) { every = every && value != input(0); }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) { left = left && right; }
  static HEDDLE_HOST_DEVICE result finish(const state& every, index_t) { return every; }
};

/// How many elements are not 0.
template <class T>
struct count_reduction {
  using input = compute_type<T>;
  using state = std::int64_t;
  using result = std::int64_t;
  using element = std::int64_t;
  static constexpr const char* name = "count_nonzero";
  static constexpr bool has_identity = true;
  static HEDDLE_HOST_DEVICE state identity() { return 0; }
  static HEDDLE_HOST_DEVICE void accumulate(state& count, input value, index_t) { count += value != input(0) ? 1 : 0; }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) { left += right; }
  static HEDDLE_HOST_DEVICE result finish(const state& count, index_t) { return count; }
};

/// Which axes of a rank are reduced, as bits; no axes named means all.
template <int Rank, int... A>
consteval unsigned reduced_axes() {
  unsigned mask = 0;
  ((mask |= 1U << normalized_axis<A, Rank>()), ...);
  if constexpr (sizeof...(A) == 0) mask = (1U << Rank) - 1;
  return mask;
}
constexpr int count_axes(unsigned mask) {
  int count = 0;
  for (; mask != 0; mask &= mask - 1) ++count;
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

  explicit reduce_formula(Operand operand) : operand_(std::move(operand)) {
    if constexpr (!R::has_identity) {
      if (reduced_count() == 0 && shape().size() > 0)
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
      const index_t inner_count = reduced_count();
      if constexpr (runs_here<device_type>() && std::is_same_v<device_type, Cpu>) {
        on_cpu::reduce<R>(on_cpu::source<From>(from, inner), on_cpu::sink<Bound>(bound, -1, -1), outer_count,
                          inner_count);
      } else {
#if HEDDLE_CUDA_COMPILER
        on_cuda::reduce<R>(on_cuda::source<From>(from, inner), on_cuda::sink<Bound>(bound, -1, -1), outer_count,
                           inner_count, on_cuda::current_context(device().index, R::name));
#endif
      }
    });
  }

 private:
  index_t reduced_count() const {
    index_t count = 1;
    for (int i = 0; i < Operand::rank; ++i)
      if (((Mask >> i) & 1U) != 0) count *= operand_.shape()[i];
    return count;
  }

  Operand operand_;
};

template <template <class> class Reduction, unsigned Mask, bool Keep, class X>
auto reduction_of(X&& x) {
  using Node = formula_of_t<X&&>;
  return reduce_formula<Reduction<typename Node::value_type>, Node, Mask, Keep>(as_formula(std::forward<X>(x)));
}

/// The four ways to say which axes: all, one, several; and whether they stay with extent 1.
template <template <class> class Reduction, class X>
auto reduce_over(X&& x) {
  return reduction_of<Reduction, reduced_axes<std::remove_cvref_t<X>::rank>(), false>(std::forward<X>(x));
}
template <template <class> class Reduction, class X, int A>
auto reduce_over(X&& x, axis_t<A>) {
  return reduction_of<Reduction, reduced_axes<std::remove_cvref_t<X>::rank, A>(), false>(std::forward<X>(x));
}
template <template <class> class Reduction, class X, int... A>
auto reduce_over(X&& x, axes_t<A...>) {
  return reduction_of<Reduction, reduced_axes<std::remove_cvref_t<X>::rank, A...>(), false>(std::forward<X>(x));
}
template <template <class> class Reduction, class X>
auto reduce_over(X&& x, keep_dims_t) {
  return reduction_of<Reduction, reduced_axes<std::remove_cvref_t<X>::rank>(), true>(std::forward<X>(x));
}
template <template <class> class Reduction, class X, int A>
auto reduce_over(X&& x, axis_t<A>, keep_dims_t) {
  return reduction_of<Reduction, reduced_axes<std::remove_cvref_t<X>::rank, A>(), true>(std::forward<X>(x));
}
template <template <class> class Reduction, class X, int... A>
auto reduce_over(X&& x, axes_t<A...>, keep_dims_t) {
  return reduction_of<Reduction, reduced_axes<std::remove_cvref_t<X>::rank, A...>(), true>(std::forward<X>(x));
}

/// What may stand behind the operand of a reduction.
template <class A>
inline constexpr bool is_reduction_argument_v = std::is_same_v<A, keep_dims_t>;
template <int A>
inline constexpr bool is_reduction_argument_v<axis_t<A>> = true;
template <int... A>
inline constexpr bool is_reduction_argument_v<axes_t<A...>> = true;
template <class... A>
concept ReductionArguments = (is_reduction_argument_v<A> && ...);

/// The sum of all elements, or over an axis or axes. Integers and bool give int64. Of nothing: 0.
/// Example: `hd::sum(x)`, `hd::sum(x, hd::axis<1>)`, `hd::sum(x, hd::axes<0, 2>, hd::keep_dims)`.
template <Expression X, class... A>
requires ReductionArguments<A...>
auto sum(X&& x, A... over) { return reduce_over<sum_reduction>(std::forward<X>(x), over...); }
/// The arithmetic mean; float for integers; NaN of nothing. Example: `hd::mean(x, hd::axis<0>)`.
template <Expression X, class... A>
requires ReductionArguments<A...>
auto mean(X&& x, A... over) { return reduce_over<mean_reduction>(std::forward<X>(x), over...); }
/// The product. Integers and bool give int64. Of nothing: 1.
template <Expression X, class... A>
requires ReductionArguments<A...>
auto prod(X&& x, A... over) { return reduce_over<prod_reduction>(std::forward<X>(x), over...); }
/// The greatest element; NaN if there is one. Throws ShapeError for an empty axis. Example: `hd::max(x, hd::axis<-1>)`.
template <Expression X, class... A>
requires ReductionArguments<A...>
auto max(X&& x, A... over) { return reduce_over<max_reduction>(std::forward<X>(x), over...); }
/// The least element; NaN if there is one. Throws ShapeError for an empty axis.
template <Expression X, class... A>
requires ReductionArguments<A...>
auto min(X&& x, A... over) { return reduce_over<min_reduction>(std::forward<X>(x), over...); }
/// The index of the greatest element as int64, the first of equals, the first NaN; over several axes the flat row-major
/// index. Throws ShapeError for an empty axis. Example: `labels = hd::argmax(scores, hd::axis<1>)`.
template <Expression X, class... A>
requires ReductionArguments<A...>
auto argmax(X&& x, A... over) { return reduce_over<argmax_reduction>(std::forward<X>(x), over...); }
/// The index of the least element, as argmax.
template <Expression X, class... A>
requires ReductionArguments<A...>
auto argmin(X&& x, A... over) { return reduce_over<argmin_reduction>(std::forward<X>(x), over...); }
/// Whether any element is true (not 0; NaN is true). Of nothing: false. Example: `if (hd::any(x < 0).item()) …`
template <Expression X, class... A>
requires ReductionArguments<A...>
auto any(X&& x, A... over) { return reduce_over<any_reduction>(std::forward<X>(x), over...); }
/// Whether all elements are true. Of nothing: true. Example: `if (hd::all(a == b).item()) …`
template <Expression X, class... A>
requires ReductionArguments<A...>
auto all(X&& x, A... over) { return reduce_over<all_reduction>(std::forward<X>(x), over...); }
/// How many elements are not 0, as int64.
template <Expression X, class... A>
requires ReductionArguments<A...>
auto count_nonzero(X&& x, A... over) { return reduce_over<count_reduction>(std::forward<X>(x), over...); }

}  // namespace HEDDLE_BUILD
}  // namespace heddle
