// The mathematical functions against long double, over their range and at special values.
#include <heddle/ops/math.hpp>

#include <cmath>
#include <cstdint>
#include <limits>

#include "harness/expect.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::list;
using reference::List;
using reference::map;

template <class T>
List specials() {
  using tolerance::precision_of;
  const auto precision = precision_of<T>();
  const double least = std::ldexp(1.0, precision.least_exponent);
  const double normal = std::ldexp(least, precision.digits - 1);
  const double greatest = std::is_same_v<T, hd::half> ? 65504.0
                          : std::is_same_v<T, double>
                              ? std::numeric_limits<double>::max()
                              : to_double(static_cast<T>(std::is_same_v<T, float> ? 3.4028235e38 : 3.38e38));
  List values{0.0, -0.0, 1, -1, 0.5, -0.5, INFINITY, -INFINITY, NAN};
  for (const double value : {least, normal, greatest}) values.insert(values.end(), {value, -value});
  return values;
}

/// What T makes of true values: those too large are infinite.
template <class T>
Array with_overflow(Array want) {
  for (double& value : want.values)
    if (std::isinf(to_double(static_cast<T>(value)))) value = std::copysign(INFINITY, value);
  return want;
}

using Unary = long double (*)(long double);

template <class T>
struct Math : testing::Test {
  /// Uniform values of [low, high), then the special ones.
  template <class Op>
  void check(const char* name, Op op, Unary f, double low, double high) {
    Array values = uniform({200}, low, high, 1);
    const List ends = specials<T>();
    values.values.insert(values.values.end(), ends.begin(), ends.end());
    values.shape[0] = values.size() == 0 ? 0 : static_cast<std::int64_t>(values.values.size());
    const auto x = to_tensor<T, 1>(values);
    const Array in = to_array(x);
    const Array want = with_overflow<T>(map([f](double v) { return static_cast<double>(f(v)); }, in));
    const TestTensor<T, 1> y = op(x);
    const Array got = to_array(y);
    EXPECT_TRUE(close(got, want, tolerance::map<T>(name, want))) << name;
    for (std::int64_t i = 200; i < want.size(); ++i) {
      if (want[i] == 0) {
        EXPECT_EQ(std::signbit(got[i]), std::signbit(want[i])) << name << " of " << in[i];
      }
    }
  }
};
using Types = testing::Types<hd::half, hd::bfloat16, float, double>;
TYPED_TEST_SUITE(Math, Types);

// A function object for each operation, since a template can't be passed.
#define OPERATION(name) [](const auto& x) { return hd::name(x); }

TYPED_TEST(Math, exponentials) {
  this->check("exp", OPERATION(exp), std::exp, -20, 20);
  this->check("exp", OPERATION(exp), std::exp, -110, 90);
  this->check("exp2", OPERATION(exp2), std::exp2, -30, 30);
  this->check("expm1", OPERATION(expm1), std::expm1, -3, 3);
}
TYPED_TEST(Math, logarithms) {
  this->check("log", OPERATION(log), std::log, 1e-3, 100);
  this->check("log", OPERATION(log), std::log, 0.9, 1.1);
  this->check("log2", OPERATION(log2), std::log2, 1e-3, 100);
  this->check("log10", OPERATION(log10), std::log10, 1e-3, 100);
  this->check("log1p", OPERATION(log1p), std::log1p, -0.5, 2);
}
TYPED_TEST(Math, roots_and_powers) {
  this->check("sqrt", OPERATION(sqrt), std::sqrt, 0, 100);
  this->check("cbrt", OPERATION(cbrt), std::cbrt, -50, 50);
  this->check(
      "rsqrt", OPERATION(rsqrt), [](long double x) { return 1 / std::sqrt(x); }, 1e-3, 100);
  this->check(
      "reciprocal", OPERATION(reciprocal), [](long double x) { return 1 / x; }, -10, 10);
  this->check(
      "square", OPERATION(square), [](long double x) { return x * x; }, -10, 10);
}
TYPED_TEST(Math, trigonometry) {
  this->check("sin", OPERATION(sin), std::sin, -30, 30);
  this->check("cos", OPERATION(cos), std::cos, -30, 30);
  this->check("tan", OPERATION(tan), std::tan, -30, 30);
  this->check("asin", OPERATION(asin), std::asin, -1, 1);
  this->check("acos", OPERATION(acos), std::acos, -1, 1);
  this->check("atan", OPERATION(atan), std::atan, -10, 10);
}
TYPED_TEST(Math, hyperbolic) {
  this->check("sinh", OPERATION(sinh), std::sinh, -9, 9);
  this->check("cosh", OPERATION(cosh), std::cosh, -9, 9);
  this->check("tanh", OPERATION(tanh), std::tanh, -5, 5);
  this->check("tanh", OPERATION(tanh), std::tanh, -0.01, 0.01);
  this->check("asinh", OPERATION(asinh), std::asinh, -10, 10);
  this->check("acosh", OPERATION(acosh), std::acosh, 1, 20);
  this->check("atanh", OPERATION(atanh), std::atanh, -0.99, 0.99);
}
TYPED_TEST(Math, error_and_gamma_functions) {
  this->check("erf", OPERATION(erf), std::erf, -3, 3);
  this->check("erfc", OPERATION(erfc), std::erfc, -3, 5);
  this->check("lgamma", OPERATION(lgamma), std::lgamma, 2.5, 30);
}
TYPED_TEST(Math, rounding) {
  this->check("floor", OPERATION(floor), std::floor, -10, 10);
  this->check("ceil", OPERATION(ceil), std::ceil, -10, 10);
  this->check("trunc", OPERATION(trunc), std::trunc, -10, 10);
  this->check("round", OPERATION(round), std::nearbyint, -10, 10);
  this->check("abs", OPERATION(abs), std::fabs, -10, 10);
  this->check(
      "sign", OPERATION(sign), [](long double x) { return std::isnan(x) || x == 0 ? x : std::copysign(1.0L, x); }, -1,
      1);
}
TYPED_TEST(Math, classification) {
  const auto x = to_tensor<TypeParam, 1>(list(specials<TypeParam>()));
  const Array in = to_array(x);
  EXPECT_TRUE(equal(value_of(hd::isnan(x)), map([](double v) { return std::isnan(v); }, in)));
  EXPECT_TRUE(equal(value_of(hd::isinf(x)), map([](double v) { return std::isinf(v); }, in)));
  EXPECT_TRUE(equal(value_of(hd::isfinite(x)), map([](double v) { return std::isfinite(v); }, in)));
}

}  // namespace
