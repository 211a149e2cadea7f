// The activations by PyTorch's definitions, in double.
#include <heddle/ops/activation.hpp>
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>

#include <cmath>
#include <cstdint>

#include "harness/expect.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::list;
using reference::List;
using reference::map;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double gelu(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
double silu(double x) { return x * sigmoid(x); }
double softplus(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }

template <class T>
struct Activation : testing::Test {
  const Array values = rounded_to<T>(uniform({17, 31}, -12, 12, 1));
  const TestTensor<T, 2> x = to_tensor<T, 2>(values, Layout::transposed);

  template <class Make>
  void check(Make make, double (*f)(double)) {
    const Array want = map(f, values);
    expect_close<T, 2>(make, want, tolerance::composite<T>(want));
  }
};
using Types = testing::Types<hd::half, hd::bfloat16, float, double>;
TYPED_TEST_SUITE(Activation, Types);

TYPED_TEST(Activation, relu) {
  expect_equal<TypeParam, 2>([&] { return hd::relu(this->x); }, reference::relu(this->values));
}
TYPED_TEST(Activation, leaky_relu) {
  this->check([&] { return hd::leaky_relu(this->x); }, [](double v) { return v < 0 ? 0.01 * v : v; });
  this->check([&] { return hd::leaky_relu(this->x, 0.25); }, [](double v) { return v < 0 ? 0.25 * v : v; });
}
TYPED_TEST(Activation, sigmoid) {
  this->check([&] { return hd::sigmoid(this->x); }, sigmoid);
}
TYPED_TEST(Activation, gelu) {
  this->check([&] { return hd::gelu(this->x); }, gelu);
}
TYPED_TEST(Activation, silu) {
  this->check([&] { return hd::silu(this->x); }, silu);
}
TYPED_TEST(Activation, softplus) {
  this->check([&] { return hd::softplus(this->x); }, softplus);
}

TYPED_TEST(Activation, nan_stays) {
  for (const std::int64_t length : {1, 9, 129}) {
    Array with_nan({length}, 0.5);
    with_nan[length - 1] = NAN;
    const auto z = to_tensor<TypeParam, 1>(with_nan);
    EXPECT_TRUE(equal(value_of(hd::relu(z)), with_nan));
    for (const Array& got : {value_of(hd::leaky_relu(z)), value_of(hd::sigmoid(z)), value_of(hd::gelu(z)),
                             value_of(hd::silu(z)), value_of(hd::softplus(z))})
      EXPECT_TRUE(std::isnan(got[length - 1]) && (length == 1 || !std::isnan(got[0])));
  }
}

TEST(ActivationTails, special_values) {
  const List ends{-INFINITY, INFINITY, 0.0, -0.0, -1e-45, 1e30, -1e30};
  const auto x = to_tensor<float, 1>(list(ends));
  EXPECT_TRUE(identical(value_of(hd::relu(x)), list({0, INFINITY, 0, -0.0, 0, 1e30f, 0})));
  EXPECT_TRUE(equal(value_of(hd::sigmoid(x)), list({0, 1, 0.5, 0.5, 0.5, 1, 0})));
  EXPECT_TRUE(equal(value_of(hd::softplus(x)),
                    rounded_to<float>(list({0, INFINITY, std::log(2.0), std::log(2.0), std::log(2.0), 1e30, 0}))));
}

TEST(ActivationTails, R049_softplus_does_not_overflow) {
  const auto x = to_tensor<float, 1>(list({-200, -100, -20, 0, 20, 50, 100}));
  const Array got = value_of(hd::softplus(x));
  EXPECT_TRUE(got[1] == 0 || std::fabs(got[1] - 3.72e-44) < 1e-45);
  const Array want = list({0, got[1], 2.0611537e-9, 0.6931472, 20, 50, 100});
  EXPECT_TRUE(close(got, want, reference::abs(want) * Array({}, 1e-6)));
  // With a scale of 5 at 20: log(1 + exp(100)) / 5.
  EXPECT_EQ((hd::softplus(to_tensor<float, 1>(list({20})) * 5.0f) / 5.0f).item(), 20.0f);
}

TEST(ActivationTails, sigmoid_is_precise_far_out) {
  const auto x = to_tensor<float, 1>(list({-80, -30, -1e-3, 1e-3, 30, 80}));
  const Array want = map(sigmoid, to_array(x));
  EXPECT_TRUE(close(value_of(hd::sigmoid(x)), want, tolerance::map<float>("sigmoid", want)));
}

TEST(ActivationIntegers, relu_keeps_the_type_and_the_others_give_float) {
  const auto x = to_tensor<std::int8_t, 1>(list({-128, -1, 0, 127}));
  static_assert(std::is_same_v<decltype(hd::relu(x))::value_type, std::int8_t>);
  EXPECT_TRUE(equal(value_of(hd::relu(x)), list({0, 0, 0, 127})));
  static_assert(std::is_same_v<decltype(hd::sigmoid(x))::value_type, float>);
  EXPECT_TRUE(equal(value_of(hd::leaky_relu(x, 0.5)), list({-64, -0.5, 0, 127})));
}

}  // namespace
