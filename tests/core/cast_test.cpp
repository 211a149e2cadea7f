#include "heddle/core/cast.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/number_samples.hpp"

namespace {

using heddle::bfloat16;
using heddle::cast_element;
using heddle::half;

static_assert(cast_element<std::int8_t>(300.0f) == 127 && cast_element<std::int8_t>(-1e30) == -128);
static_assert(cast_element<std::uint64_t>(1e30) == ~std::uint64_t{0} && cast_element<std::uint8_t>(-3.0f) == 0);
static_assert(cast_element<std::uint8_t>(-3) == 253 && cast_element<int>(std::int64_t{1} << 32 | 7) == 7);
static_assert(cast_element<bool>(std::numeric_limits<double>::quiet_NaN()) && cast_element<bool>(0.5f));
static_assert(!cast_element<bool>(half(-0.0f)) && cast_element<bool>(bfloat16(1e-30f)) && cast_element<bool>(256));
static_assert(cast_element<int>(std::numeric_limits<float>::quiet_NaN()) == 0 && cast_element<int>(half(-2.75f)) == -2);
static_assert(cast_element<half>(1 + 0x1p-11 + 0x1p-40).bits() == 0x3c01);
static_assert(cast_element<half>(bfloat16(3)).bits() == 0x4200 && cast_element<float>(true) == 1.0f);

template <class To, class From>
To expected_cast(From value) {
  if constexpr (std::same_as<To, bool>) {
    return !(value == From(0));
  } else if constexpr (heddle::kind_of<To> == heddle::kind::floating) {
    return To(value);
  } else if constexpr (heddle::kind_of<From> == heddle::kind::floating) {
    if (std::isnan(static_cast<double>(value))) return 0;
    const long double whole = std::trunc(static_cast<long double>(value));
    if (whole > static_cast<long double>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    if (whole < static_cast<long double>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(whole);
  } else {
    // C++20 defines it: modulo 2^width.
    return static_cast<To>(value);
  }
}

template <class To, class From>
void expect_casts(const std::vector<From>& values) {
  for (const From value : values) {
    const To result = cast_element<To>(value);
    const To expected = expected_cast<To>(value);
    if constexpr (heddle::kind_of<To> == heddle::kind::floating) {
      if (std::isnan(static_cast<double>(expected))) {
        ASSERT_TRUE(std::isnan(static_cast<double>(result)));
        continue;
      }
    }
    ASSERT_EQ(result, expected) << heddle::name_of<From> << " " << +value << " to " << heddle::name_of<To>;
  }
}

template <class From>
class CastTest : public testing::Test {};
using Types = testing::Types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                             std::uint32_t, std::uint64_t, half, bfloat16, float, double, long long>;
TYPED_TEST_SUITE(CastTest, Types, );

TYPED_TEST(CastTest, ToEveryElementType) {
  const std::vector<TypeParam> values = samples::of<TypeParam>();
  expect_casts<bool>(values);
  expect_casts<std::int8_t>(values);
  expect_casts<std::int16_t>(values);
  expect_casts<std::int32_t>(values);
  expect_casts<std::int64_t>(values);
  expect_casts<std::uint8_t>(values);
  expect_casts<std::uint16_t>(values);
  expect_casts<std::uint32_t>(values);
  expect_casts<std::uint64_t>(values);
  expect_casts<half>(values);
  expect_casts<bfloat16>(values);
  expect_casts<float>(values);
  expect_casts<double>(values);
}

}  // namespace
