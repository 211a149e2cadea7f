// ReduceMax ReduceMin GlobalMaxPool; amax amin aminmax max min
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"
#include "conformance/operators/reduction.hpp"
#include "heddle/ops/math.hpp"
#include "heddle/ops/reduce.hpp"

namespace conformance {

void add_reduce_extremes(Registry& registry) {
  const auto max = [](const auto& x, auto... axes) { return hd::max(x, axes...); };
  const auto min = [](const auto& x, auto... axes) { return hd::min(x, axes...); };
  serve(registry, "ReduceMax", reduction<Types<float, bool>>(max));
  serve(registry, "ReduceMin", reduction<Types<float, bool>>(min));
  serve(registry, "GlobalMaxPool", spatial_reduction(max));
  serve(registry, "amax", reduction<Types<float, U8>>(max));
  serve(registry, "amin", reduction<Types<float, double, I32>>(min));
  serve(registry, "aminmax", reduction<Types<float, U8>>(min, max));

  // PyTorch's max is one of two operands, that of all elements, or those along an axis with their places.
  const auto of_two = [](const Call& call) { return call.has_input(1); };
  const auto along_one = [](const Call& call) { return call.has("dim"); };
  serve(registry, "max",
        choice(of_two,
               choice(along_one, reduction<Types<double>>(max),
                      reduction<Types<float, double, U8>>(
                          max, [](const auto& x, auto... axes) { return hd::argmax(x, axes...); })),
               binary<Types<double>>([](const auto& a, const auto& b) { return hd::maximum(a, b); })));
  serve(registry, "min",
        choice(of_two,
               choice(along_one, reduction<Types<double>>(min),
                      reduction<Types<float, U8>>(min,
                                                  [](const auto& x, auto... axes) { return hd::argmin(x, axes...); })),
               binary<Reals>([](const auto& a, const auto& b) { return hd::minimum(a, b); })));
}

}  // namespace conformance
