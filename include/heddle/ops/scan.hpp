// Running sums and products along an axis. Maps below are computed on the way in, maps above on the way out.
#pragma once

#include "heddle/kernels/cpu/scan.hpp"
#include "heddle/ops/join.hpp"
#include "heddle/ops/map.hpp"
#include "heddle/ops/rearrange.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/scan.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

/// What a scan keeps: half and bfloat16 in float, integers and bool in int64.
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

/// Each element combined with all before it along an axis.
template <class Scan, class Operand, int Axis>
class scan_formula : public producer<scan_formula<Scan, Operand, Axis>> {
 public:
  using value_type = sum_result_t<typename Operand::value_type>;
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
/// float. The same bits every time. Example: `hd::cumsum(x, hd::axis<-1>)`.
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

/// The gradient of cumsum: dy summed from the end.
template <Expression X, int A>
auto cumsum_grad(X&& dy, axis_t<A>) {
  const auto backwards = flip(std::forward<X>(dy), axis<A>);
  return flip(eval(cumsum(backwards, axis<A>)), axis<A>);
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
