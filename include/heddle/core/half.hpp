#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "heddle/config.hpp"

// CUDA's own 16-bit types, only named here: cuda_fp16.h costs half a second in every file.
struct __half;
struct __nv_bfloat16;

namespace heddle {

class bfloat16;

/// Every built-in number type.
template <class T>
concept Arithmetic = std::is_arithmetic_v<T>;

/// The float next to `value` whose last bit is odd, `value` itself where it is a float: a second rounding, to at most
/// 22 bits, then gives what rounding `value` once would give. Finite values beyond the greatest float become that
/// float.
///
/// Example: `bfloat16(round_to_odd(1.0 + 0x1p-8 + 0x1p-40))` is 1.0078125, where `bfloat16(float(...))` would be 1.
template <std::floating_point Wide>
HEDDLE_HOST_DEVICE constexpr float round_to_odd(Wide value) {
  if (__builtin_is_constant_evaluated()) {
    // nvcc takes no conversion that underflows for a constant.
    if (value != 0 && value > Wide{-0x1p-149F} && value < Wide{0x1p-149F}) {
      value = value < 0 ? Wide{-0x1p-149F} : Wide{0x1p-149F};
    }
  }
  const float nearest = static_cast<float>(value);
  const Wide back = nearest;
  std::uint32_t bits = __builtin_bit_cast(std::uint32_t, nearest);
  const bool negative = bits >> 31 != 0;
  const bool away_from_zero = (negative & (back < value)) | (!negative & (back > value));
  bits -= away_from_zero ? 1U : 0U;
  bits |= back != value ? 1U : 0U;
  return __builtin_bit_cast(float, bits);
}

/// The same for an integer of any width.
template <std::integral Integer>
HEDDLE_HOST_DEVICE constexpr float round_to_odd(Integer value) {
  if constexpr (sizeof(Integer) <= 2) {
    return static_cast<float>(value);
  } else if constexpr (sizeof(Integer) <= 4) {
    return round_to_odd(static_cast<double>(value));
  } else {
    // 53 bits are left of 64: the last 11 are gathered in the one above them, which keeps the two's complement order.
    constexpr Integer exact = Integer{1} << 53;
    bool wide = value > exact;
    if constexpr (std::is_signed_v<Integer>) wide = wide | (value < -exact);
    const Integer gathered = (value | ((value & 2047) + 2047)) & ~Integer{2047};
    return round_to_odd(static_cast<double>(wide ? gathered : value));
  }
}

/// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits; the layout of CUDA's `__half`.
///
/// A storage type. It converts to float implicitly and from every arithmetic type explicitly, rounding once, to nearest
/// even; what is too large becomes infinite. It has no arithmetic of its own: `h * 2.0f` and `h + h` are float. NaN
/// stays NaN; its sign and the upper bits of its payload are kept on the CPU, while a GPU may give its canonical NaN.
///
/// Example: `half h(0.1f); float f = h; h += 1; std::uint16_t b = h.bits();`
class half {
 public:
  half() = default;

  /// The nearest half to `value`.
  template <Arithmetic Number>
  HEDDLE_HOST_DEVICE explicit constexpr half(Number value) {
    if constexpr (std::floating_point<Number> && !std::same_as<Number, float>) {
      bits_ = round(round_to_odd(value));
    } else {
      // An integer that float would round is beyond the greatest half.
      bits_ = round(static_cast<float>(value));
    }
  }
  template <std::same_as<bfloat16> Other>
  HEDDLE_HOST_DEVICE explicit constexpr half(Other value) : half(static_cast<float>(value)) {}

  /// The same number as CUDA's type, both ways a copy of the bits: `half h = cuda_half; static_cast<__half>(h)`. The
  /// second is explicit because `h * h` could else mean CUDA's operator too.
  template <std::same_as<__half> Cuda_half>
  HEDDLE_HOST_DEVICE constexpr half(Cuda_half value) : bits_(__builtin_bit_cast(std::uint16_t, value)) {}
  template <std::same_as<__half> Cuda_half>
  HEDDLE_HOST_DEVICE explicit constexpr operator Cuda_half() const {
    return __builtin_bit_cast(Cuda_half, bits_);
  }

  /// The half with this bit pattern. Example: `half::from_bits(0x3c00)` is 1.
  HEDDLE_HOST_DEVICE static constexpr half from_bits(std::uint16_t bits) {
    half result{};
    result.bits_ = bits;
    return result;
  }
  /// The bit pattern. Example: `half(1.0f).bits()` is 0x3c00.
  HEDDLE_HOST_DEVICE constexpr std::uint16_t bits() const { return bits_; }

  /// The same number as float: every one is exact.
  HEDDLE_HOST_DEVICE constexpr operator float() const { return widen(bits_); }

  /// Computed in float, then rounded.
  HEDDLE_HOST_DEVICE constexpr half& operator+=(float other) { return *this = half(*this + other); }
  HEDDLE_HOST_DEVICE constexpr half& operator-=(float other) { return *this = half(*this - other); }
  HEDDLE_HOST_DEVICE constexpr half& operator*=(float other) { return *this = half(*this * other); }
  HEDDLE_HOST_DEVICE constexpr half& operator/=(float other) { return *this = half(*this / other); }

