// exp, expm1, log, log1p, tanh, erf and the sine and cosine of a turn for float, as plain C++ without branches or
// calls: a loop with a constant trip count over any of them vectorises. Each stays within 2 units in the last place,
// subnormals included; tests/kernels/cpu_fast_math_test.cpp holds them to it.
#pragma once

#include <cstdint>

#include "heddle/config.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// 2^n for -126 <= n <= 127.
HEDDLE_ALWAYS_INLINE float power_of_two(std::int32_t n) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(n + 127) << 23);
}

// Choices by bits. g++ takes comparisons of floats for branches, moves into them whatever only one side needs, and for
// AVX2 the loop around no longer vectorises.

HEDDLE_ALWAYS_INLINE std::uint32_t magnitude_bits(float x) {
  return __builtin_bit_cast(std::uint32_t, x) & 0x7fffffffU;
}
/// x >= 0, or NaN, bounded above; NaN becomes the bound.
HEDDLE_ALWAYS_INLINE float at_most(float x, float bound) {
  const std::uint32_t x_bits = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t bound_bits = __builtin_bit_cast(std::uint32_t, bound);
  const std::uint32_t bits = x_bits < bound_bits ? x_bits : bound_bits;
  return __builtin_bit_cast(float, bits);
}
/// All bits where magnitude < bound, both as magnitude_bits gives them; NaN is above everything.
HEDDLE_ALWAYS_INLINE std::uint32_t mask_below(std::uint32_t magnitude, std::uint32_t bound) {
  return 0U - ((magnitude - bound) >> 31);
}
/// All bits where x is negative, -0 too.
HEDDLE_ALWAYS_INLINE std::uint32_t mask_negative(float x) { return 0U - (__builtin_bit_cast(std::uint32_t, x) >> 31); }
/// x where it is positive, else 0.
HEDDLE_ALWAYS_INLINE float positive_part(float x) {
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, x) & ~mask_negative(x));
}
/// -|x|.
HEDDLE_ALWAYS_INLINE float minus_magnitude(float x) {
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, x) | 0x80000000U);
}
HEDDLE_ALWAYS_INLINE float choose(std::uint32_t mask, float where_set, float elsewhere) {
  const std::uint32_t set = __builtin_bit_cast(std::uint32_t, where_set);
  const std::uint32_t other = __builtin_bit_cast(std::uint32_t, elsewhere);
  return __builtin_bit_cast(float, other ^ ((set ^ other) & mask));
}
/// To be added to what has lost a NaN on its way.
HEDDLE_ALWAYS_INLINE float nan_or_zero(float x) {
  return __builtin_bit_cast(float, ~mask_below(magnitude_bits(x), 0x7f800001U) & 0x7fc00000U);
}

/// x bounded below by a negative number, of which `bound` is the bits; NaN stays NaN.
HEDDLE_ALWAYS_INLINE float at_least_negative(float x, std::uint32_t bound) {
  // As unsigned integers negative numbers grow with their magnitude. NaN of that sign, the greatest, goes round to 0.
  constexpr std::uint32_t round = 0x007fffffU;
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x) + round;
  const std::uint32_t within = bits < bound + round ? bits : bound + round;
  return __builtin_bit_cast(float, within - round);
}
/// |x| bounded above by a positive number, of which `bound` is the bits; NaN stays NaN.
HEDDLE_ALWAYS_INLINE float magnitude_at_most(float x, std::int32_t bound) {
  // NaN, the greatest, becomes negative.
  constexpr std::uint32_t round = 0x007fffffU;
  const std::int32_t bits = static_cast<std::int32_t>(magnitude_bits(x) + round);
  const std::int32_t most = bound + static_cast<std::int32_t>(round);
  const std::int32_t within = bits < most ? bits : most;
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(within) - round);
}

