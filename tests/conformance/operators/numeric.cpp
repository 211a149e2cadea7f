// Parts of numbers, logarithms of sums, angles, divisors; shrinking activations and glu
#include "heddle/ops/numeric.hpp"
#include "conformance/operators/along_axis.hpp"
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/activation.hpp"

namespace conformance {
namespace {

struct Glu {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const int axis = axis_of(call, "dim", -1, array.rank());
    Extents three = plan_axis(array.shape, axis).all_three(), shape = array.shape;
    return with_type(Reals{}, array.type, [&](auto type) -> Outputs {
      const auto x = tensor<type_of<decltype(type)>, 3>(call, array, three, device);
      three[1] /= 2;
      shape[static_cast<std::size_t>(axis)] /= 2;
      return {reshaped(result(hd::glu(x, hd::axis<1>)), three, shape)};
    });
  }
};

}  // namespace

void add_numeric(Registry& registry) {
  using Both = Types<float, double, U8>;
  serve(registry, "fmax", binary<Both, Types<I64>>([](const auto& a, const auto& b) { return hd::fmax(a, b); }));
  serve(registry, "fmin", binary<Both, Types<I64>>([](const auto& a, const auto& b) { return hd::fmin(a, b); }));
  serve(registry, "copysign", binary<Types<float, bool>, Types<>, Types<I64>>([](const auto& a, const auto& b) {
          return hd::copysign(a, b);
        }));
  serve(registry, "heaviside", binary<Types<float, double, bool>, Types<I64>>([](const auto& a, const auto& b) {
          return hd::heaviside(a, b);
        }));
  serve(registry, "xlogy",
        binary<Types<float, double, bool>, Types<double>, Types<double>>(
            [](const auto& a, const auto& b) { return hd::xlogy(a, b); }));
  serve(registry, "logaddexp", binary<Reals>([](const auto& a, const auto& b) { return hd::logaddexp(a, b); }));
  serve(registry, "logaddexp2",
        binary<Types<double>>([](const auto& a, const auto& b) { return hd::logaddexp2(a, b); }));
  serve(registry, "gcd", binary<Types<U8>, Types<I64>>([](const auto& a, const auto& b) { return hd::gcd(a, b); }));
  serve(registry, "lcm",
        binary<Types<I64, U8>, Types<I64>>([](const auto& a, const auto& b) { return hd::lcm(a, b); }));
  serve(registry, "signbit", unary<Types<float, double, I64, bool>>([](const auto& x) { return hd::signbit(x); }));
  serve(registry, "isneginf", unary<Types<float, double, I64, U8>>([](const auto& x) { return hd::isneginf(x); }));
  serve(registry, "isposinf", unary<Types<double>>([](const auto& x) { return hd::isposinf(x); }));
  serve(registry, "frac", unary([](const auto& x) { return hd::frac(x); }));
  serve(registry, "deg2rad", unary([](const auto& x) { return hd::deg2rad(x); }));
  serve(registry, "rad2deg", unary<Types<float, double, U8, bool>>([](const auto& x) { return hd::rad2deg(x); }));
  serve(registry, "logit",
        unary<Types<U8>>([](const auto& x, const Call& call) { return hd::logit(x, call.number("eps", 0)); }));
  serve(registry, "nn.functional.hardshrink",
        unary([](const auto& x, const Call& call) { return hd::hardshrink(x, call.number("lambd", 0.5)); }));
  serve(registry, "nn.functional.softshrink",
        unary([](const auto& x, const Call& call) { return hd::softshrink(x, call.number("lambd", 0.5)); }));
  serve(registry, "nn.functional.glu", Glu{});
}

}  // namespace conformance
