#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <type_traits>
#include <vector>

#include "heddle/core/half.hpp"

namespace {

using heddle::bfloat16;
using heddle::half;

// The reference knows only the widths of the fields. Values are long double: exact for every float, double and int64.
template <class T>
struct Format;
template <>
struct Format<half> {
  static constexpr int exponent_bits = 5, fraction_bits = 10;
};
template <>
struct Format<bfloat16> {
  static constexpr int exponent_bits = 8, fraction_bits = 7;
};

template <class T>
struct Reference {
  static constexpr int fraction_bits = Format<T>::fraction_bits;
  static constexpr int bias = (1 << (Format<T>::exponent_bits - 1)) - 1;
  static constexpr std::uint16_t infinity = ((1 << Format<T>::exponent_bits) - 1) << fraction_bits;

  // The values of all patterns without a sign. Infinity's stands for the number that would follow the greatest.
  static std::vector<long double> all_magnitudes() {
    std::vector<long double> values(infinity + 1);
    for (int bits = 0; bits <= infinity; ++bits) {
      const int exponent = bits >> fraction_bits;
      const int fraction = bits & ((1 << fraction_bits) - 1);
      const bool subnormal = exponent == 0;
      const auto digits = static_cast<long double>(subnormal ? fraction : fraction + (1 << fraction_bits));
      values[static_cast<std::size_t>(bits)] = std::ldexp(digits, (subnormal ? 1 : exponent) - bias - fraction_bits);
    }
    return values;
  }
  static long double magnitude(std::uint16_t bits) {
    static const std::vector<long double> values = all_magnitudes();
    return values[bits];
  }

  static bool is_nan(std::uint16_t bits) { return (bits & 0x7fff) > infinity; }

  static float decode(std::uint16_t bits) {
    const bool negative = bits >= 0x8000;
    const std::uint16_t rest = bits & 0x7fff;
    const float value = rest == infinity ? std::numeric_limits<float>::infinity() : static_cast<float>(magnitude(rest));
    return negative ? -value : value;
  }

  // The nearest of the two neighbours, the even one of two equally near ones.
  static std::uint16_t encode(long double value) {
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const long double rest = std::fabs(value);
    if (rest >= magnitude(infinity)) return sign | infinity;
    std::uint16_t low = 0, high = infinity;
    while (high - low > 1) {
      const auto middle = static_cast<std::uint16_t>((low + high) / 2);
      (rest < magnitude(middle) ? high : low) = middle;
    }
    const long double halfway = (magnitude(low) + magnitude(high)) / 2;
    const bool up = rest > halfway || (rest == halfway && low % 2 == 1);
    return sign | (up ? high : low);
  }
};

// Fatal: one failure says as much as four million.
template <class T, class Number>
void expect_rounded(Number value) {
  ASSERT_EQ(T(value).bits(), Reference<T>::encode(static_cast<long double>(value))) << "of " << std::hexfloat << +value;
}

static_assert(std::numeric_limits<long double>::digits >= 64, "the reference needs exact int64");

template <class T>
class HalfTest : public testing::Test {};
using Types = testing::Types<half, bfloat16>;
TYPED_TEST_SUITE(HalfTest, Types, );

template <class T>
constexpr bool is_plain_storage() {
  return sizeof(T) == 2 && alignof(T) == 2 && std::is_trivially_copyable_v<T> &&
         std::is_trivially_default_constructible_v<T> && std::is_standard_layout_v<T>;
}
static_assert(is_plain_storage<half>() && is_plain_storage<bfloat16>());

// To float implicit, from numbers and the other 16-bit type explicit.
static_assert(std::is_convertible_v<half, float> && std::is_convertible_v<bfloat16, float>);
static_assert(!std::is_convertible_v<float, half> && std::is_constructible_v<half, float>);
static_assert(!std::is_convertible_v<int, bfloat16> && std::is_constructible_v<bfloat16, int>);
static_assert(!std::is_convertible_v<half, bfloat16> && std::is_constructible_v<bfloat16, half>);
static_assert(!std::is_convertible_v<bfloat16, half> && std::is_constructible_v<half, bfloat16>);

// Arithmetic is float's.
static_assert(std::same_as<decltype(half() * 2.0f), float> && std::same_as<decltype(half() + half()), float>);
static_assert(std::same_as<decltype(bfloat16() / half()), float> && std::same_as<decltype(-bfloat16()), float>);
static_assert(std::same_as<decltype(half() * 2.0), double> && std::same_as<decltype(half() == half()), bool>);

// Constants.
static_assert(half(1.0f).bits() == 0x3c00 && half(-2).bits() == 0xc000 && half(0.1).bits() == 0x2e66);
static_assert(half(65536).bits() == 0x7c00 && half(1e-7f).bits() == 0x0002 && half(-1e-300).bits() == 0x8000);
static_assert(bfloat16(1.0f).bits() == 0x3f80 && bfloat16(3.14).bits() == 0x4049 && bfloat16(1e300).bits() == 0x7f80);
static_assert(bfloat16(1e-45).bits() == 0 && bfloat16(std::int64_t{-3}).bits() == 0xc040 &&
              half(true).bits() == 0x3c00);
static_assert(half(std::numeric_limits<float>::quiet_NaN()).bits() == 0x7e00);
static_assert(half::from_bits(0x3555) == 0x1.554p-2f && half::from_bits(0x0001) == 0x1p-24f);
static_assert(bfloat16::from_bits(0x4049) == 3.140625f && half().bits() == 0 && bfloat16().bits() == 0);

TYPED_TEST(HalfTest, EveryPatternToFloat) {
  using R = Reference<TypeParam>;
  for (int pattern = 0; pattern < 0x10000; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const float value = TypeParam::from_bits(bits);
    if (R::is_nan(bits)) {
      ASSERT_TRUE(std::isnan(value)) << std::hex << bits;
      ASSERT_EQ(std::signbit(value), bits >= 0x8000) << std::hex << bits;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(value), std::bit_cast<std::uint32_t>(R::decode(bits))) << std::hex << bits;
    }
  }
}

