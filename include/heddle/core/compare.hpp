#pragma once

#include <concepts>
#include <type_traits>

#include "heddle/core/cast.hpp"

namespace heddle {

/// True where `std::common_type_t<A, B>` holds every value of both, so that the machine's comparison is right.
template <class A, class B>
inline constexpr bool common_type_is_exact_v = std::is_signed_v<std::common_type_t<A, B>> ||
                                               (!std::is_signed_v<A> && !std::is_signed_v<B>);
template <std::integral A, std::floating_point B>
inline constexpr bool common_type_is_exact_v<A, B> = sizeof(A) < sizeof(B);
template <std::floating_point A, std::integral B>
inline constexpr bool common_type_is_exact_v<A, B> = sizeof(B) < sizeof(A);

/// Comparisons of true values: no operand is wrapped or rounded to the other's type. NaN compares as in C++.
///
/// Example: `cmp_less(-1, 1u)` is true, and `cmp_equal((std::int64_t{1} << 53) + 1, 0x1p53)` is false.
template <Scalar A, Scalar B>
HEDDLE_HOST_DEVICE constexpr bool cmp_equal(A a, B b) {
  if constexpr (is_16bit_float_v<A> || is_16bit_float_v<B>) {
    return cmp_equal(static_cast<compute_type<A>>(a), static_cast<compute_type<B>>(b));
  } else if constexpr (common_type_is_exact_v<A, B>) {
    using Common = std::common_type_t<A, B>;
    return static_cast<Common>(a) == static_cast<Common>(b);
  } else if constexpr (std::floating_point<B>) {
    // The whole part of b is exact in both types, unless it saturates.
    const A whole = saturate<A>(b);
    return (whole == a) & (static_cast<B>(whole) == b) & (b < integer_end<A, B>());
  } else if constexpr (std::floating_point<A> || std::is_signed_v<B>) {
    return cmp_equal(b, a);
  } else {
    return (a >= A{0}) & (static_cast<std::make_unsigned_t<A>>(a) == b);
  }
}

template <Scalar A, Scalar B>
HEDDLE_HOST_DEVICE constexpr bool cmp_less(A a, B b) {
  if constexpr (is_16bit_float_v<A> || is_16bit_float_v<B>) {
    return cmp_less(static_cast<compute_type<A>>(a), static_cast<compute_type<B>>(b));
  } else if constexpr (common_type_is_exact_v<A, B>) {
    using Common = std::common_type_t<A, B>;
    return static_cast<Common>(a) < static_cast<Common>(b);
  } else if constexpr (std::floating_point<B>) {
    const A whole = saturate<A>(b);
    const bool less = (a < whole) | ((a == whole) & (static_cast<B>(whole) < b)) | (b >= integer_end<A, B>());
    return less & (b == b);
  } else if constexpr (std::floating_point<A>) {
    const B whole = saturate<B>(a);
    const bool less = (whole < b) | ((whole == b) & (a < static_cast<A>(whole)));
    return less & (a == a);
  } else if constexpr (std::is_signed_v<A>) {
    return (a < A{0}) | (static_cast<std::make_unsigned_t<A>>(a) < b);
  } else {
    return (b > B{0}) & (a < static_cast<std::make_unsigned_t<B>>(b));
  }
}

template <Scalar A, Scalar B>
HEDDLE_HOST_DEVICE constexpr bool cmp_less_equal(A a, B b) {
  if constexpr (is_16bit_float_v<A> || is_16bit_float_v<B>) {
    return cmp_less_equal(static_cast<compute_type<A>>(a), static_cast<compute_type<B>>(b));
  } else if constexpr (common_type_is_exact_v<A, B>) {
    using Common = std::common_type_t<A, B>;
    return static_cast<Common>(a) <= static_cast<Common>(b);
  } else if constexpr (std::integral<A> && std::integral<B>) {
    return !cmp_less(b, a);
  } else {
    const bool less = cmp_less(a, b);
    const bool equal = cmp_equal(a, b);
    return less | equal;
  }
}

template <Scalar A, Scalar B>
HEDDLE_HOST_DEVICE constexpr bool cmp_not_equal(A a, B b) {
  return !cmp_equal(a, b);
}
template <Scalar A, Scalar B>
HEDDLE_HOST_DEVICE constexpr bool cmp_greater(A a, B b) {
  return cmp_less(b, a);
}
template <Scalar A, Scalar B>
HEDDLE_HOST_DEVICE constexpr bool cmp_greater_equal(A a, B b) {
  return cmp_less_equal(b, a);
}

}  // namespace heddle
