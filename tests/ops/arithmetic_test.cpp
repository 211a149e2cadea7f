#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>

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
using reference::map;

/// floor(a / b), b not 0.
double floored(double a, double b) { return std::floor(a / b); }
/// C++'s remainder and Python's.
double truncated_rest(double a, double b) { return std::fmod(a, b); }
double floored_rest(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// What is left of a true value when it is stored in T: integers wrap.
template <class T>
Array stored_in(Array x) {
  if constexpr (hd::kind_of<T> != hd::kind::floating) {
    for (double& value : x.values)
      value = static_cast<double>(static_cast<T>(static_cast<std::uint64_t>(static_cast<std::int64_t>(value))));
    return x;
  } else {
    return rounded_to<T>(x);
  }
}

/// Values of T whose sums, differences and products are exact in double and, for integers narrower than 64 bits, wrap.
template <class T>
Array wide_values(const Extents& shape, unsigned seed) {
  if constexpr (hd::kind_of<T> == hd::kind::floating) return rounded_to<T>(uniform(shape, -100, 100, seed));
  constexpr double high =
      sizeof(T) == 8 ? 0x1p25 : static_cast<double>(std::numeric_limits<T>::max()) / (sizeof(T) == 4 ? 64 : 1);
  Array x = uniform(shape, std::is_signed_v<T> ? -high - 1 : 0, high, seed);
  for (double& value : x.values) value = std::trunc(value);
  return x;
}

template <class T>
struct Arithmetic : testing::Test {
  const Array a = wide_values<T>({7, 33}, 1);
  Array b = wide_values<T>({7, 33}, 2);
  Array divisor = b;
  TestTensor<T, 2> x = to_tensor<T, 2>(a, Layout::sliced);
  TestTensor<T, 2> y = to_tensor<T, 2>(b, Layout::transposed);
  TestTensor<T, 2> d;

  Arithmetic() {
    for (double& value : divisor.values)
      if (value == 0) value = 3;
    d = to_tensor<T, 2>(divisor);
  }
  static constexpr bool is_integer = hd::kind_of<T> == hd::kind::integer;

  /// A single operation is correctly rounded: double has digits enough that rounding its result to T is the same.
  template <class Make>
  void check(Make make, const Array& want) {
    expect_equal<T, 2>(make, stored_in<T>(want));
  }
};
using Types =
    testing::Types<std::int8_t, std::uint8_t, std::int32_t, std::int64_t, hd::half, hd::bfloat16, float, double>;
TYPED_TEST_SUITE(Arithmetic, Types);

TYPED_TEST(Arithmetic, add) {
  this->check([&] { return this->x + this->y; }, this->a + this->b);
}
TYPED_TEST(Arithmetic, subtract) {
  this->check([&] { return this->x - this->y; }, this->a - this->b);
}
TYPED_TEST(Arithmetic, multiply) {
  this->check([&] { return this->x * this->y; }, this->a * this->b);
}
TYPED_TEST(Arithmetic, divide) {
  const Array quotient = this->a / this->divisor;
  this->check([&] { return this->x / this->d; },
              this->is_integer ? map([](double v) { return std::trunc(v); }, quotient) : quotient);
}
TYPED_TEST(Arithmetic, modulo) {
  this->check([&] { return this->x % this->d; }, map(truncated_rest, this->a, this->divisor));
}
TYPED_TEST(Arithmetic, remainder) {
  const Array want = map(floored_rest, this->a, this->divisor);
  // The sum that turns the sign rounds.
  expect_close<TypeParam, 2>([&] { return hd::remainder(this->x, this->d); }, stored_in<TypeParam>(want),
                             this->is_integer ? tolerance::exact(want) : tolerance::map<TypeParam>("remainder", want));
}
TYPED_TEST(Arithmetic, floor_divide) {
  this->check([&] { return hd::floor_divide(this->x, this->d); }, map(floored, this->a, this->divisor));
}
TYPED_TEST(Arithmetic, negate) {
  this->check([&] { return -this->x; }, map([](double v) { return -v; }, this->a));
}
TYPED_TEST(Arithmetic, with_scalars) {
  this->check([&] { return 5 - this->x; }, Array({}, 5) - this->a);
  this->check([&] { return this->x * 3; }, this->a * Array({}, 3));
}

// ---- integers

template <class T>
TestTensor<T, 1> integers_of(const std::vector<T>& values) {
  return hd::from_host<T>(values, {static_cast<hd::index_t>(values.size())}, test_device());
}

TEST(IntegerArithmetic, wraps) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  const auto x = integers_of<std::int64_t>({most, least, 1, most});
  const auto y = integers_of<std::int64_t>({1, -1, least, most});
  EXPECT_EQ((x + y).to_vector(), (std::vector<std::int64_t>{least, most, least + 1, -2}));
  EXPECT_EQ((x - y).to_vector(), (std::vector<std::int64_t>{most - 1, least + 1, least + 1, 0}));
  EXPECT_EQ((x * y).to_vector(), (std::vector<std::int64_t>{most, least, least, 1}));
  EXPECT_EQ((-x).to_vector(), (std::vector<std::int64_t>{-most, least, -1, -most}));
  const auto u = integers_of<std::uint64_t>({0, ~std::uint64_t{0}});
  EXPECT_EQ((u - 1).to_vector(), (std::vector<std::uint64_t>{~std::uint64_t{0}, ~std::uint64_t{0} - 1}));
  EXPECT_EQ((-u).to_vector(), (std::vector<std::uint64_t>{0, 1}));
  const auto i = integers_of<std::int32_t>({2147483647, -2147483647 - 1});
  EXPECT_EQ((i + 1).to_vector(), (std::vector<std::int32_t>{-2147483647 - 1, -2147483647}));
  EXPECT_EQ((i * i).to_vector(), (std::vector<std::int32_t>{1, 0}));
}