TYPED_TEST(HalfTest, EveryPatternThereAndBack) {
  using R = Reference<TypeParam>;
  constexpr std::uint16_t quiet = 1 << (R::fraction_bits - 1);
  for (int pattern = 0; pattern < 0x10000; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    const TypeParam value = TypeParam::from_bits(bits);
    ASSERT_EQ(value.bits(), bits);
    const std::uint16_t expected = R::is_nan(bits) ? bits | quiet : bits;
    ASSERT_EQ(TypeParam(static_cast<float>(value)).bits(), expected) << std::hex << bits;
    if (R::is_nan(bits)) continue;
    ASSERT_EQ(TypeParam(static_cast<double>(value)).bits(), expected) << std::hex << bits;
    ASSERT_EQ(TypeParam(static_cast<long double>(value)).bits(), expected) << std::hex << bits;
  }
}

// All boundaries between two roundings: the point halfway, and what is next to it in float and in double.
TYPED_TEST(HalfTest, EveryHalfwayPoint) {
  using R = Reference<TypeParam>;
  for (std::uint16_t low = 0; low < R::infinity; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    const auto exact = (R::magnitude(low) + R::magnitude(high)) / 2;
    const auto halfway = static_cast<float>(exact);
    ASSERT_EQ(static_cast<long double>(halfway), exact);
    const std::uint16_t even = low % 2 == 0 ? low : high;
    ASSERT_EQ(TypeParam(halfway).bits(), even) << std::hexfloat << halfway;
    ASSERT_EQ(TypeParam(-halfway).bits(), even | 0x8000) << std::hexfloat << halfway;
    for (const float near : {std::nextafter(halfway, 0.0f), std::nextafter(halfway, 3e38f * 10)}) {
      const std::uint16_t expected = near < halfway ? low : high;
      ASSERT_EQ(TypeParam(near).bits(), expected) << std::hexfloat << near;
      ASSERT_EQ(TypeParam(-near).bits(), expected | 0x8000) << std::hexfloat << near;
    }
    for (const double near : {std::nextafter(static_cast<double>(halfway), 0.0), static_cast<double>(halfway),
                              std::nextafter(static_cast<double>(halfway), 1e300)}) {
      const std::uint16_t expected = near < halfway ? low : near > halfway ? high : even;
      ASSERT_EQ(TypeParam(near).bits(), expected) << std::hexfloat << near;
      ASSERT_EQ(TypeParam(-near).bits(), expected | 0x8000) << std::hexfloat << near;
    }
  }
}

