// Trigonometric and hyperbolic functions; atan2 hypot
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/math.hpp"

namespace conformance {

void add_trigonometry(Registry& registry) {
  using All = Types<float, double, I64, U8>;
  serve(registry, {"Sin", "sin"}, unary<All>([](const auto& x) { return hd::sin(x); }));
  serve(registry, {"Cos", "cos"}, unary<All>([](const auto& x) { return hd::cos(x); }));
  serve(registry, {"Tan", "tan"}, unary<All>([](const auto& x) { return hd::tan(x); }));
  serve(registry, {"Asin", "asin"}, unary<Types<float, double, I64>>([](const auto& x) { return hd::asin(x); }));
  serve(registry, {"Acos", "acos"}, unary<Types<float, double, U8, bool>>([](const auto& x) { return hd::acos(x); }));
  serve(registry, {"Atan", "atan"},
        unary<Types<float, double, I64, U8, bool>>([](const auto& x) { return hd::atan(x); }));
  serve(registry, {"Sinh", "sinh"}, unary<Types<float, U8, bool>>([](const auto& x) { return hd::sinh(x); }));
  serve(registry, {"Cosh", "cosh"}, unary<Types<float, double, bool>>([](const auto& x) { return hd::cosh(x); }));
  serve(registry, {"Tanh", "tanh"}, unary<Types<float, double, U8, bool>>([](const auto& x) { return hd::tanh(x); }));
  serve(registry, {"Asinh", "asinh"}, unary<Types<float, double, bool>>([](const auto& x) { return hd::asinh(x); }));
  serve(registry, {"Acosh", "acosh"}, unary([](const auto& x) { return hd::acosh(x); }));
  serve(registry, {"Atanh", "atanh"},
        unary<Types<float, double, I64, U8, bool>>([](const auto& x) { return hd::atanh(x); }));
  serve(registry, "atan2",
        binary<Types<float, double, I64>, Types<I64>>([](const auto& y, const auto& x) { return hd::atan2(y, x); }));
  serve(registry, "hypot", binary<Reals, Types<I64>>([](const auto& x, const auto& y) { return hd::hypot(x, y); }));
}

}  // namespace conformance