 private:
  // Both conversions compute every case and select by masks, so that loops over them vectorise: g++ makes branches of
  // conditional operators here, and keeps them because a floating-point operation could trap.
  HEDDLE_HOST_DEVICE static constexpr std::int32_t if_less(std::int32_t a, std::int32_t b, std::int32_t then,
                                                           std::int32_t otherwise) {
    const std::int32_t mask = (a - b) >> 31;
    return otherwise ^ ((then ^ otherwise) & mask);
  }

  HEDDLE_HOST_DEVICE static constexpr std::uint16_t round(float value) {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) {
      std::uint16_t result;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(value));
      return result;
    }
#endif
    constexpr std::int32_t least_normal = 113 << 23;  // 2^-14
    constexpr std::int32_t beyond = 143 << 23;        // 2^16
    constexpr std::int32_t infinity = 255 << 23;
    const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value);
    const std::uint32_t sign = (bits >> 16) & 0x8000U;
    const std::int32_t magnitude = static_cast<std::int32_t>(bits & 0x7fffffffU);

    const std::int32_t odd = (magnitude >> 13) & 1;
    const std::int32_t normal = (magnitude - (112 << 23) + 0xfff + odd) >> 13;

    // The last bit of a float in [0.5, 1) is worth the least subnormal half: the addition rounds.
    const std::int32_t small = if_less(magnitude, least_normal, magnitude, least_normal);
    const std::int32_t subnormal =
        __builtin_bit_cast(std::int32_t, __builtin_bit_cast(float, small) + 0.5F) - (126 << 23);

    const std::int32_t not_finite = if_less(infinity, magnitude, 0x7e00 | ((magnitude >> 13) & 0x3ff), 0x7c00);

    const std::int32_t finite = if_less(magnitude, least_normal, subnormal, normal);
    const std::int32_t result = if_less(magnitude, beyond, finite, not_finite);
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(result));
  }

  HEDDLE_HOST_DEVICE static constexpr float widen(std::uint16_t bits) {
#if defined(__CUDA_ARCH__)
    if (!__builtin_is_constant_evaluated()) {
      float result;
      asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(bits));
      return result;
    }
#endif
    const std::uint32_t sign = (bits & 0x8000U) << 16;
    const std::int32_t magnitude = (bits & 0x7fff) << 13;
    const std::int32_t normal = magnitude + (112 << 23);
    const std::int32_t not_finite = magnitude + (224 << 23);
    // As if the fraction had a leading one, which is then taken away.
    const std::int32_t subnormal =
        __builtin_bit_cast(std::int32_t, __builtin_bit_cast(float, magnitude + (113 << 23)) - 0x1p-14F);

    const std::int32_t finite = if_less(magnitude, 1 << 23, subnormal, normal);
    const std::int32_t result = if_less(magnitude, 31 << 23, finite, not_finite);
    return __builtin_bit_cast(float, sign | static_cast<std::uint32_t>(result));
  }

  std::uint16_t bits_;
};

/// The upper half of a float: 1 sign, 8 exponent and 7 fraction bits; the layout of CUDA's `__nv_bfloat16`.
///
/// As `half` in everything else.
///
/// Example: `bfloat16 b(3.14); float f = b;  // 3.140625`
class bfloat16 {
 public:
  bfloat16() = default;

  /// The nearest bfloat16 to `value`.
  template <Arithmetic Number>
  HEDDLE_HOST_DEVICE explicit constexpr bfloat16(Number value) {
    if constexpr (std::same_as<Number, float>) {
      bits_ = round(value);
    } else {
      bits_ = round(round_to_odd(value));
    }
  }
  template <std::same_as<half> Other>
  HEDDLE_HOST_DEVICE explicit constexpr bfloat16(Other value) : bfloat16(static_cast<float>(value)) {}

  /// The same number as CUDA's type, both ways a copy of the bits: `bfloat16 b = cuda_b;
  /// static_cast<__nv_bfloat16>(b)`.
  template <std::same_as<__nv_bfloat16> Cuda_bfloat16>
  HEDDLE_HOST_DEVICE constexpr bfloat16(Cuda_bfloat16 value) : bits_(__builtin_bit_cast(std::uint16_t, value)) {}
  template <std::same_as<__nv_bfloat16> Cuda_bfloat16>
  HEDDLE_HOST_DEVICE explicit constexpr operator Cuda_bfloat16() const {
    return __builtin_bit_cast(Cuda_bfloat16, bits_);
  }

