// ReduceSum ReduceMean ReduceProd GlobalAveragePool
#include "conformance/operators/families.hpp"
#include "conformance/operators/reduction.hpp"

namespace conformance {
namespace {

using Summed = Types<float, double, hd::half, std::int32_t, std::int64_t, std::uint16_t, std::uint32_t, std::uint64_t>;

}  // namespace

void add_reduce_sum(Registry& registry) {
  serve(registry, "ReduceSum",
        reduction_of_ranks<4, Summed>([](const auto& x, auto... axes) { return hd::sum(x, axes...); }));
  serve(registry, "ReduceProd",
        reduction<Types<float, double, std::int32_t, std::int64_t>>(
            [](const auto& x, auto... axes) { return hd::prod(x, axes...); }));
  const auto mean = [](const auto& x, auto... axes) { return hd::mean(x, axes...); };
  serve(registry, "ReduceMean", reduction<Floats>(mean));
  serve(registry, "GlobalAveragePool", spatial_reduction(mean));
}

}  // namespace conformance
