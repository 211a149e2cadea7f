// Handlers of reductions, made from lambdas f(x, axes…) that pass the axes on.
#pragma once

#include <utility>

#include "conformance/axes.hpp"
#include "conformance/dispatch.hpp"

namespace conformance {

/// The axes of a merged shape that are reduced: every second one.
template <int Rank, bool StartsReduced>
constexpr auto alternate_axes() {
  constexpr int first = StartsReduced ? 0 : 1;
  return []<int... I>(std::integer_sequence<int, I...>) { return hd::axes<(first + 2 * I)...>; }
  (Below<(Rank - first + 1) / 2>{});
}

/// f over a plan's axes, for merged ranks up to 4; the whole of a tensor of rank 1 without naming axes. The result has
/// the operand's element type, where Heddle sums integers in int64.
template <class T, class Device, class F>
Outputs reduce(const Call& call, const Array& array, const ReductionPlan& plan, Device device, F f) {
  const auto done = [&](auto&& formula) -> Outputs {
    if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(formula)>::value_type, T>)
      return {reshaped(result(std::move(formula)), plan.merged_result, plan.shape)};
    else
      return {reshaped(result(hd::cast<T>(std::move(formula))), plan.merged_result, plan.shape)};
  };
  if (array.rank() == 0) return done(f(tensor<T, 0>(call, array, device)));
  if (!plan.reduces) {
    const Extents flat{array.size()};
    return {reshaped(result(tensor<T, 1>(call, array, flat, device)), flat, plan.shape)};
  }
  const int rank = static_cast<int>(plan.merged.size());
  if (plan.starts_reduced)
    return with_int(Ints<1, 2, 3, 4>{}, rank, [&](auto r) -> Outputs {
      const auto x = tensor<T, decltype(r)::value>(call, array, plan.merged, device);
      if constexpr (decltype(r)::value == 1)
        return done(f(x));
      else
        return done(f(x, alternate_axes<decltype(r)::value, true>()));
    });
  return with_int(Ints<2, 3, 4>{}, rank, [&](auto r) -> Outputs {
    const auto x = tensor<T, decltype(r)::value>(call, array, plan.merged, device);
    return done(f(x, alternate_axes<decltype(r)::value, false>()));
  });
}

template <class F, class TypeList>
struct Reduction {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const ReductionPlan plan = plan_reduction(array.shape, reduced_axes(call), call.integer("keepdims", 1) != 0);
    return with_type(TypeList{}, array.type,
                     [&](auto type) { return reduce<type_of<decltype(type)>>(call, array, plan, device, F{}); });
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
