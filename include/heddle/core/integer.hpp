#pragma once

#include <concepts>
#include <type_traits>

#include "heddle/config.hpp"

namespace heddle {

/// Every integer type but bool.
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

/// The unsigned type in which arithmetic on T wraps: never narrower than unsigned, since narrower types promote to int.
template <Integer T>
using wrapping_t = std::make_unsigned_t<std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, T>>;

/// `value < 0`, which nvcc warns of for an unsigned type.
template <Integer T>
HEDDLE_HOST_DEVICE constexpr bool is_negative(T value) {
  if constexpr (std::is_signed_v<T>) {
    return value < T{0};
  } else {
    return false;
  }
}

/// Sum, difference, product, negation and absolute value modulo 2^width: the least value negated is itself.
///
/// Example: `wrapping_add<std::int8_t>(127, 1)` is -128.
template <Integer T>
HEDDLE_HOST_DEVICE constexpr T wrapping_add(T a, T b) {
  return static_cast<T>(static_cast<wrapping_t<T>>(a) + static_cast<wrapping_t<T>>(b));
}
template <Integer T>
HEDDLE_HOST_DEVICE constexpr T wrapping_subtract(T a, T b) {
  return static_cast<T>(static_cast<wrapping_t<T>>(a) - static_cast<wrapping_t<T>>(b));
}
template <Integer T>
HEDDLE_HOST_DEVICE constexpr T wrapping_multiply(T a, T b) {
  return static_cast<T>(static_cast<wrapping_t<T>>(a) * static_cast<wrapping_t<T>>(b));
}
template <Integer T>
HEDDLE_HOST_DEVICE constexpr T wrapping_negate(T a) {
  return wrapping_subtract(T{0}, a);
}
template <Integer T>
HEDDLE_HOST_DEVICE constexpr T wrapping_abs(T a) {
  return is_negative(a) ? wrapping_negate(a) : a;
}

/// The divisor with the two values replaced for which the hardware's division is undefined: 0, and -1 beside the least
/// value.
template <Integer T>
HEDDLE_HOST_DEVICE constexpr T divisor_or_one(T divisor) {
  if constexpr (std::is_signed_v<T>) {
    const bool undefined = (divisor == T{0}) | (divisor == T{-1});
    return undefined ? T{1} : divisor;
  } else {
    return divisor == T{0} ? T{1} : divisor;
  }
}

/// The quotient, truncated as C++'s; x / 0 is 0, and the least value divided by -1 wraps to itself.
///
/// Example: `integer_divide(-7, 2)` is -3.
template <Integer T>
HEDDLE_HOST_DEVICE constexpr T integer_divide(T a, T b) {
  const T quotient = static_cast<T>(a / divisor_or_one(b));
  T result = b == T{0} ? T{0} : quotient;
  if constexpr (std::is_signed_v<T>) result = b == T{-1} ? wrapping_negate(a) : result;
  return result;
}

/// The remainder of `integer_divide`, with the dividend's sign; x % 0 and x % -1 are 0.
///
/// Example: `integer_remainder(-7, 2)` is -1.
template <Integer T>
HEDDLE_HOST_DEVICE constexpr T integer_remainder(T a, T b) {
  return static_cast<T>(a % divisor_or_one(b));
}

/// The quotient rounded down, as PyTorch's floor_divide; x / 0 is 0, and the least value divided by -1 wraps to itself.
///
/// Example: `integer_floor_divide(-7, 2)` is -4.
template <Integer T>
HEDDLE_HOST_DEVICE constexpr T integer_floor_divide(T a, T b) {
  const T remainder = integer_remainder(a, b);
  const bool inexact_negative = (remainder != T{0}) & (is_negative(remainder) != is_negative(b));
  return static_cast<T>(integer_divide(a, b) - (inexact_negative ? T{1} : T{0}));
}

/// The remainder of `integer_floor_divide`, with the divisor's sign, as PyTorch's remainder; x % 0 is 0.
///
/// Example: `integer_floor_remainder(-7, 2)` is 1.
template <Integer T>
HEDDLE_HOST_DEVICE constexpr T integer_floor_remainder(T a, T b) {
  const T remainder = integer_remainder(a, b);
  const bool inexact_negative = (remainder != T{0}) & (is_negative(remainder) != is_negative(b));
  return static_cast<T>(remainder + (inexact_negative ? b : T{0}));
}

/// True for a count that shifts by less than T's width, and not backwards.
template <Integer T, Integer Count>
HEDDLE_HOST_DEVICE constexpr bool shifts_within(Count count) {
  return static_cast<std::make_unsigned_t<Count>>(count) < 8 * sizeof(T);
}

/// `value << count`, without the bits that leave; 0 for a count below 0 or not below the width.
///
/// Example: `shift_left<std::int8_t>(64, 1)` is -128, `shift_left(1, 32)` is 0.
template <Integer T, Integer Count>
HEDDLE_HOST_DEVICE constexpr T shift_left(T value, Count count) {
  const bool within = shifts_within<T>(count);
  const T shifted = static_cast<T>(static_cast<wrapping_t<T>>(value) << (within ? count : Count{0}));
  return within ? shifted : T{0};
}

/// `value >> count`, arithmetic for a signed type; for a count below 0 or not below the width 0, or -1 of a negative
/// value.
///
/// Example: `shift_right(-8, 1)` is -4, `shift_right(-8, 40)` is -1.
template <Integer T, Integer Count>
HEDDLE_HOST_DEVICE constexpr T shift_right(T value, Count count) {
  constexpr Count last = static_cast<Count>(8 * sizeof(T) - 1);
  const bool within = shifts_within<T>(count);
  const T shifted = static_cast<T>(value >> (within ? count : last));
  if constexpr (std::is_signed_v<T>) {
    return shifted;
  } else {
    return within ? shifted : T{0};
  }
}

}  // namespace heddle
