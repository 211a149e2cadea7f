// Max Min Sum Mean of several tensors; Clip
#include <limits>

#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"

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

/// A bound of Clip: an input, an attribute before opset 11, or absent.
template <class T>
T bound(const Call& call, int position, const char* attribute, T absent) {
  if (call.has_input(position)) return scalar<T>(call.input(position));
  return call.has(attribute) ? static_cast<T>(call.number(attribute, 0)) : absent;
}

}  // namespace

void add_extremes(Registry& registry) {
  const auto same = [](const auto& x) { return x; };
  serve(registry, "Max", folded<NumbersAndHalf>([](const auto& a, const auto& b) { return hd::maximum(a, b); }, same));
  serve(registry, "Min", folded<NumbersAndHalf>([](const auto& a, const auto& b) { return hd::minimum(a, b); }, same));
  const auto plus = [](const auto& a, const auto& b) { return a + b; };
  serve(registry, "Sum", folded<Floats>(plus, same));
  serve(registry, "Mean", folded<Floats>(plus, [](const auto& x, const Call& call) { return x / call.input_count(); }));
  serve(registry, "Clip", unary<Signed>([](const auto& x, const Call& call) {
          using T = typename std::remove_cvref_t<decltype(x)>::value_type;
          return hd::clamp(x, bound<T>(call, 1, "min", lowest<T>()), bound<T>(call, 2, "max", highest<T>()));
        }));
}

}  // namespace conformance
