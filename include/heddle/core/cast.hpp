#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "heddle/core/dtype.hpp"

namespace heddle {

/// 2 to the number of To's value bits: the first number beyond its range.
template <std::integral To, std::floating_point From>
HEDDLE_HOST_DEVICE constexpr From integer_end() {
  constexpr int value_bits = static_cast<int>(8 * sizeof(To)) - (std::is_signed_v<To> ? 1 : 0);
  return static_cast<From>(std::uint64_t{1} << (value_bits - 1)) * 2;
}

/// A floating-point number as an integer: truncated; beyond To's range its least or greatest value; NaN is 0.
///
/// Example: `saturate<std::int8_t>(300.0f)` is 127, `saturate<unsigned>(-1.5)` is 0.
template <std::integral To, std::floating_point From>
HEDDLE_HOST_DEVICE constexpr To saturate(From value) {
  using Bits = std::make_unsigned_t<To>;
  constexpr To greatest = static_cast<To>(static_cast<Bits>(~Bits{0}) >> (std::is_signed_v<To> ? 1 : 0));
  constexpr To least = static_cast<To>(-greatest - 1);
  constexpr From end = integer_end<To, From>();
  constexpr From begin = std::is_signed_v<To> ? -end : From{0};

  const bool above = value >= end;
  const bool below = value < begin;
  const bool inside = (value < end) & (value >= begin);
  const To truncated = static_cast<To>(inside ? value : From{0});
  const Bits if_above = static_cast<Bits>(above ? greatest : To{0});
  const Bits if_below = static_cast<Bits>(below ? least : To{0});
  return static_cast<To>(static_cast<Bits>(truncated) | if_above | if_below);
}

/// The conversion behind every cast, `to(dtype<U>)` and store: the same result on Cpu and Cuda for every value.
///
/// To bool: `x != 0`, so NaN is true. Integer to integer: wraps. Floating to integer: truncates and saturates, NaN is
/// 0. To a floating type: rounds once, to nearest even; what is too large becomes infinite.
///
/// Example: `cast_element<std::uint8_t>(-3)` is 253, `cast_element<std::uint8_t>(-3.0f)` is 0.
template <Scalar To, Scalar From>
HEDDLE_HOST_DEVICE constexpr To cast_element(From value) {
  if constexpr (std::same_as<To, From>) {
    return value;
  } else if constexpr (is_16bit_float_v<From>) {
    return cast_element<To>(static_cast<float>(value));
  } else if constexpr (std::same_as<To, bool>) {
    return value != From{0};
  } else if constexpr (std::integral<To> && std::floating_point<From>) {
    return saturate<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

/// Whether a number is one of To's, or one that cast_element rounds or saturates on purpose: only an integer can be
/// beyond the range of To, and would wrap.
///
/// Example: `fits<std::uint8_t>(300)` is false, `fits<std::uint8_t>(300.0)` and `fits<bool>(2)` are true.
template <Scalar To, Scalar From>
constexpr bool fits(From value) {
  if constexpr (std::integral<To> && std::integral<From> && !std::same_as<To, bool> && !std::same_as<From, bool>) {
    return std::in_range<To>(value);
  } else {
    return true;
  }
}

}  // namespace heddle
