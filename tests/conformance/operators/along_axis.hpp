// One axis of an operand that is brought to few ranks.
#pragma once

#include "conformance/axes.hpp"
#include "conformance/broadcast.hpp"
#include "conformance/dispatch.hpp"

namespace conformance {

/// f(x, axis) with the operand seen as (before, axis, after); of float operands without the parts of extent 1 where the
/// axis is the last one.
template <class T, class Device, class F>
Outputs along_axis(const Call& call, const Array& array, const AxisPlan& plan, Device device, F f) {
  if constexpr (std::is_same_v<T, float>)
    if (plan.axis == 1 && plan.merged.size() == 2)
      return f(tensor<T, 2>(call, array, plan.merged, device), hd::axis<-1>);
  return f(tensor<T, 3>(call, array, plan.all_three(), device), hd::axis<1>);
}

/// The axis that `hd::axis<A>` means for an operand.
template <class X, int A>
constexpr int front_axis_of(hd::axis_t<A>) {
  return A < 0 ? A + X::rank : A;
}

template <class X>
Extents extents_of(const X& x) {
  return Extents(x.shape().begin(), x.shape().end());
}

}  // namespace conformance