TYPED_TEST(HalfTest, RandomFloats) {
  std::mt19937 random(1);
  for (int i = 0; i < 2'000'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isnan(value)) continue;
    ASSERT_NO_FATAL_FAILURE(expect_rounded<TypeParam>(value));
  }
  // Exponents around half's range.
  std::uniform_int_distribution<int> exponent(-28, 17);
  for (int i = 0; i < 2'000'000; ++i) {
    ASSERT_NO_FATAL_FAILURE(expect_rounded<TypeParam>(std::ldexp(static_cast<float>(random()), exponent(random) - 32)));
  }
}

TYPED_TEST(HalfTest, RandomDoubles) {
  std::mt19937_64 random(2);
  std::uniform_int_distribution<int> exponent(-160, 140);
  std::uniform_int_distribution<int> last_bit(0, 63);
  for (int i = 0; i < 1'000'000; ++i) {
    // Few bits above and one below: what lies next to a point halfway.
    const std::uint64_t fraction = (random() >> 52 << 52) | (std::uint64_t{1} << last_bit(random));
    const double sign = i % 2 == 0 ? 1 : -1;
    const double value = sign * std::ldexp(static_cast<double>(fraction >> 11), exponent(random) - 53);
    ASSERT_NO_FATAL_FAILURE(expect_rounded<TypeParam>(value));
  }
  for (const double value : {1e300, -1e300, 1e-300, -1e-300, 5e-324, 0.0, -0.0, 0x1.fffffffffffffp1023}) {
    ASSERT_NO_FATAL_FAILURE(expect_rounded<TypeParam>(value));
  }
}

TYPED_TEST(HalfTest, RoundsDoubleOnce) {
  using R = Reference<TypeParam>;
  // Rounded to float first, these would lie halfway and go to the even neighbour.
  const double step = std::ldexp(1.0, -R::fraction_bits);
  EXPECT_EQ(TypeParam(1 + step / 2 + 0x1p-40).bits(), TypeParam(1).bits() + 1);
  EXPECT_EQ(TypeParam(1 + 3 * step / 2 - 0x1p-40).bits(), TypeParam(1).bits() + 1);
  EXPECT_EQ(TypeParam(1 + step / 2).bits(), TypeParam(1).bits());
}

template <class Integer, class T>
void expect_integers_rounded_once() {
  using Limits = std::numeric_limits<Integer>;
  std::vector<Integer> values{0, 1, Limits::min(), Limits::max(), Limits::max() / 2};
  std::mt19937_64 random(3);
  for (int shift = 0; shift < Limits::digits; ++shift) {
    for (int i = 0; i < 2000; ++i) {
      // A few leading bits, then nothing, one bit or all bits.
      const auto top = static_cast<Integer>(static_cast<Integer>(random() % 2048) << shift);
      const auto bit = static_cast<Integer>(Integer{1} << (random() % static_cast<unsigned>(Limits::digits)));
      for (const Integer value :
           {top, static_cast<Integer>(top | bit), static_cast<Integer>(top - (top > 0 ? 1 : 0))}) {
        values.push_back(value);
        values.push_back(static_cast<Integer>(~value));
      }
    }
  }
  for (const Integer value : values) ASSERT_NO_FATAL_FAILURE(expect_rounded<T>(value));
}

TYPED_TEST(HalfTest, RoundsIntegersOnce) {
  expect_integers_rounded_once<std::int8_t, TypeParam>();
  expect_integers_rounded_once<std::uint8_t, TypeParam>();
  expect_integers_rounded_once<std::int16_t, TypeParam>();
  expect_integers_rounded_once<std::uint16_t, TypeParam>();
  expect_integers_rounded_once<std::int32_t, TypeParam>();
  expect_integers_rounded_once<std::uint32_t, TypeParam>();
  expect_integers_rounded_once<std::int64_t, TypeParam>();
  expect_integers_rounded_once<std::uint64_t, TypeParam>();
  expect_integers_rounded_once<long long, TypeParam>();
  // By float, this would lie halfway and go down.
  EXPECT_EQ(bfloat16((std::int64_t{1} << 40) + (std::int64_t{1} << 32) + 1).bits(), bfloat16(0x1p40).bits() + 1);
  EXPECT_EQ(bfloat16((1 << 30) + (1 << 22) + 1).bits(), bfloat16(0x1p30).bits() + 1);
  EXPECT_EQ(TypeParam(true).bits(), TypeParam(1).bits());
  EXPECT_EQ(TypeParam(false).bits(), 0);
}

