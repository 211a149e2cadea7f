#include "heddle/core/integer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "core/number_samples.hpp"

namespace {

using heddle::integer_divide;
using heddle::integer_floor_divide;
using heddle::integer_floor_remainder;
using heddle::integer_remainder;
using heddle::shift_left;
using heddle::shift_right;

static_assert(heddle::wrapping_add<std::int8_t>(127, 1) == -128 && heddle::wrapping_subtract(0U, 1U) == ~0U);
// As unsigned short these would be multiplied in int, and overflow it.
static_assert(heddle::wrapping_multiply<std::uint16_t>(65535, 65535) == 1);
static_assert(heddle::wrapping_negate(std::numeric_limits<int>::min()) == std::numeric_limits<int>::min());
static_assert(heddle::wrapping_abs<std::int8_t>(-128) == -128 && heddle::wrapping_abs(-5) == 5);
static_assert(integer_divide(std::numeric_limits<int>::min(), -1) == std::numeric_limits<int>::min());
static_assert(integer_remainder(std::numeric_limits<int>::min(), -1) == 0 && integer_remainder(-7, 0) == 0);
static_assert(integer_divide(-7, 2) == -3 && integer_remainder(-7, 2) == -1 && integer_divide(7, 0) == 0);
static_assert(integer_floor_divide(-7, 2) == -4 && integer_floor_remainder(-7, 2) == 1);
static_assert(integer_floor_divide(7, -2) == -4 && integer_floor_remainder(7, -2) == -1);
static_assert(shift_left(1, 31) == std::numeric_limits<int>::min() && shift_left(1, 32) == 0 && shift_left(1, -1) == 0);
static_assert(shift_left<std::int8_t>(64, 1) == -128 && shift_left<std::uint8_t>(255, 8) == 0);
static_assert(shift_right(-8, 1) == -4 && shift_right(-8, 32) == -1 && shift_right(-8, -1) == -1);
static_assert(shift_right(8, 32) == 0 && shift_right(8, -1) == 0 && shift_right(~0U, 31) == 1 &&
              shift_right(~0U, 32) == 0);

// Wide enough for every sum, product and shift of two 64-bit numbers, where it does not wrap itself.
__extension__ using Wide = __int128;

template <class T>
T wrapped(Wide value) {
  return static_cast<T>(static_cast<std::uint64_t>(value));
}

template <class T>
class IntegerTest : public testing::Test {};
using Types = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                             std::uint32_t, std::uint64_t, long long>;
TYPED_TEST_SUITE(IntegerTest, Types, );

template <class T>
Wide floor_quotient(T a, T b) {
  const Wide quotient = Wide{a} / Wide{b};
  return quotient * Wide{b} != Wide{a} && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

TYPED_TEST(IntegerTest, Arithmetic) {
  using T = TypeParam;
  for (const T a : samples::of<T>()) {
    ASSERT_EQ(heddle::wrapping_negate(a), wrapped<T>(-Wide{a}));
    ASSERT_EQ(heddle::wrapping_abs(a), wrapped<T>(a < 0 ? -Wide{a} : Wide{a}));
    for (const T b : samples::of<T>()) {
      ASSERT_EQ(heddle::wrapping_add(a, b), wrapped<T>(Wide{a} + Wide{b}));
      ASSERT_EQ(heddle::wrapping_subtract(a, b), wrapped<T>(Wide{a} - Wide{b}));
      const auto product = static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b);
      ASSERT_EQ(heddle::wrapping_multiply(a, b), static_cast<T>(product));
    }
  }
}

TYPED_TEST(IntegerTest, Division) {
  using T = TypeParam;
  for (const T a : samples::of<T>()) {
    for (const T b : samples::of<T>()) {
      if (b == 0) {
        ASSERT_EQ(integer_divide(a, b), 0);
        ASSERT_EQ(integer_remainder(a, b), 0);
        ASSERT_EQ(integer_floor_divide(a, b), 0);
        ASSERT_EQ(integer_floor_remainder(a, b), 0);
        continue;
      }
      ASSERT_EQ(integer_divide(a, b), wrapped<T>(Wide{a} / Wide{b})) << +a << " / " << +b;
      ASSERT_EQ(integer_remainder(a, b), wrapped<T>(Wide{a} % Wide{b})) << +a << " % " << +b;
      const Wide floor = floor_quotient(a, b);
      ASSERT_EQ(integer_floor_divide(a, b), wrapped<T>(floor)) << +a << " // " << +b;
      ASSERT_EQ(integer_floor_remainder(a, b), wrapped<T>(Wide{a} - floor * Wide{b})) << +a << " mod " << +b;
    }
  }
}

template <class T, class Count>
void expect_shifts() {
  constexpr int width = 8 * sizeof(T);
  for (const T a : samples::of<T>()) {
    for (const Count count : samples::of<Count>()) {
      const bool within = Wide{count} >= 0 && Wide{count} < width;
      Wide left = a, right = a;
      for (int i = 0; within && i < static_cast<int>(count); ++i) {
        left = wrapped<T>(left * 2);
        right = right >= 0 ? right / 2 : (right - 1) / 2;
      }
      if (!within) left = 0, right = a < 0 ? -1 : 0;
      ASSERT_EQ(shift_left(a, count), wrapped<T>(left)) << +a << " << " << +count;
      ASSERT_EQ(shift_right(a, count), wrapped<T>(right)) << +a << " >> " << +count;
    }
  }
}

TYPED_TEST(IntegerTest, Shifts) {
  expect_shifts<TypeParam, TypeParam>();
  expect_shifts<TypeParam, std::int8_t>();
  expect_shifts<TypeParam, std::uint8_t>();
  expect_shifts<TypeParam, int>();
  expect_shifts<TypeParam, std::int64_t>();
  expect_shifts<TypeParam, std::uint64_t>();
}

}  // namespace
