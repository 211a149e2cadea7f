// Mod Pow; fmod remainder float_power lerp
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/math.hpp"

namespace conformance {
namespace {

/// Pow has the type of its base; Heddle's has the common one.
template <class Base, class... Exponent>
struct PowOf {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return with_type(Types<Exponent...>{}, call.input(1).type, [&](auto type) {
      const auto power = [](const auto& x, const auto& y) { return hd::cast<Base>(hd::pow(x, y)); };
      return mapped<pair_rank<type_of<decltype(type)>>, Base, type_of<decltype(type)>>(
          call, device, power, {&call.input(0), &call.input(1)}, {call.input(0).shape, second_shape(call)},
          std::index_sequence<0, 1>{});
    });
  }
};

struct Pow {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    switch (call.input(0).type) {
      case ElementType::float32:
        return PowOf<float, float, I32, U32>{}(call, device);
      case ElementType::int32:
        return PowOf<I32, float>{}(call, device);
      case ElementType::int64:
        return PowOf<I64, float>{}(call, device);
      default:
        throw NotServed{"not for this base"};
    }
  }
};

}  // namespace

void add_remainder_power(Registry& registry) {
  // With `fmod` the result has the dividend's sign, as % of C++; without it the divisor's.
  serve(registry, "Mod",
        choice([](const Call& call) { return call.flag("fmod", false); },
               binary<Types<I32, I64, U16, U64>>([](const auto& a, const auto& b) { return hd::remainder(a, b); }),
               binary<Types<double, hd::half, I32, I64>>([](const auto& a, const auto& b) { return a % b; })));
  serve(registry, "fmod", binary<Types<float, double, U8>, Types<double>, Types<I64>>([](const auto& a, const auto& b) {
          return hd::fmod(a, b);
        }));
  serve(registry, "remainder",
        binary<Types<float>, Types<double>>([](const auto& a, const auto& b) { return hd::remainder(a, b); }));
  serve(registry, "Pow", Pow{});
  serve(registry, "pow",
        binary<Reals, Types<float>, Types<double>>([](const auto& a, const auto& b) { return hd::pow(a, b); }));
  serve(registry, "lerp",
        choice([](const Call& call) { return call.has("weight"); },
               ternary<Reals>([](const auto& a, const auto& b, const auto& t) { return hd::lerp(a, b, t); }),
               binary<Reals>([](const auto& a, const auto& b, const Call& call) {
                 return hd::lerp(a, b, call.number("weight", 0));
               })));
}

}  // namespace conformance