/// e^x. Overflows to infinity above 88.72, underflows through the subnormals to 0 below -103.97; NaN stays NaN.
HEDDLE_ALWAYS_INLINE float exp_f32(float x) {
  constexpr float log2_e = 0x1.715476p+0F;
  constexpr float ln2_high = 0x1.62e400p-1F;  // 15 bits: times n it is exact
  constexpr float ln2_low = 0x1.7f7d1cp-20F;
  // Added, it leaves n + 254 in the low bits, twice the exponent's bias.
  constexpr float round_to_integer = 0x1.8p+23F + 254.0F;
  constexpr std::int32_t greatest = 0x4b400000 + 254 + 129;  // n = 129: infinity
  const float bounded = at_least_negative(x, 0xc2d00000U);   // -104
  const std::int32_t sum_bits = __builtin_bit_cast(std::int32_t, bounded * log2_e + round_to_integer);
  const std::int32_t shifted = sum_bits < greatest ? sum_bits : greatest;
  const float n = __builtin_bit_cast(float, shifted) - round_to_integer;
  const float r = (bounded - n * ln2_high) - n * ln2_low;  // |r| <= ln(2) / 2, or large, where x is
  float p = 0x1.6a234ap-10F;
  p = p * r + 0x1.123a6cp-7F;
  p = p * r + 0x1.5558f4p-5F;
  p = p * r + 0x1.555490p-3F;
  p = p * r + 0x1.fffffcp-2F;
  p = (p * r) * r + r;
  // In two steps, because 2^n alone may be subnormal or too large.
  const std::uint32_t twice = static_cast<std::uint32_t>(shifted);
  const std::uint32_t half = twice >> 1;
  const float first = __builtin_bit_cast(float, half << 23);
  const float second = __builtin_bit_cast(float, (twice - half) << 23);
  return (p * first + first) * second;
}

/// log(2^n (1 + f)) of sqrt(1/2) - 1 <= f < sqrt(2) - 1.
HEDDLE_ALWAYS_INLINE float log_of_product(float f, float n) {
  float p = 0x1.1457e4p-4F;
  p = p * f - 0x1.de3bf6p-4F;
  p = p * f + 0x1.e6f03cp-4F;
  p = p * f - 0x1.fc2208p-4F;
  p = p * f + 0x1.23376cp-3F;
  p = p * f - 0x1.555c4ep-3F;
  p = p * f + 0x1.99a4b6p-3F;
  p = p * f - 0x1.000006p-2F;
  p = p * f + 0x1.555548p-2F;
  const float square = f * f;
  p = p * f * square + n * -2.12194440e-4F;
  p = p - 0.5F * square;
  return (f + p) + n * 0.693359375F;
}

/// The natural logarithm: -infinity of 0, NaN of negative numbers.
HEDDLE_ALWAYS_INLINE float log_f32(float x) {
  constexpr float infinity = __builtin_huge_valf();
  constexpr float greatest = 0x1.fffffep+127F;
  constexpr std::int32_t root_half = 0x3f3504f3;
  // 1 for subnormal x (and for negative ones, whose result is NaN anyway). By arithmetic: from several comparisons of x
  // that imply each other g++ makes branches, and the loop around no longer vectorises.
  const std::int32_t subnormal = static_cast<std::int32_t>((__builtin_bit_cast(std::uint32_t, x) - 0x00800000U) >> 31);
  const float scaled = x * __builtin_bit_cast(float, 0x3f800000 + subnormal * (23 << 23));
  // x = 2^n m with m in [sqrt(1/2), sqrt(2)).
  const std::int32_t offset =
      static_cast<std::int32_t>(__builtin_bit_cast(std::uint32_t, scaled) - static_cast<std::uint32_t>(root_half));
  const float n = static_cast<float>((offset >> 23) - subnormal * 23);
  const float f = __builtin_bit_cast(float, (offset & 0x007fffff) + root_half) - 1.0F;
  const float result = log_of_product(f, n);
  // Added, not selected: g++ would move the whole computation behind a branch.
  float special = (__builtin_bit_cast(std::uint32_t, x) << 1) == 0 ? -infinity : 0.0F;
  special = x > greatest ? infinity : special;
  special = x >= 0.0F ? special : __builtin_nanf("");
  return result + special;
}

