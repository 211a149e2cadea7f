// Signs, rounding, roots; IsInf IsNaN
#include "heddle/ops/math.hpp"
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/compare.hpp"
#include "heddle/ops/numeric.hpp"

namespace conformance {

void add_math(Registry& registry) {
  serve(registry, {"Abs", "abs"},
        unary<Types<float, double, I32, I64>, broadcast_rank>([](const auto& x) { return hd::abs(x); }));
  serve(registry, {"Neg", "neg"}, unary<Types<float, double, I32, I64, U8>>([](const auto& x) { return -x; }));
  serve(registry, {"Sign", "sign", "sgn"},
        unary<Types<float, double, I64, U8, bool>>([](const auto& x) { return hd::sign(x); }));
  serve(registry, "square", unary<Types<float, double, I64>>([](const auto& x) { return hd::square(x); }));
  serve(registry, {"Ceil", "ceil"}, unary<Types<float, double, U8>>([](const auto& x) { return hd::ceil(x); }));
  serve(registry, {"Floor", "floor"},
        unary<Types<float, double, I32, I64>>([](const auto& x) { return hd::floor(x); }));
  serve(registry, {"Round", "round"},
        choice([](const Call& call) { return call.integer("decimals", 0) != 0; },
               unary<Types<float, double, I64>>([](const auto& x) { return hd::round(x); }),
               unary([](const auto& x, const Call& call) {
                 return hd::round(x, static_cast<int>(call.integer("decimals", 0)));
               })));
  serve(registry, "trunc", unary<Types<double, I32, U8>>([](const auto& x) { return hd::trunc(x); }));
  serve(registry, {"Sqrt", "sqrt"}, unary<Floats>([](const auto& x) { return hd::sqrt(x); }));
  serve(registry, "rsqrt", unary<Types<float, double, I64, bool>>([](const auto& x) { return hd::rsqrt(x); }));
  serve(registry, {"Reciprocal", "reciprocal"},
        unary<Types<float, double, U8, bool>>([](const auto& x) { return hd::reciprocal(x); }));
  serve(registry, {"IsNaN", "isnan"},
        unary<Types<float, hd::half, I64, U8>>([](const auto& x) { return hd::isnan(x); }));
  serve(registry, "IsInf", unary<Types<float>>([](const auto& x, const Call& call) {
          return hd::isinf(x) &&
                 ((x > 0 && call.flag("detect_positive", true)) || (x < 0 && call.flag("detect_negative", true)));
        }));
  serve(registry, "isinf", unary<Types<float, double, U8, bool>>([](const auto& x) { return hd::isinf(x); }));
  serve(registry, "isfinite", unary<Types<float, double, I64>>([](const auto& x) { return hd::isfinite(x); }));
  serve(registry, "nan_to_num",
        choice([](const Call& call) { return call.has("posinf"); },
               unary<Types<float, double, I64, U8>>([](const auto& x) { return hd::nan_to_num(x); }),
               unary<Types<float>>([](const auto& x, const Call& call) {
                 return hd::nan_to_num(x, call.number("nan", 0), call.number("posinf", 0), call.number("neginf", 0));
               })));
}

}  // namespace conformance
