#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <vector>

#include "heddle/core/dtype.hpp"

// Numbers at which conversions and comparisons go wrong: zeros, ones, the limits of every type, the powers of two with
// their neighbours, halves, NaN, infinities and denormals.
namespace samples {

// Long double, which holds every int64, uint64 and double, is the reference's type.
static_assert(std::numeric_limits<long double>::digits >= 64);

template <std::integral T>
std::vector<T> integers() {
  std::vector<T> values;
  for (int shift = 0; shift < std::numeric_limits<T>::digits; ++shift) {
    const auto power = static_cast<T>(T{1} << shift);
    for (const int step : {-1, 0, 1}) {
      const auto near = static_cast<T>(static_cast<std::uint64_t>(power) + static_cast<std::uint64_t>(step));
      values.push_back(near);
      values.push_back(static_cast<T>(~near));
    }
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

template <heddle::Scalar T>
std::vector<T> floats() {
  using F = heddle::compute_type<T>;
  std::vector<T> values;
  const auto add = [&](F value) {
    for (const F near : {value, std::nextafter(value, F{0}), std::nextafter(value, 2 * value)}) {
      values.push_back(T(near));
      values.push_back(T(-near));
    }
  };
  for (int exponent = -2; exponent <= 66; ++exponent) {
    add(std::ldexp(F{1}, exponent));
    add(std::ldexp(F{1.5}, exponent));
    add(std::ldexp(F{1}, exponent) + F{0.5});
    add(std::ldexp(F{1}, exponent) - F{0.5});
    add(std::ldexp(F{1}, exponent) - F{1});
  }
  using L = std::numeric_limits<T>;
  for (const T value : {L::min(), L::max(), L::lowest(), L::denorm_min(), L::infinity(), L::quiet_NaN(), T(0.0f)}) {
    values.push_back(value);
    values.push_back(T(-value));
  }
  return values;
}

template <heddle::Scalar T>
std::vector<T> of() {
  if constexpr (std::same_as<T, bool>) {
    return {false, true};
  } else if constexpr (std::integral<T>) {
    return integers<T>();
  } else {
    return floats<T>();
  }
}

}  // namespace samples