/// log(1 + x): -infinity of -1, NaN below.
HEDDLE_ALWAYS_INLINE float log1p_f32(float x) {
  constexpr float infinity = __builtin_huge_valf();
  constexpr float greatest = 0x1.fffffep+127F;
  constexpr std::int32_t root_half = 0x3f3504f3;
  constexpr std::int32_t greatest_bits = 0x7f7fffff;
  const std::int32_t x_bits = __builtin_bit_cast(std::int32_t, x);
  const float finite = __builtin_bit_cast(float, x_bits < greatest_bits ? x_bits : greatest_bits);
  // 1 + x = 2^n (1 + f): n of the rounded sum, f of x itself, so that what the sum lost is in it.
  const std::int32_t offset = static_cast<std::int32_t>(__builtin_bit_cast(std::uint32_t, 1.0F + finite) -
                                                        static_cast<std::uint32_t>(root_half));
  const std::int32_t n = offset >> 23;
  const float scale = power_of_two(2 - n);  // 4 times what is wanted, which may be subnormal
  const float f = (finite * scale) * 0.25F + (0.25F * scale - 1.0F);
  const float result = log_of_product(f, static_cast<float>(n));
  float special = x_bits == static_cast<std::int32_t>(0xbf800000U) ? -infinity : 0.0F;
  special = x > greatest ? infinity : special;
  special = x >= -1.0F ? special : __builtin_nanf("");
  const std::uint32_t sign = static_cast<std::uint32_t>(x_bits) & 0x80000000U;
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, result + special) | sign);  // log1p(-0) is -0
}

/// e^x - 1.
HEDDLE_ALWAYS_INLINE float expm1_f32(float x) {
  constexpr float log2_e = 0x1.715476p+0F;
  constexpr float ln2_high = 0x1.62e400p-1F;
  constexpr float ln2_low = 0x1.7f7d1cp-20F;
  constexpr float round_to_integer = 0x1.8p+23F + 126.0F;
  constexpr std::int32_t greatest = 0x4b400000 + 126 + 128;
  const float bounded = at_least_negative(x, 0xc18c0000U);  // -17.5: there it is -1
  const std::int32_t sum_bits = __builtin_bit_cast(std::int32_t, bounded * log2_e + round_to_integer);
  const std::int32_t shifted = sum_bits < greatest ? sum_bits : greatest;
  const float n = __builtin_bit_cast(float, shifted) - round_to_integer;
  const float r = (bounded - n * ln2_high) - n * ln2_low;
  const float half_power = __builtin_bit_cast(float, static_cast<std::uint32_t>(shifted) << 23);  // 2^(n - 1)
  float p = 0x1.6b8caep-10F;
  p = p * r + 0x1.1226a6p-7F;
  p = p * r + 0x1.555702p-5F;
  p = p * r + 0x1.5554b2p-3F;
  p = p * r + 0x1.fffffep-2F;
  p = (p * r) * r + r;
  const float result = 2.0F * (p * half_power + (half_power - 0.5F));
  const std::uint32_t sign = __builtin_bit_cast(std::uint32_t, x) & 0x80000000U;
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, result) | sign);  // expm1(-0) is -0
}

/// The hyperbolic tangent: e / (e + 1) of e = (e^2|x| - 1) / 2, with the sign of x.
HEDDLE_ALWAYS_INLINE float tanh_f32(float x) {
  constexpr float twice_log2_e = 0x1.715476p+1F;
  constexpr float half_ln2_high = 0x1.62e400p-2F;
  constexpr float half_ln2_low = 0x1.7f7d1cp-21F;
  constexpr float round_to_integer = 0x1.8p+23F + 127.0F;
  const float magnitude = magnitude_at_most(x, 0x41110000);  // 9.0625: there it is 1
  // Rounded down (0 to 0): e is a sum of positive terms then, and loses nothing.
  const float shifted = (magnitude * twice_log2_e - 0x1.ffffp-2F) + round_to_integer;
  const float n = shifted - round_to_integer;
  const float r = (magnitude - n * half_ln2_high) - n * half_ln2_low;  // 0 to ln(2) / 2
  const float power = __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, shifted) << 23);
  float p = 0x1.e9b6f8p-5F;  // (e^2r - 1) / 2
  p = p * r + 0x1.046db4p-3F;
  p = p * r + 0x1.5676b2p-2F;
  p = p * r + 0x1.554a1ap-1F;
  p = p * r + 0x1.000024p+0F;
  p = (p * r) * r + r;
  const float e = p * power + (0.5F * power - 0.5F);
  // For small e, where the denominator's rounding counts, e (1 - e / (e + 1)).
  const float ratio = e / (e + 1.0F);
  const float result = choose(mask_below(__builtin_bit_cast(std::uint32_t, e), 0x3ec00000U), e - e * ratio, ratio);
  const std::uint32_t sign = __builtin_bit_cast(std::uint32_t, x) & 0x80000000U;
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, result) | sign);  // tanh(-0) is -0
}

