// Equal Greater GreaterOrEqual Less LessOrEqual
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"

namespace conformance {

void add_comparison(Registry& registry) {
  serve(registry, "Equal", binary<NumbersAndBool>([](const auto& a, const auto& b) { return a == b; }));
  serve(registry, "Greater", binary([](const auto& a, const auto& b) { return a > b; }));
  serve(registry, "GreaterOrEqual", binary([](const auto& a, const auto& b) { return a >= b; }));
  serve(registry, "Less", binary([](const auto& a, const auto& b) { return a < b; }));
  serve(registry, "LessOrEqual", binary([](const auto& a, const auto& b) { return a <= b; }));
}

}  // namespace conformance