TYPED_TEST(HalfTest, NaNStaysQuietWithItsSignAndPayload) {
  using R = Reference<TypeParam>;
  constexpr int dropped = 23 - R::fraction_bits;
  constexpr std::uint16_t quiet = R::infinity | (1 << (R::fraction_bits - 1));
  for (const std::uint32_t bits : {0x7fc00000U, 0xffc00000U, 0x7f800001U, 0xff800001U, 0x7fffffffU, 0xffffffffU,
                                   0x7fa00000U, 0x7fd23456U, 0xffd23456U}) {
    const auto expected = static_cast<std::uint16_t>((bits >> 16 & 0x8000U) | quiet | (bits & 0x7fffffU) >> dropped);
    EXPECT_EQ(TypeParam(std::bit_cast<float>(bits)).bits(), expected) << std::hex << bits;
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(TypeParam(nan).bits(), quiet);
  EXPECT_EQ(TypeParam(-nan).bits(), quiet | 0x8000);
  // A payload in the bits that float lacks.
  EXPECT_TRUE(std::isnan(TypeParam(std::bit_cast<double>(0x7ff8000000000001U))));
}

TYPED_TEST(HalfTest, InfinityAndOverflow) {
  using R = Reference<TypeParam>;
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(TypeParam(static_cast<float>(inf)).bits(), R::infinity);
  EXPECT_EQ(TypeParam(static_cast<float>(-inf)).bits(), R::infinity | 0x8000);
  EXPECT_EQ(TypeParam(inf).bits(), R::infinity);
  EXPECT_EQ(TypeParam(-inf).bits(), R::infinity | 0x8000);
  EXPECT_EQ(static_cast<float>(TypeParam(inf)), inf);
  EXPECT_EQ(TypeParam(-0.0f).bits(), 0x8000);
  EXPECT_EQ(TypeParam(-0.0).bits(), 0x8000);
}

TYPED_TEST(HalfTest, CompoundAssignmentComputesInFloat) {
  TypeParam x(3);
  x += 1;
  EXPECT_EQ(x, 4);
  x -= TypeParam(1.5f);
  EXPECT_EQ(x, 2.5f);
  x *= 2;
  EXPECT_EQ(x, 5);
  (x /= 4) += 1;
  EXPECT_EQ(x, 2.25f);
  // 1/3 is only rounded after the multiplication.
  TypeParam y(3);
  y *= 1.0f / 3.0f;
  EXPECT_EQ(y, 1);
}

TYPED_TEST(HalfTest, ComparesAsFloat) {
  const TypeParam nan(std::numeric_limits<float>::quiet_NaN());
  EXPECT_FALSE(nan == nan);
  EXPECT_TRUE(nan != nan);
  EXPECT_TRUE(TypeParam(-0.0f) == TypeParam(0.0f));
  EXPECT_TRUE(TypeParam(-1) < TypeParam(2) && TypeParam(2) >= 2 && TypeParam(0.5f) > bfloat16(0.25f));
}

TYPED_TEST(HalfTest, BetweenTheTwo) {
  EXPECT_EQ(half(bfloat16(1.5f)).bits(), half(1.5f).bits());
  EXPECT_EQ(half(bfloat16(1e20f)).bits(), 0x7c00);
  EXPECT_EQ(bfloat16(half(1.0f + 0x1p-8f)).bits(), 0x3f80);
  EXPECT_EQ(bfloat16(half(1.0f + 3 * 0x1p-8f)).bits(), 0x3f82);
}

TYPED_TEST(HalfTest, PrintsAsFloat) {
  std::ostringstream text;
  text << TypeParam(2.5f);
  EXPECT_EQ(text.str(), "2.5");
}

TYPED_TEST(HalfTest, NumericLimits) {
  using R = Reference<TypeParam>;
  using L = std::numeric_limits<TypeParam>;
  EXPECT_TRUE(L::is_specialized && L::is_signed && !L::is_integer && !L::is_exact && L::is_iec559);
  EXPECT_EQ(L::max().bits(), R::infinity - 1);
  EXPECT_EQ(L::lowest().bits(), (R::infinity - 1) | 0x8000);
  EXPECT_EQ(L::min().bits(), 1 << R::fraction_bits);
  EXPECT_EQ(L::denorm_min().bits(), 1);
  EXPECT_EQ(L::infinity().bits(), R::infinity);
  EXPECT_EQ(L::epsilon(), std::ldexp(1.0f, -R::fraction_bits));
  EXPECT_EQ(L::round_error(), 0.5f);
  EXPECT_TRUE(std::isnan(L::quiet_NaN()) && std::isnan(L::signaling_NaN()));
  EXPECT_EQ(TypeParam(static_cast<float>(L::quiet_NaN())).bits(), L::quiet_NaN().bits());
  EXPECT_NE(TypeParam(static_cast<float>(L::signaling_NaN())).bits(), L::signaling_NaN().bits());
  EXPECT_EQ(L::digits, R::fraction_bits + 1);
  EXPECT_EQ(L::radix, 2);
  EXPECT_EQ(L::min_exponent, std::ilogb(static_cast<float>(L::min())) + 1);
  EXPECT_EQ(L::max_exponent, std::ilogb(static_cast<float>(L::max())) + 1);
  EXPECT_EQ(L::min_exponent10, static_cast<int>(std::ceil(std::log10(static_cast<double>(L::min())))));
  EXPECT_EQ(L::max_exponent10, static_cast<int>(std::floor(std::log10(static_cast<double>(L::max())))));
  EXPECT_EQ(L::digits10, static_cast<int>((L::digits - 1) * std::log10(2.0)));
  EXPECT_EQ(L::max_digits10, static_cast<int>(std::ceil(1 + L::digits * std::log10(2.0))));
}

// A loop over many elements must give what a single conversion gives, however it is vectorised.
TYPED_TEST(HalfTest, LoopsOverArrays) {
  using R = Reference<TypeParam>;
  std::vector<TypeParam> patterns(0x10000);
  for (int i = 0; i < 0x10000; ++i)
    patterns[static_cast<std::size_t>(i)] = TypeParam::from_bits(static_cast<std::uint16_t>(i));
  std::vector<float> values(patterns.size());
  std::vector<TypeParam> doubled(patterns.size());
  for (std::size_t i = 0; i < values.size(); i += 64) {
    for (std::size_t j = i; j < i + 64; ++j) values[j] = patterns[j];
    for (std::size_t j = i; j < i + 64; ++j) doubled[j] = TypeParam(values[j] * 2 + values[j] * 0x1p-9f);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      ASSERT_TRUE(R::is_nan(static_cast<std::uint16_t>(i)) && R::is_nan(doubled[i].bits()));
      continue;
    }
    ASSERT_EQ(values[i], R::decode(static_cast<std::uint16_t>(i)));
    ASSERT_EQ(doubled[i].bits(), R::encode(values[i] * 2 + values[i] * 0x1p-9f));
  }
}

