// ReduceMax ReduceMin
#include "conformance/operators/families.hpp"
#include "conformance/operators/reduction.hpp"

namespace conformance {

void add_reduce_extremes(Registry& registry) {
  serve(registry, "ReduceMax",
        reduction<NumbersAndBool>([](const auto& x, auto... axes) { return hd::max(x, axes...); }));
  serve(registry, "ReduceMin",
        reduction<NumbersAndBool>([](const auto& x, auto... axes) { return hd::min(x, axes...); }));
}

}  // namespace conformance
