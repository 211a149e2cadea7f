// Mathematical functions of several operands, and those of integers.
#include <heddle/ops/create.hpp>
#include <heddle/ops/math.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "harness/expect.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::list;
using reference::List;
using reference::map;

const List specials{0.0, -0.0, 1, -1, 0.5, -2, 3, INFINITY, -INFINITY, NAN, 0x1p-149, -0x1p-126, 3.4028235e38};

template <class T>
TestTensor<T, 1> row(List values) {
  return to_tensor<T, 1>(list(std::move(values)));
}

template <class T>
struct Pairs : testing::Test {
  const Array values = rounded_to<T>(uniform({300}, -5, 5, 1)), others = rounded_to<T>(uniform({300}, -5, 5, 2));
  const TestTensor<T, 1> left = to_tensor<T, 1>(values), right = to_tensor<T, 1>(others, Layout::sliced);
};
using FloatTypes = testing::Types<hd::half, hd::bfloat16, float, double>;
TYPED_TEST_SUITE(Pairs, FloatTypes);

TYPED_TEST(Pairs, atan2_hypot_and_pow) {
  const auto check = [](const char* name, const Array& got, const Array& want) {
    EXPECT_TRUE(close(got, want, tolerance::map<TypeParam>(name, want))) << name;
  };
  check("atan2", value_of(hd::atan2(this->left, this->right)),
        map([](double y, double x) { return static_cast<double>(std::atan2(static_cast<long double>(y), x)); },
            this->values, this->others));
  check("hypot", value_of(hd::hypot(this->left, this->right)),
        map([](double x, double y) { return static_cast<double>(std::hypot(static_cast<long double>(x), y)); },
            this->values, this->others));
  const auto power = [](double x, double y) { return static_cast<double>(std::pow(static_cast<long double>(x), y)); };
  check("pow", value_of(hd::pow(hd::abs(this->left), this->right)),
        map(power, reference::abs(this->values), this->others));
  check("pow", value_of(hd::pow(this->left, 3)), map(power, this->values, Array({}, 3)));
  check("pow", value_of(hd::pow(this->left, 2)), map(power, this->values, Array({}, 2)));
}

TYPED_TEST(Pairs, minimum_maximum_and_clamp_select) {
  const auto lesser = [](double a, double b) { return std::isnan(a) || a < b ? a : b; };
  const auto greater = [](double a, double b) { return std::isnan(a) || a > b ? a : b; };
  expect_equal<TypeParam, 1>([&] { return hd::minimum(this->left, this->right); },
                             map(lesser, this->values, this->others));
  expect_equal<TypeParam, 1>([&] { return hd::maximum(this->left, this->right); },
                             map(greater, this->values, this->others));
  expect_equal<TypeParam, 1>([&] { return hd::clamp(this->left, -1, 2); },
                             map([](double v) { return v < -1  ? -1
                                                       : v > 2 ? 2
                                                               : v; }, this->values));
  // The upper bound wins where they cross.
  EXPECT_TRUE(equal(value_of(hd::clamp(this->left, 2, -1)), Array({300}, -1)));
}

TYPED_TEST(Pairs, R037_nan_passes_minimum_maximum_and_clamp) {
  for (const std::int64_t length : {1, 8, 9, 33}) {
    for (const std::int64_t place : {std::int64_t{0}, length - 1}) {
      Array with_nan({length}, 0.5);
      with_nan[place] = NAN;
      const auto z = to_tensor<TypeParam, 1>(with_nan);
      EXPECT_TRUE(equal(value_of(hd::clamp(z, 0, 1)), with_nan));
      EXPECT_TRUE(equal(value_of(hd::minimum(z, 1)), with_nan));
      EXPECT_TRUE(equal(value_of(hd::maximum(0, z)), with_nan));
      EXPECT_TRUE(equal(value_of(hd::minimum(1, z)), with_nan));
    }
  }
}

TYPED_TEST(Pairs, lerp) {
  const Array want = map([](double a, double b) { return a + 0.3 * (b - a); }, this->values, this->others);
  EXPECT_TRUE(close(value_of(hd::lerp(this->left, this->right, 0.3)), want, tolerance::composite<TypeParam>(want)));
  EXPECT_TRUE(equal(value_of(hd::lerp(this->left, this->right, 0)), this->values));
  EXPECT_TRUE(equal(value_of(hd::lerp(this->left, this->right, 1)), this->others));
}

TEST(MathPairs, special_values) {
  const auto count = static_cast<std::int64_t>(specials.size());
  const auto x = to_tensor<float, 2>(Array({count, 1}, specials));
  const auto y = to_tensor<float, 2>(Array({1, count}, specials));
  const Array a = to_array(x), b = to_array(y);
  const auto check = [&](const char* name, const Array& got, double (*f)(double, double)) {
    const Array want = rounded_to<float>(map(f, a, b));
    EXPECT_TRUE(close(got, want, tolerance::map<float>(name, want))) << name;
  };
  check("pow", value_of(hd::pow(x, y)), std::pow);
  check("atan2", value_of(hd::atan2(x, y)), std::atan2);
  check("hypot", value_of(hd::hypot(x, y)), std::hypot);
  check("minimum", value_of(hd::minimum(x, y)), [](double p, double q) { return std::isnan(p) || p < q ? p : q; });
  check("maximum", value_of(hd::maximum(x, y)), [](double p, double q) { return std::isnan(p) || p > q ? p : q; });
}

