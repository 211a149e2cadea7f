// Softmax LogSoftmax
#include "conformance/axes.hpp"
#include "conformance/broadcast.hpp"
#include "conformance/dispatch.hpp"
#include "conformance/operators/families.hpp"

namespace conformance {
namespace {

/// Before opset 13 all axes from `axis` on counted as one.
AxisPlan plan_rows(const Call& call) {
  const Extents& shape = call.input(0).shape;
  const bool flattens = call.opset() < 13;
  const int axis = front_axis(call.integer("axis", flattens ? 1 : -1), static_cast<int>(shape.size()));
  if (!flattens) return plan_axis(shape, axis);
  Extents rows(shape.begin(), shape.begin() + axis);
  rows.push_back(size_of(Extents(shape.begin() + axis, shape.end())));
  return plan_axis(rows, axis);
}

template <class F>
struct RowWise {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const AxisPlan plan = plan_rows(call);
    return with_type(Floats{}, array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      return with_int(Ints<1, 2, 3>{}, static_cast<int>(plan.merged.size()), [&](auto rank) -> Outputs {
        constexpr int r = decltype(rank)::value;
        const auto x = tensor<T, r>(call, array, plan.merged, device);
        const auto done = [&](auto axis) -> Outputs {
          return {reshaped(result(F{}(x, axis)), plan.merged, array.shape)};
        };
        if constexpr (r == 1) return done(hd::axis<0>);
        if constexpr (r == 3) return done(hd::axis<1>);
        if constexpr (r == 2) return plan.axis == 0 ? done(hd::axis<0>) : done(hd::axis<-1>);
      });
    });
  }
};
template <class F>
RowWise<F> row_wise(F) {
  return {};
}

}  // namespace

void add_softmax(Registry& registry) {
  serve(registry, "Softmax", row_wise([](const auto& x, auto axis) { return hd::softmax(x, axis); }));
  serve(registry, "LogSoftmax", row_wise([](const auto& x, auto axis) { return hd::log_softmax(x, axis); }));
}

}  // namespace conformance
