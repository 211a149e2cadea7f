// ReduceSum ReduceMean ReduceProd GlobalAveragePool; any all count_nonzero
#include "conformance/operators/families.hpp"
#include "conformance/operators/reduction.hpp"
#include "heddle/ops/reduce.hpp"

namespace conformance {

void add_reduce_sum(Registry& registry) {
  serve(registry, {"ReduceSum", "sum"},
        reduction_of_ranks<4, Types<float, double, I32>>(
            [](const auto& x, auto... axes) { return hd::sum(x, axes...); }));
  serve(registry, {"ReduceProd", "prod"},
        reduction<Types<float, I64, bool>>([](const auto& x, auto... axes) { return hd::prod(x, axes...); }));
  const auto mean = [](const auto& x, auto... axes) { return hd::mean(x, axes...); };
  serve(registry, {"ReduceMean", "mean"}, reduction<Reals>(mean));
  serve(registry, "GlobalAveragePool", spatial_reduction(mean));
  serve(registry, "any",
        reduction<Types<float, I32, U8, bool>>([](const auto& x, auto... axes) { return hd::any(x, axes...); }));
  serve(registry, "all",
        reduction<Types<float, double, bool>>([](const auto& x, auto... axes) { return hd::all(x, axes...); }));
  serve(registry, "count_nonzero",
        reduction<Reals>([](const auto& x, auto... axes) { return hd::count_nonzero(x, axes...); }));
}

}  // namespace conformance
