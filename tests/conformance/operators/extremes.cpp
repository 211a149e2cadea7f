// Max Min Sum Mean of several tensors; maximum minimum Clip
#include <limits>

#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/math.hpp"

namespace conformance {
namespace {

template <class T>
T lowest() {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::lowest();
  else
    return static_cast<T>(-std::numeric_limits<float>::infinity());
}
template <class T>
T highest() {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::max();
  else
    return static_cast<T>(std::numeric_limits<float>::infinity());
}

/// A bound of Clip: an input, an attribute, or absent.
template <class T>
T bound(const Call& call, int position, const char* attribute, T absent) {
  if (call.has_input(position)) return scalar<T>(call.input(position));
  return call.has(attribute) ? static_cast<T>(call.number(attribute, 0)) : absent;
}

}  // namespace

void add_extremes(Registry& registry) {
  const auto same = [](const auto& x) { return x; };
  const auto maximum = [](const auto& a, const auto& b) { return hd::maximum(a, b); };
  const auto minimum = [](const auto& a, const auto& b) { return hd::minimum(a, b); };
  using Compared = Types<float, hd::half, I16, I64, U16, U64>;
  serve(registry, "Max", folded<Compared>(maximum, same));
  serve(registry, "Min", folded<Compared>(minimum, same));
  serve(registry, "maximum", binary<Types<float, double>>(maximum));
  serve(registry, "minimum", binary<Types<float, double, bool>, Types<I64>>(minimum));
  const auto plus = [](const auto& a, const auto& b) { return a + b; };
  serve(registry, "Sum", folded<Types<float>>(plus, same));
  serve(registry, "Mean",
        folded<Types<float>>(plus, [](const auto& x, const Call& call) { return x / call.input_count(); }));

  const auto by_numbers = unary<Types<float, I8>>([](const auto& x, const Call& call) {
    using T = typename std::remove_cvref_t<decltype(x)>::value_type;
    return hd::clamp(x, bound<T>(call, 1, "min", lowest<T>()), bound<T>(call, 2, "max", highest<T>()));
  });
  const auto clamp = [](const auto& x, const auto& low, const auto& high) { return hd::clamp(x, low, high); };
  const auto mixed_clamp = [](const Call& call, auto device) {
    return mapped<broadcast_rank, I64, float, double>(call, device, decltype(clamp){},
                                                      {&call.input(0), &call.input(1), &call.input(2)});
  };
  serve(registry, "Clip", by_numbers);
  serve(registry, "clamp",
        choice([](const Call& call) { return call.input(0).type == ElementType::int64; },
               choice([](const Call& call) { return call.has_input(1) && call.has_input(2); }, by_numbers,
                      ternary<Types<float, double, I32, U8>>(clamp)),
               mixed_clamp));
  const auto by_one = [](const Call& call) { return call.has_input(0) && call.has_input(1); };
  serve(registry, "clamp_min", choice(by_one, by_numbers, binary<Types<float, double, I64>>(maximum)));
  serve(registry, "clamp_max", choice(by_one, by_numbers, binary<Types<float, double, I64, bool>>(minimum)));
}

}  // namespace conformance
