// Exponentials, logarithms, error functions
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/math.hpp"

namespace conformance {

void add_exponential(Registry& registry) {
  serve(registry, {"Exp", "exp"},
        unary<Types<float, double, I64, bool>, broadcast_rank>([](const auto& x) { return hd::exp(x); }));
  serve(registry, "exp2", unary<Types<float, double, I64, U8>>([](const auto& x) { return hd::exp2(x); }));
  serve(registry, "expm1", unary([](const auto& x) { return hd::expm1(x); }));
  serve(registry, {"Log", "log"}, unary<Types<float, double, I64, bool>>([](const auto& x) { return hd::log(x); }));
  serve(registry, "log2", unary<Types<float, I64, bool>>([](const auto& x) { return hd::log2(x); }));
  serve(registry, "log10", unary([](const auto& x) { return hd::log10(x); }));
  serve(registry, "log1p", unary<Types<float, double, U8>>([](const auto& x) { return hd::log1p(x); }));
  serve(registry, {"Erf", "erf"}, unary<Types<float, double, I64>>([](const auto& x) { return hd::erf(x); }));
  serve(registry, "erfc", unary<Types<float, double, bool>>([](const auto& x) { return hd::erfc(x); }));
  serve(registry, "lgamma", unary<Types<float, double, I64, U8>>([](const auto& x) { return hd::lgamma(x); }));
}

}  // namespace conformance