/// The complementary error function of x >= 0: t e^(p - x²) with t = 1 / (1 + x / 2) and p a polynomial of 1 - t. Its
/// relative error is 2^-21 near 0 and grows with x² as the square's rounding does.
HEDDLE_ALWAYS_INLINE float erfc_positive_f32(float x) {
  const float bounded = at_most(x, 10.2F);  // there it is 0
  const float t = 1.0F / (1.0F + 0.5F * bounded);
  const float u = 0.5F * bounded * t;
  float p = -0x1.254b2ep-3F;
  p = p * u + 0x1.3b6874p-1F;
  p = p * u - 0x1.d3eb66p-1F;
  p = p * u + 0x1.fe4258p-2F;
  p = p * u - 0x1.48d9d4p-3F;
  p = p * u + 0x1.f032f4p-3F;
  p = p * u + 0x1.3df10ap-3F;
  p = p * u - 0x1.362000p-2F;
  p = p * u - 0x1.41bb72p+0F;
  return t * exp_f32(p * u - bounded * bounded);
}

/// The error function.
HEDDLE_ALWAYS_INLINE float erf_f32(float x) {
  const float magnitude = __builtin_bit_cast(float, magnitude_bits(x));
  const std::uint32_t sign = __builtin_bit_cast(std::uint32_t, x) & 0x80000000U;
  const float square = x * x;
  float p = -0x1.4b1870p-11F;
  p = p * square + 0x1.4b075cp-8F;
  p = p * square - 0x1.b7220cp-6F;
  p = p * square + 0x1.ce23dep-4F;
  p = p * square - 0x1.81271ap-2F;
  p = p * square + 0x1.06eba8p-3F;
  const float near_zero = p * magnitude + magnitude;
  // Elsewhere 1 - erfc(x), the logarithm of erfc being a polynomial; from 4 on the result is 1.
  const float t = at_most(magnitude, 4.0F);
  float q = 0x1.ab2442p-13F;
  q = q * t - 0x1.98a9e8p-9F;
  q = q * t + 0x1.70f3ccp-6F;
  q = q * t - 0x1.ac2366p-4F;
  q = q * t - 0x1.45e5cep-1F;
  q = q * t - 0x1.20c89cp+0F;
  q = q * t - 0x1.b6660cp-14F;
  const float far = 1.0F - exp_f32(q) + nan_or_zero(x);
  const float result = choose(mask_below(magnitude_bits(x), 0x3f59999aU), near_zero, far);  // below 0.85
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, result) | sign);
}

/// Angles whose reduction to a quarter turn is exact enough; as bits.
inline constexpr std::uint32_t greatest_angle = 0x49800000U;  // 2^20

