// The conversion of elements as a map.
#pragma once

#include "heddle/core/cast.hpp"
#include "heddle/core/error.hpp"
#include "heddle/expr/formula.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// A number that becomes an element, converted as cast does. Throws Error for an integer beyond the range of T, which
/// would wrap.
template <Element T, ScalarArgument S>
constexpr T checked_element(const char* operation, S value) {
  const auto number = static_cast<canonical_t<std::remove_cvref_t<S>>>(value);
  if constexpr (std::integral<T> && std::integral<decltype(number)>) {
    if (!fits<T>(number))
      throw Error(Message{} << operation << ": " << number << " is no number of the element type " << name_of<T>);
  }
  return cast_element<T>(number);
}

/// x as U: to bool, x != 0; floating to integer truncates and saturates, NaN gives 0; half and bfloat16 are rounded
/// here, even if the formula goes on in float.
template <class U>
struct conversion {
  template <class T>
  struct signature {
    using result = U;
    using argument = void;
  };
  template <class T>
  HEDDLE_HOST_DEVICE compute_type<U> operator()(T x) const {
    return static_cast<compute_type<U>>(cast_element<U>(x));
  }
};

}  // namespace HEDDLE_BUILD
}  // namespace heddle
