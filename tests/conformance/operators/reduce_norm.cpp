// ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare LpNormalization; norm var std
#include "conformance/operators/along_axis.hpp"
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"
#include "conformance/operators/reduction.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/compare.hpp"
#include "heddle/ops/math.hpp"
#include "heddle/ops/reduce.hpp"
#include "heddle/ops/select.hpp"

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

struct LogSumExpGradient {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const Extents three = plan_reduction(array.shape, reduced_axes(call), false).all_three();
    if (three.empty()) throw NotServed{"not for axes that are not neighbours"};
    return with_type(Reals{}, array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, 3>(call, array, three, device);
      const auto dy = tensor<T, 2>(call, call.cotangent(0), {three[0], three[2]}, device);
      return {reshaped(result(hd::logsumexp_grad(dy, x, hd::axis<1>)), three, array.shape)};
    });
  }
};

/// Bessel's correction, 1 where nothing else is said.
hd::correction correction_of(const Call& call) {
  return {call.number("correction", call.flag("unbiased", true) ? 1 : 0)};
}

}  // namespace

void add_reduce_norm(Registry& registry) {
  using Float = Types<float>;
  serve(registry, "ReduceL1", reduction<Float>([](const auto& x, auto... axes) { return hd::norm(x, 1, axes...); }));
  serve(registry, "ReduceL2", reduction<Float>([](const auto& x, auto... axes) { return hd::norm(x, axes...); }));
  serve(registry, "ReduceSumSquare",
        reduction<Float>([](const auto& x, auto... axes) { return hd::sum(hd::square(x), axes...); }));
  serve(registry, "ReduceLogSum",
        reduction<Float>([](const auto& x, auto... axes) { return hd::log(hd::sum(x, axes...)); }));
  serve(registry, {"ReduceLogSumExp", "logsumexp"},
        reduction<Types<float, double, U8>>([](const auto& x, auto... axes) { return hd::logsumexp(x, axes...); }));
  serve_gradient(registry, "logsumexp", LogSumExpGradient{});
  serve(registry, "LpNormalization", LpNormalization{});

  const auto euclidean = reduction<Reals>([](const auto& x, auto... axes) { return hd::norm(x, axes...); });
  serve(registry, "norm",
        choice([](const Call& call) { return call.has("p") && !call.text_is("p", "fro"); }, euclidean,
               reduction<Reals>([](const auto& x, const Call& call, auto... axes) {
                 return hd::norm(x, call.number("p", 2), axes...);
               })));
  serve(registry, "linalg.vector_norm", reduction<Reals>([](const auto& x, const Call& call, auto... axes) {
          return hd::norm(x, call.number("ord", 2), axes...);
        }));

  const auto var = [](const auto& x, const Call& call, auto... axes) {
    return hd::var(x, axes..., correction_of(call));
  };
  const auto stddev = [](const auto& x, const Call& call, auto... axes) {
    return hd::stddev(x, axes..., correction_of(call));
  };
  const auto mean = [](const auto& x, auto... axes) { return hd::mean(x, axes...); };
  serve(registry, "var", reduction<Reals>(var));
  serve(registry, "std", reduction<Reals>(stddev));
  serve(registry, "var_mean", reduction<Reals>(var, mean));
  serve(registry, "std_mean", reduction<Reals>(stddev, mean));
}

}  // namespace conformance
