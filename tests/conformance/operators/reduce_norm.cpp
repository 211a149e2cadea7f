// ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceSumSquare
#include "conformance/operators/families.hpp"
#include "conformance/operators/reduction.hpp"

namespace conformance {

void add_reduce_norm(Registry& registry) {
  serve(registry, "ReduceL1", reduction<Reals>([](const auto& x, auto... axes) { return hd::norm(x, 1, axes...); }));
  serve(registry, "ReduceL2", reduction<Reals>([](const auto& x, auto... axes) { return hd::norm(x, axes...); }));
  serve(registry, "ReduceSumSquare",
        reduction<Reals>([](const auto& x, auto... axes) { return hd::sum(hd::square(x), axes...); }));
  serve(registry, "ReduceLogSum",
        reduction<Reals>([](const auto& x, auto... axes) { return hd::log(hd::sum(x, axes...)); }));
  serve(registry, "ReduceLogSumExp",
        reduction<Reals>([](const auto& x, auto... axes) { return hd::logsumexp(x, axes...); }));
}

}  // namespace conformance
