// ReduceMax ReduceMin GlobalMaxPool
#include "conformance/operators/families.hpp"
#include "conformance/operators/reduction.hpp"

namespace conformance {
namespace {

using Ordered = Types<float, double, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint64_t, bool>;

}  // namespace

void add_reduce_extremes(Registry& registry) {
  const auto max = [](const auto& x, auto... axes) { return hd::max(x, axes...); };
  serve(registry, "ReduceMax", reduction<Ordered>(max));
  serve(registry, "GlobalMaxPool", spatial_reduction(max));
  serve(registry, "ReduceMin", reduction<Ordered>([](const auto& x, auto... axes) { return hd::min(x, axes...); }));
}

}  // namespace conformance
