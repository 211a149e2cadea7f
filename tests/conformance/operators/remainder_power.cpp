// Mod Pow
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"

namespace conformance {
namespace {

/// With `fmod` the result has the dividend's sign, as % of C++; without it the divisor's.
template <class Fmod, class Remainder>
struct Mod {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return call.integer("fmod", 0) != 0 ? Fmod{}(call, device) : Remainder{}(call, device);
  }
};
template <class Fmod, class Remainder>
Mod<Fmod, Remainder> mod(Fmod, Remainder) {
  return {};
}

/// Pow has the type of its base; Heddle's has the common one.
template <class Base, class... Exponent>
struct PowOf {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& base = call.input(0);
    const Array& exponent = call.input(1);
    return with_type(Types<Exponent...>{}, exponent.type, [&](auto type) -> Outputs {
      return broadcast<Base, type_of<decltype(type)>>(
          call, base, base.shape, exponent, second_shape(call), device,
          [](const auto& x, const auto& y) { return hd::cast<Base>(hd::pow(x, y)); });
    });
  }
};

struct Pow {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    switch (call.input(0).type) {
      case ElementType::float32:
        return PowOf<float, float, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>{}(call, device);
      case ElementType::float64:
        return PowOf<double, double, std::int64_t>{}(call, device);
      case ElementType::float16:
        return PowOf<hd::half, hd::half>{}(call, device);
      case ElementType::int32:
        return PowOf<std::int32_t, std::int32_t, float>{}(call, device);
      case ElementType::int64:
        return PowOf<std::int64_t, std::int64_t, float>{}(call, device);
      default:
        throw NotServed{"not for this base"};
    }
  }
};

}  // namespace

void add_remainder_power(Registry& registry) {
  serve(registry, "Mod",
        mod(binary<Types<float, double, hd::half, std::int32_t, std::int64_t>>(
                [](const auto& a, const auto& b) { return a % b; }),
            binary<Integers>([](const auto& a, const auto& b) { return hd::remainder(a, b); })));
  serve(registry, "Pow", Pow{});
}

}  // namespace conformance
