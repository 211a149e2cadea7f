// Equal Greater GreaterOrEqual Less LessOrEqual; ne
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/compare.hpp"

namespace conformance {

void add_comparison(Registry& registry) {
  serve(registry, {"Equal", "eq"},
        binary<Types<float, double, I16, I32, I64, U16, U64>, Types<double>>(
            [](const auto& a, const auto& b) { return a == b; }));
  serve(registry, "ne", binary<Reals, Types<double>>([](const auto& a, const auto& b) { return a != b; }));
  serve(registry, {"Greater", "gt"},
        binary<Types<float, I8, U8, U32>, Types<double>>([](const auto& a, const auto& b) { return a > b; }));
  serve(registry, {"GreaterOrEqual", "ge"},
        binary<Types<float, double, I8, I64, U8, U32, bool>, Types<>, Types<I64>>(
            [](const auto& a, const auto& b) { return a >= b; }));
  serve(registry, {"Less", "lt"},
        binary<Types<float, double, I16, I64, U16, U64>, Types<double>>(
            [](const auto& a, const auto& b) { return a < b; }));
  serve(registry, {"LessOrEqual", "le"},
        binary<Types<float, I8, U8, U32, bool>, Types<>, Types<I64>>(
            [](const auto& a, const auto& b) { return a <= b; }));
}

}  // namespace conformance
