// ArgMax ArgMin Hardmax
#include "conformance/axes.hpp"
#include "conformance/dispatch.hpp"
#include "conformance/operators/families.hpp"

namespace conformance {
namespace {

using Ordered = Types<float, double, hd::half, std::int32_t, std::int64_t, std::uint8_t>;

/// f(x, axis) under the plan's shape.
template <class T, class Device, class F>
Outputs along_axis(const Call& call, const Array& array, const AxisPlan& plan, Device device, F f) {
  return with_int(Ints<1, 2, 3>{}, static_cast<int>(plan.merged.size()), [&](auto rank) -> Outputs {
    constexpr int r = decltype(rank)::value;
    const auto x = tensor<T, r>(call, array, plan.merged, device);
    if constexpr (r == 1) return f(x, hd::axis<0>);
    if constexpr (r == 3) return f(x, hd::axis<1>);
    if constexpr (r == 2) return plan.axis == 0 ? f(x, hd::axis<0>) : f(x, hd::axis<-1>);
  });
}

template <class F>
struct ArgReduce {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const int axis = front_axis(call.integer("axis", 0), array.rank());
    const AxisPlan plan = plan_axis(array.shape, axis);
    const bool last = call.integer("select_last_index", 0) != 0;
    Extents shape = array.shape;
    const auto place = shape.begin() + axis;
    if (call.integer("keepdims", 1) != 0)
      *place = 1;
    else
      shape.erase(place);
    Extents merged = plan.merged;
    merged.erase(merged.begin() + plan.axis);
    return with_type(Ordered{}, array.type, [&](auto type) -> Outputs {
      return along_axis<type_of<decltype(type)>>(call, array, plan, device, [&](const auto& x, auto along) -> Outputs {
        const std::int64_t end = x.extent(decltype(along)::value) - 1;
        // The last of equal ones is the first from the other side.
        if (last) {
          const auto reversed = x.slice(along, hd::range(hd::_, hd::_, -1));
          return {reshaped(result(end - F{}(reversed, along)), merged, shape)};
        }
        return {reshaped(result(F{}(x, along)), merged, shape)};
      });
    });
  }
};
template <class F>
ArgReduce<F> arg_reduce(F) {
  return {};
}

/// 1 at the first of the greatest elements, else 0.
struct Hardmax {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const int rank = array.rank();
    const int axis = front_axis(call.integer("axis", call.opset() < 13 ? 1 : -1), rank);
    if (call.opset() < 13 && axis != rank - 1) throw NotServed{"not for several axes at once"};
    const AxisPlan plan = plan_axis(array.shape, axis);
    return with_type(Types<float, double>{}, array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      return along_axis<T>(call, array, plan, device, [&](const auto& x, auto along) -> Outputs {
        constexpr int r = std::remove_cvref_t<decltype(x)>::rank;
        constexpr int a = decltype(along)::value < 0 ? decltype(along)::value + r : decltype(along)::value;
        Extents along_only(r, 1);
        along_only[a] = x.extent(a);
        const auto index = hd::arange<std::int64_t>(x.extent(a), device).reshape(static_shape<r>(along_only));
        return {reshaped(result(hd::cast<T>(index == hd::argmax(x, along, hd::keep_dims))), plan.merged, array.shape)};
      });
    });
  }
};

}  // namespace

void add_argreduce(Registry& registry) {
  serve(registry, "ArgMax", arg_reduce([](const auto& x, auto axis) { return hd::argmax(x, axis); }));
  serve(registry, "ArgMin", arg_reduce([](const auto& x, auto axis) { return hd::argmin(x, axis); }));
  serve(registry, "Hardmax", Hardmax{});
}

}  // namespace conformance
