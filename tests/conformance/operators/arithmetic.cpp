// Add Sub Mul Div
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"

namespace conformance {

void add_arithmetic(Registry& registry) {
  // Addition stands for all that broadcasts: floats keep their own ranks.
  serve(registry, "Add", binary_of_ranks<float, 3>([](const auto& a, const auto& b) { return a + b; }));
  serve(registry, "Sub", binary([](const auto& a, const auto& b) { return a - b; }));
  serve(registry, "Mul", binary([](const auto& a, const auto& b) { return a * b; }));
  serve(registry, "Div", binary([](const auto& a, const auto& b) { return a / b; }));
}

}  // namespace conformance