TEST(MathPairs, halves_do_not_overflow_on_the_way) {
  EXPECT_TRUE(equal(value_of(hd::hypot(row<float>({3e38}), row<float>({0}))), rounded_to<float>(list({3e38}))));
  EXPECT_TRUE(equal(value_of(hd::sqrt(hd::square(row<hd::half>({300, -1000})))), list({300, 1000})));
}

template <class T>
struct Integers : testing::Test {};
using IntegerTypes = testing::Types<std::int8_t, std::uint8_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

TYPED_TEST(Integers, functions_that_stay) {
  const bool negative = std::is_signed_v<TypeParam>;
  const auto x = row<TypeParam>(negative ? List{-3, 0, 7} : List{3, 0, 7});
  static_assert(std::is_same_v<typename decltype(hd::abs(x))::value_type, TypeParam>);
  EXPECT_TRUE(equal(value_of(hd::abs(x)), list({3, 0, 7})));
  EXPECT_TRUE(equal(value_of(hd::sign(x)), list({negative ? -1.0 : 1.0, 0, 1})));
  EXPECT_TRUE(equal(value_of(hd::square(x)), list({9, 0, 49})));
  EXPECT_TRUE(equal(value_of(hd::floor(x)), to_array(x)));
  EXPECT_TRUE(equal(value_of(hd::ceil(x)), to_array(x)));
  EXPECT_TRUE(equal(value_of(hd::round(x)), to_array(x)));
  EXPECT_TRUE(equal(value_of(hd::maximum(x, 2)), list({negative ? 2.0 : 3.0, 2, 7})));
  EXPECT_TRUE(equal(value_of(hd::clamp(x, 1, 5)), list({negative ? 1.0 : 3.0, 1, 5})));
  EXPECT_TRUE(equal(value_of(hd::isnan(x)), list({0, 0, 0})));
  EXPECT_TRUE(equal(value_of(hd::isfinite(x)), list({1, 1, 1})));
}

TEST(MathPairs, bounds_beyond_the_range_of_a_type_bound_at_its_end) {
  const auto x = to_tensor<std::uint8_t, 1>(list({0, 1, 200, 255}));
  EXPECT_TRUE(equal(to_array(hd::clamp(x, -5, 300).eval()), list({0, 1, 200, 255})));
  EXPECT_TRUE(equal(to_array(hd::clamp(x, -5, 100).eval()), list({0, 1, 100, 100})));
  EXPECT_TRUE(equal(to_array(hd::maximum(x, -1).eval()), list({0, 1, 200, 255})));
  EXPECT_TRUE(equal(to_array(hd::minimum(std::uint64_t{1} << 63, x).eval()), list({0, 1, 200, 255})));
}

TYPED_TEST(Integers, powers_wrap) {
  const auto x = row<TypeParam>({2, 3, 0, 1});
  EXPECT_TRUE(equal(value_of(hd::pow(x, 3)), list({8, 27, 0, 1})));
  EXPECT_TRUE(equal(value_of(hd::pow(x, 0)), list({1, 1, 1, 1})));
  constexpr int bits = 8 * sizeof(TypeParam);
  EXPECT_TRUE(equal(value_of(hd::pow(row<TypeParam>({2}), bits)), list({0})));
  if constexpr (std::is_signed_v<TypeParam>) {
    EXPECT_TRUE(equal(value_of(hd::pow(row<TypeParam>({2, 1, -1, -1, -3}), row<TypeParam>({-1, -5, -3, -2, 3}))),
                      list({0, 1, -1, 1, -27})));
    constexpr TypeParam least = std::numeric_limits<TypeParam>::min();
    const std::vector<TypeParam> values{least};
    const auto lowest = hd::from_host<TypeParam>(values, {1}, test_device());
    EXPECT_EQ(hd::abs(lowest).to_vector(), values);
    EXPECT_EQ(hd::sign(lowest).to_vector(), std::vector<TypeParam>{-1});
  }
}

TYPED_TEST(Integers, functions_that_give_float) {
  const auto x = row<TypeParam>({0, 1, 4});
  static_assert(std::is_same_v<typename decltype(hd::sqrt(x))::value_type, float>);
  EXPECT_TRUE(equal(value_of(hd::sqrt(x)), list({0, 1, 2})));
  EXPECT_TRUE(equal(value_of(hd::exp2(x)), list({1, 2, 16})));
  EXPECT_TRUE(equal(value_of(hd::reciprocal(x)), list({INFINITY, 1, 0.25})));
}

TEST(Bool, functions) {
  const auto x = row<bool>({0, 1});
  static_assert(std::is_same_v<decltype(hd::abs(x))::value_type, bool>);
  EXPECT_TRUE(equal(value_of(hd::abs(x)), list({0, 1})));
  EXPECT_TRUE(equal(value_of(hd::maximum(x, row<bool>({1, 0}))), list({1, 1})));
  EXPECT_TRUE(equal(value_of(hd::exp2(x)), list({1, 2})));
}

}  // namespace
