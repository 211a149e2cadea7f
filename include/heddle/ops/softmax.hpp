// softmax and log_softmax along an axis, and their gradients.
#pragma once

#include "heddle/expr/producer.hpp"
#include "heddle/kernels/cpu/row_form.hpp"
#include "heddle/kernels/cpu/softmax.hpp"
#include "heddle/kernels/cpu/softmax_gradient.hpp"
#include "heddle/ops/map.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/row_form.cuh"
#include "heddle/kernels/cuda/softmax.cuh"
#include "heddle/kernels/cuda/softmax_gradient.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

/// softmax of a formula along axis Axis; its logarithm if Log.
template <bool Log, class Operand, int Axis>
class softmax_formula : public producer<softmax_formula<Log, Operand, Axis>> {
 public:
  using value_type = float_result_t<typename Operand::value_type>;
  using device_type = typename Operand::device_type;
  static constexpr int rank = Operand::rank;
  static constexpr producer_work work = producer_work::row_wise;

  explicit softmax_formula(Operand operand) : operand_(std::move(operand)) {}
  Shape<rank> shape() const { return operand_.shape(); }
  device_type device() const { return operand_.device(); }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool = false) const {
    operand_.for_each_tensor(visit, true);
  }

  template <class Bound>
  void run(const Bound& bound) const {
    with_source(operand_, [&](const auto& from) {
      using From = std::remove_cvref_t<decltype(from)>;
      bool inner[static_cast<std::size_t>(rank)] = {};
      inner[Axis] = true;
      const index_t columns = bound.shape[Axis];
      const index_t rows = columns == 0 ? 0 : bound.shape.size() / columns;
      if constexpr (runs_here<device_type>() && std::is_same_v<device_type, Cpu>) {
        on_cpu::softmax<Log>(on_cpu::source<From>(from, inner).values(),
                             on_cpu::sink<Bound>(bound, -1, Axis).template values<compute_type<value_type>>(), rows,
                             columns);
      } else {
#if HEDDLE_CUDA_COMPILER
        on_cuda::softmax<Log>(on_cuda::row_source<From>(from, inner), on_cuda::row_sink<Bound>(bound, inner), rows,
                              columns, on_cuda::current_context(device().index, Log ? "log_softmax" : "softmax"));
#endif
      }
    });
  }

 private:
  Operand operand_;
};

template <bool Log, int A, class X>
auto softmax_along(X&& x) {
  using Node = formula_of_t<X&&>;
  using T = float_result_t<typename Node::value_type>;
  if constexpr (std::is_same_v<T, typename Node::value_type>) {
    return softmax_formula<Log, Node, normalized_axis<A, Node::rank>()>(as_formula(std::forward<X>(x)));
  } else {
    auto floating = map_formula(conversion<T>{}, as_formula(std::forward<X>(x)));
    return softmax_formula<Log, decltype(floating), normalized_axis<A, Node::rank>()>(std::move(floating));
  }
}

/// exp(x - max) / sum(exp(x - max)) along an axis: positive, summing to 1, never overflowing. Integers give float. A
/// row of -inf alone, or one with a NaN, gives NaN. Maps below and above ride in the same kernel. Example: `p =
/// hd::softmax(scores / scale + mask, hd::axis<-1>);`
template <Expression X, int A>
auto softmax(X&& x, axis_t<A>) {
  return softmax_along<false, A>(std::forward<X>(x));
}
/// x - max - log(sum(exp(x - max))) along an axis. Example: `hd::log_softmax(logits, hd::axis<1>)`.
template <Expression X, int A>
auto log_softmax(X&& x, axis_t<A>) {
  return softmax_along<true, A>(std::forward<X>(x));
}

/// The gradient with respect to softmax's operand (log_softmax's if Log), of the result and its gradient.
template <bool Log, class Gradient, class Result, int Axis>
class softmax_gradient_formula : public producer<softmax_gradient_formula<Log, Gradient, Result, Axis>> {
 public:
  using value_type = typename Result::value_type;
  using device_type = typename Result::device_type;
  static constexpr int rank = Result::rank;
  static constexpr producer_work work = producer_work::row_wise;
  static_assert(Gradient::rank == rank, "dy has the shape of y");

