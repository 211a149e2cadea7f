// Signs, rounding, roots, exponentials; IsInf IsNaN
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"

namespace conformance {

void add_math(Registry& registry) {
  serve(registry, "Abs", unary<Signed>([](const auto& x) { return hd::abs(x); }));
  serve(registry, "Neg", unary<Signed>([](const auto& x) { return -x; }));
  serve(registry, "Sign", unary<Signed>([](const auto& x) { return hd::sign(x); }));
  serve(registry, "Ceil", unary([](const auto& x) { return hd::ceil(x); }));
  serve(registry, "Floor", unary([](const auto& x) { return hd::floor(x); }));
  serve(registry, "Round", unary([](const auto& x) { return hd::round(x); }));
  serve(registry, "Sqrt", unary<Floats>([](const auto& x) { return hd::sqrt(x); }));
  serve(registry, "Reciprocal", unary([](const auto& x) { return hd::reciprocal(x); }));
  serve(registry, "Exp", unary<Floats>([](const auto& x) { return hd::exp(x); }));
  serve(registry, "Log", unary([](const auto& x) { return hd::log(x); }));
  serve(registry, "Erf", unary([](const auto& x) { return hd::erf(x); }));
  serve(registry, "IsNaN", unary<Floats>([](const auto& x) { return hd::isnan(x); }));
  serve(registry, "IsInf", unary([](const auto& x, const Call& call) {
          return hd::isinf(x) && ((x > 0 && call.integer("detect_positive", 1) != 0) ||
                                  (x < 0 && call.integer("detect_negative", 1) != 0));
        }));
}

}  // namespace conformance