  /// The bfloat16 with this bit pattern. Example: `bfloat16::from_bits(0x3f80)` is 1.
  HEDDLE_HOST_DEVICE static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 result{};
    result.bits_ = bits;
    return result;
  }
  /// The bit pattern. Example: `half(1.0f).bits()` is 0x3c00.
  HEDDLE_HOST_DEVICE constexpr std::uint16_t bits() const { return bits_; }

  /// The same number as float: every one is exact.
  HEDDLE_HOST_DEVICE constexpr operator float() const {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(bits_) << 16);
  }

  /// Computed in float, then rounded.
  HEDDLE_HOST_DEVICE constexpr bfloat16& operator+=(float other) { return *this = bfloat16(*this + other); }
  HEDDLE_HOST_DEVICE constexpr bfloat16& operator-=(float other) { return *this = bfloat16(*this - other); }
  HEDDLE_HOST_DEVICE constexpr bfloat16& operator*=(float other) { return *this = bfloat16(*this * other); }
  HEDDLE_HOST_DEVICE constexpr bfloat16& operator/=(float other) { return *this = bfloat16(*this / other); }

 private:
  HEDDLE_HOST_DEVICE static constexpr std::uint16_t round(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (!__builtin_is_constant_evaluated()) {
      std::uint16_t result;
      asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(value));
      return result;
    }
#endif
    const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value);
    const std::int32_t magnitude = static_cast<std::int32_t>(bits & 0x7fffffffU);
    const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
    const std::uint32_t quiet = (bits >> 16) | 0x40U;
    return static_cast<std::uint16_t>(magnitude > (255 << 23) ? quiet : rounded);
  }

  std::uint16_t bits_;
};

}  // namespace heddle

namespace std {

template <>
class numeric_limits<heddle::half> {
  using T = heddle::half;

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr float_denorm_style has_denorm = denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr float_round_style round_style = round_to_nearest;
  static constexpr bool is_iec559 = true;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
  static constexpr int radix = 2;
  static constexpr int digits = 11;
  static constexpr int digits10 = 3;
  static constexpr int max_digits10 = 5;
  static constexpr int min_exponent = -13;
  static constexpr int min_exponent10 = -4;
  static constexpr int max_exponent = 16;
  static constexpr int max_exponent10 = 4;

  HEDDLE_HOST_DEVICE static constexpr T min() noexcept { return T::from_bits(0x0400); }
  HEDDLE_HOST_DEVICE static constexpr T max() noexcept { return T::from_bits(0x7bff); }
  HEDDLE_HOST_DEVICE static constexpr T lowest() noexcept { return T::from_bits(0xfbff); }
  HEDDLE_HOST_DEVICE static constexpr T epsilon() noexcept { return T::from_bits(0x1400); }
  HEDDLE_HOST_DEVICE static constexpr T round_error() noexcept { return T::from_bits(0x3800); }
  HEDDLE_HOST_DEVICE static constexpr T infinity() noexcept { return T::from_bits(0x7c00); }
  HEDDLE_HOST_DEVICE static constexpr T quiet_NaN() noexcept { return T::from_bits(0x7e00); }
  HEDDLE_HOST_DEVICE static constexpr T signaling_NaN() noexcept { return T::from_bits(0x7d00); }
  HEDDLE_HOST_DEVICE static constexpr T denorm_min() noexcept { return T::from_bits(0x0001); }
};

template <>
class numeric_limits<heddle::bfloat16> {
  using T = heddle::bfloat16;

 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr bool has_signaling_NaN = true;
  static constexpr float_denorm_style has_denorm = denorm_present;
  static constexpr bool has_denorm_loss = false;
  static constexpr float_round_style round_style = round_to_nearest;
  static constexpr bool is_iec559 = true;
  static constexpr bool is_bounded = true;
  static constexpr bool is_modulo = false;
  static constexpr bool traps = false;
  static constexpr bool tinyness_before = false;
  static constexpr int radix = 2;
  static constexpr int digits = 8;
  static constexpr int digits10 = 2;
  static constexpr int max_digits10 = 4;
  static constexpr int min_exponent = -125;
  static constexpr int min_exponent10 = -37;
  static constexpr int max_exponent = 128;
  static constexpr int max_exponent10 = 38;

  HEDDLE_HOST_DEVICE static constexpr T min() noexcept { return T::from_bits(0x0080); }
  HEDDLE_HOST_DEVICE static constexpr T max() noexcept { return T::from_bits(0x7f7f); }
  HEDDLE_HOST_DEVICE static constexpr T lowest() noexcept { return T::from_bits(0xff7f); }
  HEDDLE_HOST_DEVICE static constexpr T epsilon() noexcept { return T::from_bits(0x3c00); }
  HEDDLE_HOST_DEVICE static constexpr T round_error() noexcept { return T::from_bits(0x3f00); }
  HEDDLE_HOST_DEVICE static constexpr T infinity() noexcept { return T::from_bits(0x7f80); }
  HEDDLE_HOST_DEVICE static constexpr T quiet_NaN() noexcept { return T::from_bits(0x7fc0); }
  HEDDLE_HOST_DEVICE static constexpr T signaling_NaN() noexcept { return T::from_bits(0x7fa0); }
  HEDDLE_HOST_DEVICE static constexpr T denorm_min() noexcept { return T::from_bits(0x0001); }
};

}  // namespace std
