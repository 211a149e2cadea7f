// Trigonometric and hyperbolic functions
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"

namespace conformance {

void add_trigonometry(Registry& registry) {
  serve(registry, "Sin", unary([](const auto& x) { return hd::sin(x); }));
  serve(registry, "Cos", unary([](const auto& x) { return hd::cos(x); }));
  serve(registry, "Tan", unary([](const auto& x) { return hd::tan(x); }));
  serve(registry, "Asin", unary([](const auto& x) { return hd::asin(x); }));
  serve(registry, "Acos", unary([](const auto& x) { return hd::acos(x); }));
  serve(registry, "Atan", unary([](const auto& x) { return hd::atan(x); }));
  serve(registry, "Sinh", unary([](const auto& x) { return hd::sinh(x); }));
  serve(registry, "Cosh", unary([](const auto& x) { return hd::cosh(x); }));
  serve(registry, "Tanh", unary([](const auto& x) { return hd::tanh(x); }));
  serve(registry, "Asinh", unary([](const auto& x) { return hd::asinh(x); }));
  serve(registry, "Acosh", unary([](const auto& x) { return hd::acosh(x); }));
  serve(registry, "Atanh", unary([](const auto& x) { return hd::atanh(x); }));
}

}  // namespace conformance