/// x - n pi / 2 of the nearest n; sets `beyond` where |x| is greater than greatest_angle, infinite or NaN.
HEDDLE_ALWAYS_INLINE float quarter_turn(float x, std::uint32_t& n, std::uint32_t& beyond) {
  constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
  constexpr double half_pi_high = 0x1.921fb544p+0;  // 33 bits: times n it is exact
  constexpr double half_pi_low = 0x1.0b4611a626331p-34;
  constexpr double round_to_integer = 0x1.8p+52;
  beyond |= ~mask_below(magnitude_bits(x), greatest_angle);
  const double wide = static_cast<double>(x);
  const double shifted = wide * two_over_pi + round_to_integer;
  n = static_cast<std::uint32_t>(__builtin_bit_cast(std::uint64_t, shifted));
  const double whole = shifted - round_to_integer;
  return static_cast<float>((wide - whole * half_pi_high) - whole * half_pi_low);
}
/// The sine of |r| <= pi / 4 if n is even, else the cosine.
HEDDLE_ALWAYS_INLINE float sine_of_quarter(float r, std::uint32_t n) {
  const float s = r * r;
  float odd = -0x1.9953p-13F;
  odd = odd * s + 0x1.110776p-7F;
  odd = odd * s - 0x1.555546p-3F;
  odd = (odd * s) * r + r;
  const std::uint32_t sign = __builtin_bit_cast(std::uint32_t, r) & 0x80000000U;  // sin(-0) is -0
  odd = __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, odd) | sign);
  float even = 0x1.99e904p-16F;
  even = even * s - 0x1.6c0c2ap-10F;
  even = even * s + 0x1.55554ap-5F;
  even = (even * s - 0.5F) * s + 1.0F;
  return choose(0U - (n & 1U), even, odd);
}
HEDDLE_ALWAYS_INLINE float with_sign_of_half_turn(float x, std::uint32_t n) {
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, x) ^ ((n & 2U) << 30));
}
/// The sine of radians.
HEDDLE_ALWAYS_INLINE float sin_f32(float x, std::uint32_t& beyond) {
  std::uint32_t n;
  const float r = quarter_turn(x, n, beyond);
  return with_sign_of_half_turn(sine_of_quarter(r, n), n);
}
/// The cosine of radians.
HEDDLE_ALWAYS_INLINE float cos_f32(float x, std::uint32_t& beyond) {
  std::uint32_t n;
  const float r = quarter_turn(x, n, beyond);
  return with_sign_of_half_turn(sine_of_quarter(r, n + 1U), n + 1U);
}
/// The tangent of radians.
HEDDLE_ALWAYS_INLINE float tan_f32(float x, std::uint32_t& beyond) {
  std::uint32_t n;
  const float r = quarter_turn(x, n, beyond);
  const float ratio = sine_of_quarter(r, n) / sine_of_quarter(r, n + 1U);
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, ratio) ^ ((n & 1U) << 31));
}

/// The sine and cosine of `turn` whole turns (2 pi turn), 0 <= turn < 1: the angle is reduced without rounding.
HEDDLE_ALWAYS_INLINE void sincos_turn_f32(float turn, float& sine, float& cosine) {
  const float quarters = turn * 4.0F;
  const std::int32_t q = static_cast<std::int32_t>(quarters + 0.5F);  // 0 to 4
  const float r = quarters - static_cast<float>(q);                   // a part of a quarter turn, |r| <= 1/2
  const float s = r * r;
  float odd = 0x1.4bc256p-13F;
  odd = odd * s - 0x1.32ca86p-8F;
  odd = odd * s + 0x1.466bbap-4F;
  odd = odd * s - 0x1.4abbcep-1F;
  odd = (odd * s + 0x1.921fb6p+0F) * r;
  float even = 0x1.d9f7bcp-11F;
  even = even * s - 0x1.55c664p-6F;
  even = even * s + 0x1.03c1dep-2F;
  even = (even * s - 0x1.3bd3ccp+0F) * s + 1.0F;
  // By bits: selects of both by one condition would become a branch.
  const std::uint32_t odd_bits = __builtin_bit_cast(std::uint32_t, odd);
  const std::uint32_t even_bits = __builtin_bit_cast(std::uint32_t, even);
  const std::uint32_t quarter = static_cast<std::uint32_t>(q);
  const std::uint32_t swap = (odd_bits ^ even_bits) & (0U - (quarter & 1U));
  sine = __builtin_bit_cast(float, (odd_bits ^ swap) ^ ((quarter & 2U) << 30));
  cosine = __builtin_bit_cast(float, (even_bits ^ swap) ^ (((quarter + 1U) & 2U) << 30));
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
