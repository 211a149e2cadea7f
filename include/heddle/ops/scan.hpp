// Running sums and products along an axis. Maps below are computed on the way in, maps above on the way out.
#pragma once

#include "heddle/kernels/cpu/scan.hpp"
#include "heddle/ops/create.hpp"
#include "heddle/ops/join.hpp"
#include "heddle/ops/map.hpp"
#include "heddle/ops/numeric.hpp"
#include "heddle/ops/rearrange.hpp"
#include "heddle/ops/reductions.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/scan.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

/// How a scan goes on. It keeps half and bfloat16 in float, integers and bool in int64.
struct scan_sum {
  static constexpr const char* name = "cumsum";
  template <class State>
  static HEDDLE_HOST_DEVICE State identity() {
    return State{0};
  }
  template <class State>
  static HEDDLE_HOST_DEVICE State combine(State left, State right) {
    if constexpr (std::is_integral_v<State>)
      return wrapping_add(left, right);
    else
      return left + right;
  }
};
struct scan_product {
  static constexpr const char* name = "cumprod";
  template <class State>
  static HEDDLE_HOST_DEVICE State identity() {
    return State{1};
  }
  template <class State>
  static HEDDLE_HOST_DEVICE State combine(State left, State right) {
    if constexpr (std::is_integral_v<State>)
      return wrapping_multiply(left, right);
    else
      return left * right;
  }
};

/// The greatest, or least, so far; from a NaN on NaN.
template <int Sign>
struct scan_extreme {
  static constexpr const char* name = Sign > 0 ? "cummax" : "cummin";
  template <class State>
  static HEDDLE_HOST_DEVICE State identity() {
    return Sign > 0 ? lowest_value<State> : greatest_value<State>;
  }
  template <class State>
  static HEDDLE_HOST_DEVICE State combine(State left, State right) {
    const bool better = Sign > 0 ? right > left : right < left;
    return better || right != right ? right : left;
  }
};
struct scan_logsumexp {
  static constexpr const char* name = "logcumsumexp";
  template <class State>
  static HEDDLE_HOST_DEVICE State identity() {
    return lowest_value<State>;
  }
  template <class State>
  static HEDDLE_HOST_DEVICE State combine(State left, State right) {
    return logaddexp_function{}(left, right);
  }
};

/// The element type of a scan: sums and products of integers are int64.
template <class Scan, class T>
struct scan_element {
  using type = sum_result_t<T>;
};
template <int Sign, class T>
struct scan_element<scan_extreme<Sign>, T> {
  using type = T;
};

/// Each element combined with all before it along an axis.
template <class Scan, class Operand, int Axis>
class scan_formula : public producer<scan_formula<Scan, Operand, Axis>> {
 public:
  using value_type = typename scan_element<Scan, typename Operand::value_type>::type;
  using device_type = typename Operand::device_type;
  static constexpr int rank = Operand::rank;
  static constexpr producer_work work = producer_work::row_wise;

  explicit scan_formula(Operand operand) : operand_(std::move(operand)) {}
  Shape<rank> shape() const { return operand_.shape(); }
  device_type device() const { return operand_.device(); }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool = false) const {
    operand_.for_each_tensor(visit, true);
  }

  template <class Bound>
  void run(const Bound& bound) const {
    using State = accumulator_type<typename Operand::value_type>;
    with_source(operand_, [&](const auto& from) {
      using From = std::remove_cvref_t<decltype(from)>;
      constexpr int rows = output_rows<Bound> + From::leaves;
      auto table = output_table<From::leaves>(bound);
      for (int i = 0; i < rank; ++i)
        for (int r = 0; r < From::leaves; ++r) table.stride[output_rows<Bound> + r][i] = operand_stride(from, r, i, 0);
      const auto lines = line_axes<rows, rank>::from(table, Axis);
      const index_t length = bound.shape[Axis];
      if constexpr (runs_here<device_type>() && std::is_same_v<device_type, Cpu>) {
        on_cpu::scan<Scan, State>(lines, on_cpu::elements<From>(from), on_cpu::writer<Bound>(bound), length);
      } else {
#if HEDDLE_CUDA_COMPILER
        on_cuda::scan<Scan, State>(lines, on_cuda::elements<From>(from), on_cuda::writer<Bound>(bound), length,
                                   on_cuda::current_context(device().index, Scan::name));
#endif
      }
    });
  }

 private:
  Operand operand_;
};

template <class Scan, int A, class X>
auto scanned(X&& x) {
  using Node = formula_of_t<X&&>;
  return scan_formula<Scan, Node, normalized_axis<A, Node::rank>()>(as_formula(std::forward<X>(x)));
}

