// Handlers of reductions, made from lambdas f(x, axes…), or f(x, call, axes…), that pass the axes on.
#pragma once

#include <utility>
#include <vector>

#include "conformance/axes.hpp"
#include "conformance/broadcast.hpp"
#include "conformance/dispatch.hpp"

namespace conformance {

template <class F, class X, class... Axes>
auto reduced(F f, const Call& call, const X& x, Axes... axes) {
  if constexpr (requires { f(x, axes...); })
    return f(x, axes...);
  else
    return f(x, call, axes...);
}

/// f over the axes of a call. ONNX's result has the operand's element type, where Heddle sums integers in int64.
/// Operands are seen as (before, reduced, after), for which one instantiation is enough; where the reduced axes aren't
/// neighbours, they are brought to the end before. Float operands that are reduced altogether name no axis.
template <class T, class Device, class F>
Array reduce(const Call& call, const Array& array, const std::vector<int>& axes, Device device, F f) {
  const ReductionPlan plan = plan_reduction(array.shape, axes, keeps_axes(call));
  const auto done = [&](const Extents& expected, auto&& formula) {
    using E = std::remove_cvref_t<decltype(formula)>;
    if constexpr (!std::is_same_v<typename E::value_type, T> && !std::is_same_v<typename E::value_type, bool>) {
      if (!call.is_pytorch()) return reshaped(result(hd::cast<T>(std::move(formula))), expected, plan.shape);
    }
    return reshaped(result(std::move(formula)), expected, plan.shape);
  };
  const Extents flat{array.size()};
  if (!plan.reduces && array.rank() > 0)
    return reshaped(result(tensor<T, 1>(call, array, flat, device)), flat, plan.shape);
  if constexpr (std::is_same_v<T, float>)
    if (plan.merged_result.empty()) return done({}, reduced(f, call, tensor<T, 1>(call, array, flat, device)));
  if (const Extents three = plan.all_three(); !three.empty())
    return done({three[0], three[2]}, reduced(f, call, tensor<T, 3>(call, array, three, device), hd::axis<1>));
  Array moved = reduced_last(array, axes);
  moved.shape.push_back(1);
  return done({moved.shape[0], 1}, reduced(f, call, tensor<T, 3>(call, moved, device), hd::axis<1>));
}

template <class TypeList, class... F>
struct Reduction {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    if (call.has("dtype")) throw NotServed{"no such parameter"};
    const Array& array = call.input(0);
    const std::vector<int> axes = reduced_axes(call);
    return with_type(TypeList{}, array.type, [&](auto type) -> Outputs {
      return {reduce<type_of<decltype(type)>>(call, array, axes, device, F{})...};
    });
  }
};

/// An output for each lambda.
template <class TypeList, class... F>
Reduction<TypeList, F...> reduction(F...) {
  return {};
}

/// The same over all axes from the third on, as the global pools ask.
template <class F>
struct SpatialReduction {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    std::vector<int> axes;
    for (int axis = 2; axis < array.rank(); ++axis) axes.push_back(axis);
    return with_type(Types<float>{}, array.type, [&](auto type) -> Outputs {
      return {reduce<type_of<decltype(type)>>(call, array, axes, device, F{})};
    });
  }
};
template <class F>
SpatialReduction<F> spatial_reduction(F) {
  return {};
}

/// Under the operand's own rank and with keep_dims, for float tensors of ranks below RankCount that are reduced along
/// one axis or two that aren't neighbours; else as the other handler. For an operator that stands for its kind.
template <class F, int RankCount, class Otherwise>
struct ReductionOfRanks {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const std::vector<int> axes = reduced_axes(call);
    const bool keep = keeps_axes(call);
    if (array.type != ElementType::float32 || array.rank() >= RankCount) return Otherwise{}(call, device);
    if (array.rank() == 3 && axes == std::vector<int>{0, 2}) {
      const auto x = tensor<float, 3>(call, array, device);
      return {keep ? result(F{}(x, hd::axes<0, 2>, hd::keep_dims)) : result(F{}(x, hd::axes<0, 2>))};
    }
    if (axes.size() != 1) return Otherwise{}(call, device);
    return with_int(Below<RankCount>{}, array.rank(), [&](auto rank) -> Outputs {
      constexpr int r = decltype(rank)::value;
      return with_int(Below<r>{}, axes[0], [&](auto axis) -> Outputs {
        const auto x = tensor<float, r>(call, array, device);
        constexpr auto over = hd::axis<decltype(axis)::value>;
        return {keep ? result(F{}(x, over, hd::keep_dims)) : result(F{}(x, over))};
      });
    });
  }
};

template <int RankCount, class TypeList, class F>
ReductionOfRanks<F, RankCount, Reduction<TypeList, F>> reduction_of_ranks(F) {
  return {};
}

}  // namespace conformance