TEST(IntegerArithmetic, division_by_0_is_0) {
  const auto x = integers_of<std::int32_t>({7, -7, 0});
  const std::vector<std::int32_t> zeros(3, 0);
  EXPECT_EQ((x / 0).to_vector(), zeros);
  EXPECT_EQ((x % 0).to_vector(), zeros);
  EXPECT_EQ(hd::remainder(x, 0).to_vector(), zeros);
  EXPECT_EQ(hd::floor_divide(x, 0).to_vector(), zeros);
  EXPECT_EQ((x / integers_of<std::int32_t>({0, 2, 0})).to_vector(), (std::vector<std::int32_t>{0, -3, 0}));
}

template <class T>
struct LeastInteger : testing::Test {};
using SignedTypes = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(LeastInteger, SignedTypes);

TYPED_TEST(LeastInteger, R051_divided_by_minus_1) {
  constexpr TypeParam least = std::numeric_limits<TypeParam>::min();
  for (const std::size_t length : {std::size_t{1}, std::size_t{2}, std::size_t{9}}) {
    const std::vector<TypeParam> all(length, least), ones(length, TypeParam{-1}), zeros(length, TypeParam{0});
    const auto x = integers_of<TypeParam>(all);
    const auto d = integers_of<TypeParam>(ones);
    EXPECT_EQ((x / d).to_vector(), all);
    EXPECT_EQ((x % d).to_vector(), zeros);
    EXPECT_EQ((x / -1).to_vector(), all);
    EXPECT_EQ(hd::floor_divide(x, d).to_vector(), all);
    EXPECT_EQ(hd::remainder(x, d).to_vector(), zeros);
    // Inside a larger formula.
    EXPECT_EQ(((x + 0) / (d * 1) + (x % d)).to_vector(), all);
  }
}

// ---- floating special values

TEST(FloatArithmetic, special_values_are_those_of_ieee) {
  const std::vector<float> specials{0.0f, -0.0f,  1.0f,    -1.5f,          INFINITY,      -INFINITY,
                                    NAN,  1e-45f, -1e-40f, 1.1754944e-38f, 3.4028235e38f, -3.4028235e38f};
  const auto count = static_cast<hd::index_t>(specials.size());
  const auto x = hd::from_host<float>(specials, {count, 1}, test_device());
  const auto y = hd::from_host<float>(specials, {1, count}, test_device());
  const Array a = to_array(x), b = to_array(y);
  const auto in_float = [](auto f) {
    return [f](double p, double q) { return static_cast<double>(f(static_cast<float>(p), static_cast<float>(q))); };
  };
  EXPECT_TRUE(identical(value_of(x + y), map(in_float([](float p, float q) { return p + q; }), a, b)));
  EXPECT_TRUE(identical(value_of(x - y), map(in_float([](float p, float q) { return p - q; }), a, b)));
  EXPECT_TRUE(identical(value_of(x * y), map(in_float([](float p, float q) { return p * q; }), a, b)));
  EXPECT_TRUE(identical(value_of(x / y), map(in_float([](float p, float q) { return p / q; }), a, b)));
  EXPECT_TRUE(identical(value_of(x % y), map(in_float([](float p, float q) { return std::fmod(p, q); }), a, b)));
  EXPECT_TRUE(
      identical(value_of(hd::fmod(x, y)), map(in_float([](float p, float q) { return std::fmod(p, q); }), a, b)));
  EXPECT_TRUE(identical(value_of(-x), map([](double p) { return -p; }, a)));
}

TEST(FloatArithmetic, remainder_has_the_divisors_sign) {
  const auto x = to_tensor<float, 1>(list({5, -5, 5, -5, 5.5, 0, 7}));
  const auto y = to_tensor<float, 1>(list({3, 3, -3, -3, 2, 3, INFINITY}));
  EXPECT_TRUE(equal(value_of(hd::remainder(x, y)), list({2, 1, -1, -2, 1.5, 0, 7})));
  EXPECT_TRUE(equal(value_of(x % y), list({2, -2, 2, -2, 1.5, 0, 7})));
  EXPECT_TRUE(equal(value_of(hd::floor_divide(x, y)), list({1, -2, -2, 1, 2, 0, 0})));
}

TEST(FloatArithmetic, halves_overflow_to_infinity_when_stored) {
  const auto x = to_tensor<hd::half, 1>(list({65504, -65504, 6e-8}));
  EXPECT_TRUE(equal(value_of(x * 2), list({INFINITY, -INFINITY, 2 * 0x1p-24})));
  EXPECT_TRUE(equal(value_of(x / 2), list({32752, -32752, 0})));
}

}  // namespace
