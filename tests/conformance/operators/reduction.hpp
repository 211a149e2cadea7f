// Handlers of reductions, made from lambdas f(x, axes…) that pass the axes on.
#pragma once

#include <utility>
#include <vector>

#include "conformance/axes.hpp"
#include "conformance/broadcast.hpp"
#include "conformance/dispatch.hpp"

namespace conformance {

/// f over the axes of a call. The result has the operand's element type, where Heddle sums integers in int64. Float
/// operands are reduced where their axes are, merged to at most three; of other types and stranger patterns the kept
/// axes are brought to the front before, so that two instantiations are enough.
template <class T, class Device, class F>
Outputs reduce(const Call& call, const Array& array, const std::vector<int>& axes, Device device, F f) {
  const ReductionPlan plan = plan_reduction(array.shape, axes, call.integer("keepdims", 1) != 0);
  const auto done = [&](const Extents& expected, auto&& formula) -> Outputs {
    if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(formula)>::value_type, T>)
      return {reshaped(result(std::move(formula)), expected, plan.shape)};
    else
      return {reshaped(result(hd::cast<T>(std::move(formula))), expected, plan.shape)};
  };
  const Extents flat{array.size()};
  if (!plan.reduces && array.rank() > 0)
    return {reshaped(result(tensor<T, 1>(call, array, flat, device)), flat, plan.shape)};
  if (plan.merged_result.empty()) return done({}, f(tensor<T, 1>(call, array, flat, device)));
  if constexpr (std::is_same_v<T, float>) {
    const int rank = static_cast<int>(plan.merged.size());
    if (rank == 2) {
      const auto x = tensor<T, 2>(call, array, plan.merged, device);
      if (plan.starts_reduced) return done(plan.merged_result, f(x, hd::axis<0>));
      return done(plan.merged_result, f(x, hd::axis<-1>));
    }
    if (rank == 3) {
      const auto x = tensor<T, 3>(call, array, plan.merged, device);
      if (plan.starts_reduced) return done(plan.merged_result, f(x, hd::axes<0, 2>));
      return done(plan.merged_result, f(x, hd::axis<1>));
    }
  }
  const Array moved = reduced_last(array, axes);
  return done({moved.shape[0]}, f(tensor<T, 2>(call, moved, device), hd::axis<1>));
}

template <class F, class TypeList>
struct Reduction {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const std::vector<int> axes = reduced_axes(call);
    return with_type(TypeList{}, array.type,
                     [&](auto type) { return reduce<type_of<decltype(type)>>(call, array, axes, device, F{}); });
  }
};

template <class TypeList, class F>
Reduction<F, TypeList> reduction(F) {
  return {};
}

/// One axis with its real rank and keep_dims, for float tensors of ranks below RankCount; else as the other handler.
template <class F, int RankCount, class Otherwise>
struct ReductionOfRanks {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const std::vector<int> axes = reduced_axes(call);
    if (array.type != ElementType::float32 || array.rank() >= RankCount || axes.size() != 1)
      return Otherwise{}(call, device);
    return with_int(Below<RankCount>{}, array.rank(), [&](auto rank) -> Outputs {
      constexpr int r = decltype(rank)::value;
      return with_int(Below<r>{}, axes[0], [&](auto axis) -> Outputs {
        const auto x = tensor<float, r>(call, array, device);
        if (call.integer("keepdims", 1) != 0) return {result(F{}(x, hd::axis<decltype(axis)::value>, hd::keep_dims))};
        return {result(F{}(x, hd::axis<decltype(axis)::value>))};
      });
    });
  }
};

template <int RankCount, class TypeList, class F>
ReductionOfRanks<F, RankCount, Reduction<F, TypeList>> reduction_of_ranks(F) {
  return {};
}

}  // namespace conformance