TEST(Bfloat16, R065_RoundsToNearestEven) {
  const float inputs[] = {0.26914087f, 3.14f, 1.00390625f, 1.01171875f, 3.4028235e38f};
  const float values[] = {0.26953125f, 3.140625f, 1.0f, 1.015625f, std::numeric_limits<float>::infinity()};
  const std::uint16_t bits[] = {0x3e8a, 0x4049, 0x3f80, 0x3f82, 0x7f80};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(bfloat16(inputs[i]).bits(), bits[i]);
    EXPECT_EQ(bfloat16(static_cast<double>(inputs[i])).bits(), bits[i]);
    EXPECT_EQ(bfloat16(inputs[i]), values[i]);
  }
}

TEST(Half, R067_OverflowsToInfinity) {
  const float inf = std::numeric_limits<float>::infinity();
  const float inputs[] = {65504, 65519, 65520, 65536, -65536, 2049, 2051, 5.96e-8f, 2.98e-8f, 1e-8f};
  const float values[] = {65504, 65504, inf, inf, -inf, 2048, 2052, 5.9604645e-8f, 0, 0};
  for (int i = 0; i < 10; ++i) {
    volatile float computed = inputs[i];
    EXPECT_EQ(half(computed), values[i]) << inputs[i];
    EXPECT_EQ(half(static_cast<double>(computed)), values[i]) << inputs[i];
  }
}

}  // namespace
