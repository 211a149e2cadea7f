// Add Sub Mul Div; rsub floor_divide addcmul addcdiv
#include "heddle/ops/arithmetic.hpp"
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/math.hpp"

namespace conformance {
namespace {

template <class X>
auto alpha_for(const X&, const Call& call) {
  return number_for<typename X::value_type>(call, "alpha");
}

}  // namespace

void add_arithmetic(Registry& registry) {
  const auto has_alpha = [](const Call& call) { return call.has("alpha"); };
  // Addition stands for all that broadcasts: floats keep their own ranks.
  using Added = Operands<Types<float, double, bool, I16, I64, U16, U64>, Types<float, I64>>;
  serve(registry, {"Add", "add"},
        choice(has_alpha, binary_of_ranks<float, 3, Added>([](const auto& a, const auto& b) { return a + b; }),
               binary<Types<U8>>(
                   [](const auto& a, const auto& b, const Call& call) { return a + alpha_for(a, call) * b; })));
  serve(registry, {"Sub", "sub"},
        choice(has_alpha,
               binary<Types<float, double, I16, I32, U16, U64>, Types<float>>(
                   [](const auto& a, const auto& b) { return a - b; }),
               binary<Types<float, U8>>(
                   [](const auto& a, const auto& b, const Call& call) { return a - alpha_for(a, call) * b; })));
  serve(registry, "rsub",
        choice(has_alpha, binary<Reals>([](const auto& a, const auto& b) { return b - a; }),
               binary<Types<float>>(
                   [](const auto& a, const auto& b, const Call& call) { return b - alpha_for(a, call) * a; })));
  serve(registry, {"Mul", "mul"},
        binary<Types<float, double, I8, I64, U8, U32>, Types<double>, Types<double>>(
            [](const auto& a, const auto& b) { return a * b; }));
  serve(registry, {"Div", "div", "true_divide"},
        choice([](const Call& call) { return call.has("rounding_mode"); },
               binary<Types<float, double, I8, I16, U8, U32>, Types<double>>(
                   [](const auto& a, const auto& b) { return a / b; }),
               choice([](const Call& call) { return call.text_is("rounding_mode", "trunc"); },
                      binary<Types<float>>([](const auto& a, const auto& b) { return hd::floor_divide(a, b); }),
                      binary<Types<float>>([](const auto& a, const auto& b) { return hd::trunc(a / b); }))));
  serve(registry, "floor_divide", binary<Types<I64>, Types<>, Types<double>>([](const auto& a, const auto& b) {
          return hd::floor_divide(a, b);
        }));
  serve(registry, "addcmul",
        choice([](const Call& call) { return call.has("value"); },
               ternary<Types<float, double, U8, I32, I64>>(
                   [](const auto& x, const auto& a, const auto& b) { return x + a * b; }),
               ternary<Types<float>>([](const auto& x, const auto& a, const auto& b, const Call& call) {
                 return x + call.number("value", 1) * a * b;
               })));
  serve(registry, "addcdiv", ternary<Reals>([](const auto& x, const auto& a, const auto& b) { return x + a / b; }));
}

}  // namespace conformance
