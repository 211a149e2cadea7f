#include "heddle/core/compare.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "core/number_samples.hpp"

namespace {

using heddle::bfloat16;
using heddle::half;

static_assert(heddle::cmp_less(-1, 1U) && !heddle::cmp_greater(-1, 1U) && !heddle::cmp_equal(-1, ~0U));
static_assert(!heddle::cmp_greater(std::int8_t{127}, 200) && heddle::cmp_not_equal(std::int8_t{-56}, 200));
static_assert(!heddle::cmp_equal((std::int64_t{1} << 53) + 1, 0x1p53) && !heddle::cmp_equal(16777217, 16777216.0f));
static_assert(heddle::cmp_less(std::numeric_limits<std::int64_t>::max(), 0x1p63));
static_assert(heddle::cmp_less_equal(half(0.5f), 1) && heddle::cmp_greater_equal(true, bfloat16(0.5f)));

template <class A, class B>
void expect_comparisons(const std::vector<A>& left, const std::vector<B>& right) {
  for (const A a : left) {
    for (const B b : right) {
      const auto x = static_cast<long double>(a);
      const auto y = static_cast<long double>(b);
      const bool right_answers = heddle::cmp_equal(a, b) == (x == y) && heddle::cmp_not_equal(a, b) == (x != y) &&
                                 heddle::cmp_less(a, b) == (x < y) && heddle::cmp_less_equal(a, b) == (x <= y) &&
                                 heddle::cmp_greater(a, b) == (x > y) && heddle::cmp_greater_equal(a, b) == (x >= y);
      ASSERT_TRUE(right_answers) << heddle::name_of<A> << " " << x << ", " << heddle::name_of<B> << " " << y;
    }
  }
}

template <class A>
class CompareTest : public testing::Test {};
using Types = testing::Types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                             std::uint32_t, std::uint64_t, half, bfloat16, float, double, long long>;
TYPED_TEST_SUITE(CompareTest, Types, );

TYPED_TEST(CompareTest, WithEveryElementType) {
  const std::vector<TypeParam> values = samples::of<TypeParam>();
  expect_comparisons(values, samples::of<bool>());
  expect_comparisons(values, samples::of<std::int8_t>());
  expect_comparisons(values, samples::of<std::int16_t>());
  expect_comparisons(values, samples::of<std::int32_t>());
  expect_comparisons(values, samples::of<std::int64_t>());
  expect_comparisons(values, samples::of<std::uint8_t>());
  expect_comparisons(values, samples::of<std::uint16_t>());
  expect_comparisons(values, samples::of<std::uint32_t>());
  expect_comparisons(values, samples::of<std::uint64_t>());
  expect_comparisons(values, samples::of<half>());
  expect_comparisons(values, samples::of<bfloat16>());
  expect_comparisons(values, samples::of<float>());
  expect_comparisons(values, samples::of<double>());
}

}  // namespace