/// The sum of each element and all before it along an axis. Integers and bool give int64; half and bfloat16 add up in
/// float. The same bits every time. Long lines are scanned in parts that are joined afterwards: where the sum or
/// product of some elements in the middle is out of the type's range, so may be those that it is a part of. Example:
/// `hd::cumsum(x, hd::axis<-1>)`.
template <Expression X, int A>
auto cumsum(X&& x, axis_t<A>) {
  return scanned<scan_sum, A>(std::forward<X>(x));
}
/// The product of each element and all before it along an axis. Integers and bool give int64.
template <Expression X, int A>
auto cumprod(X&& x, axis_t<A>) {
  return scanned<scan_product, A>(std::forward<X>(x));
}
/// Of a vector, without naming its axis.
template <Expression X>
auto cumsum(X&& x) {
  static_assert(std::remove_cvref_t<X>::rank == 1, "cumsum of more than one axis needs to know which: axis<A>");
  return scanned<scan_sum, 0>(std::forward<X>(x));
}
template <Expression X>
auto cumprod(X&& x) {
  static_assert(std::remove_cvref_t<X>::rank == 1, "cumprod of more than one axis needs to know which: axis<A>");
  return scanned<scan_product, 0>(std::forward<X>(x));
}

/// From which side cumsum and cumprod go, and whether an element counts for its own place.
struct scan_options {
  bool exclusive = false;  ///< element i is of those before i: the first is 0, or 1
  bool reverse = false;    ///< from the last element on
};
template <class Scan, int A, class X>
auto scanned_by(X&& x, const scan_options& options) {
  const auto whole = eval(std::forward<X>(x));
  using Whole = std::remove_cvref_t<decltype(whole)>;
  using T = typename scan_element<Scan, typename Whole::value_type>::type;
  constexpr int along = normalized_axis<A, Whole::rank>();
  const auto result = empty<T>(whole.shape(), whole.device());
  auto from = Tensor<const typename Whole::value_type, Whole::rank, typename Whole::device_type>(whole);
  auto to = result;
  if (options.reverse) {
    from = from.slice(axis<along>, range(_, _, -1));
    to = to.slice(axis<along>, range(_, _, -1));
  }
  if (options.exclusive && result.size() > 0) {
    to.slice(axis<along>, range(0, 1)).fill(Scan::template identity<compute_type<T>>());
    to = to.slice(axis<along>, range(1, _));
    from = from.slice(axis<along>, range(0, whole.shape()[along] - 1));
  }
  to.assign(scanned<Scan, along>(from));
  return result;
}
/// The sums, or products, of the elements before each one, or from it to the last: a new tensor.
/// Example: `starts = hd::cumsum(lengths, hd::axis<0>, {.exclusive = true});`
template <Expression X, int A>
auto cumsum(X&& x, axis_t<A>, const scan_options& options) {
  return scanned_by<scan_sum, A>(std::forward<X>(x), options);
}
template <Expression X, int A>
auto cumprod(X&& x, axis_t<A>, const scan_options& options) {
  return scanned_by<scan_product, A>(std::forward<X>(x), options);
}

/// log(exp(x).cumsum) along an axis without overflow; of floating types.
template <Expression X, int A>
auto logcumsumexp(X&& x, axis_t<A>) {
  static_assert(kind_of<value_type_of_t<X>> == kind::floating, "logcumsumexp takes floating types");
  return scanned<scan_logsumexp, A>(std::forward<X>(x));
}

/// A position where an element is the extreme so far, 0 elsewhere.
struct extreme_position {
  static constexpr const char* name = "cummax";
  template <class... T>
  struct signature {
    using result = std::int64_t;
    using argument = void;
  };
  template <class T>
  HEDDLE_HOST_DEVICE std::int64_t operator()(T x, T extreme, std::int64_t position) const {
    return x == extreme || x != x ? position : 0;
  }
};
template <int Sign, int A, class X>
auto scanned_extremes(X&& x) {
  const auto whole = eval(std::forward<X>(x));
  using Whole = std::remove_cvref_t<decltype(whole)>;
  constexpr int along = normalized_axis<A, Whole::rank>();
  auto values = eval(scanned<scan_extreme<Sign>, along>(whole));
  Shape<Whole::rank> line = shape_of_ones<Whole::rank>();
  line[along] = whole.shape()[along];
  const auto position = arange<std::int64_t>(line[along], whole.device()).reshape(line);
  auto places = eval(scanned<scan_extreme<1>, along>(
      map_formula(extreme_position{}, as_formula(whole), as_formula(values), as_formula(position))));
  return std::pair<decltype(values), decltype(places)>{std::move(values), std::move(places)};
}
/// The greatest element so far along an axis, and its place as int64, the last of equals; from a NaN on NaN.
/// Example: `auto [peaks, at] = hd::cummax(x, hd::axis<0>);`
template <Expression X, int A>
auto cummax(X&& x, axis_t<A>) {
  return scanned_extremes<1, A>(std::forward<X>(x));
}
/// The least element so far, as cummax.
template <Expression X, int A>
auto cummin(X&& x, axis_t<A>) {
  return scanned_extremes<-1, A>(std::forward<X>(x));
}

/// The gradient of cumsum: dy summed from the end.
template <Expression X, int A>
auto cumsum_grad(X&& dy, axis_t<A>) {
  const auto backwards = flip(std::forward<X>(dy), axis<A>);
  return flip(eval(cumsum(backwards, axis<A>)), axis<A>);
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