  softmax_gradient_formula(Gradient gradient, Result result)
      : gradient_(std::move(gradient)), result_(std::move(result)) {
    require_same_device(gradient_.device(), result_.device());
    if (!(gradient_.shape() == result_.shape()))
      throw ShapeError(Message{} << (Log ? "log_softmax_grad" : "softmax_grad") << ": a gradient of shape "
                                 << gradient_.shape() << " for a result of shape " << result_.shape());
  }
  Shape<rank> shape() const { return result_.shape(); }
  device_type device() const { return result_.device(); }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool = false) const {
    gradient_.for_each_tensor(visit, true);
    result_.for_each_tensor(visit, true);
  }

  template <class Bound>
  void run(const Bound& bound) const {
    with_source(gradient_, [&](const auto& dy) {
      with_source(result_, [&](const auto& y) {
        using Dy = std::remove_cvref_t<decltype(dy)>;
        using Y = std::remove_cvref_t<decltype(y)>;
        bool inner[static_cast<std::size_t>(rank)] = {};
        inner[Axis] = true;
        const index_t columns = bound.shape[Axis];
        const index_t rows = columns == 0 ? 0 : bound.shape.size() / columns;
        if constexpr (runs_here<device_type>() && std::is_same_v<device_type, Cpu>) {
          on_cpu::softmax_gradient<Log>(
              on_cpu::source<Dy>(dy, inner).values(), on_cpu::source<Y>(y, inner).values(),
              on_cpu::row_sink<Bound>(bound, inner).template values<compute_type<value_type>>(), rows, columns);
        } else {
#if HEDDLE_CUDA_COMPILER
          on_cuda::softmax_gradient<Log>(
              on_cuda::row_source<Dy>(dy, inner), on_cuda::row_source<Y>(y, inner),
              on_cuda::row_sink<Bound>(bound, inner), rows, columns,
              on_cuda::current_context(device().index, Log ? "log_softmax_grad" : "softmax_grad"));
#endif
        }
      });
    });
  }

 private:
  Gradient gradient_;
  Result result_;
};

template <bool Log, int A, class G, class Y>
auto softmax_gradient_along(G&& dy, Y&& y) {
  using Result = formula_of_t<Y&&>;
  using T = typename Result::value_type;
  static_assert(kind_of<T> == kind::floating, "the result of a softmax is floating");
  if constexpr (std::is_same_v<compute_type<value_type_of_t<G>>, compute_type<T>>) {
    using Gradient = formula_of_t<G&&>;
    return softmax_gradient_formula<Log, Gradient, Result, normalized_axis<A, Result::rank>()>(
        as_formula(std::forward<G>(dy)), as_formula(std::forward<Y>(y)));
  } else {
    auto gradient = map_formula(conversion<compute_type<T>>{}, as_formula(std::forward<G>(dy)));
    return softmax_gradient_formula<Log, decltype(gradient), Result, normalized_axis<A, Result::rank>()>(
        std::move(gradient), as_formula(std::forward<Y>(y)));
  }
}

/// The gradient of softmax(x, axis) with respect to x, from its result y and the result's gradient dy:
/// y * (dy - sum(dy * y)). One kernel that reads each once. Throws ShapeError where the shapes differ. Example: `dx =
/// hd::softmax_grad(dy, y, hd::axis<-1>);`
template <Expression G, Expression Y, int A>
auto softmax_grad(G&& dy, Y&& y, axis_t<A>) {
  return softmax_gradient_along<false, A>(std::forward<G>(dy), std::forward<Y>(y));
}
/// The gradient of log_softmax(x, axis) with respect to x, from its result y and the result's gradient dy:
/// dy - exp(y) * sum(dy).
template <Expression G, Expression Y, int A>
auto log_softmax_grad(G&& dy, Y&& y, axis_t<A>) {
  return softmax_gradient_along<true, A>(std::forward<G>(dy), std::forward<Y>(y));
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
