// ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare LpNormalization
#include "conformance/operators/along_axis.hpp"
#include "conformance/operators/families.hpp"
#include "conformance/operators/reduction.hpp"

namespace conformance {
namespace {

/// x over its norm; a vector of zeros stays.
struct LpNormalization {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const AxisPlan plan = plan_axis(array.shape, front_axis(call.integer("axis", -1), array.rank()));
    const auto scaled = [&](const auto& x, auto axis) -> Outputs {
      const hd::Tensor length = hd::norm(x, call.integer("p", 2), axis, hd::keep_dims);
      return {reshaped(result(x / hd::where(length > 0, length, 1)), extents_of(x), array.shape)};
    };
    return with_type(Types<float>{}, array.type,
                     [&](auto type) { return along_axis<type_of<decltype(type)>>(call, array, plan, device, scaled); });
  }
};

}  // namespace

void add_reduce_norm(Registry& registry) {
  serve(registry, "ReduceL1", reduction<Reals>([](const auto& x, auto... axes) { return hd::norm(x, 1, axes...); }));
  serve(registry, "ReduceL2", reduction<Reals>([](const auto& x, auto... axes) { return hd::norm(x, axes...); }));
  serve(registry, "ReduceSumSquare",
        reduction<Reals>([](const auto& x, auto... axes) { return hd::sum(hd::square(x), axes...); }));
  serve(registry, "ReduceLogSum",
        reduction<Reals>([](const auto& x, auto... axes) { return hd::log(hd::sum(x, axes...)); }));
  serve(registry, "ReduceLogSumExp",
        reduction<Reals>([](const auto& x, auto... axes) { return hd::logsumexp(x, axes...); }));
  serve(registry, "LpNormalization", LpNormalization{});
}

}  // namespace conformance
