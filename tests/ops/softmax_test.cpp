#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/math.hpp>
#include <heddle/ops/reduce.hpp>
#include <heddle/ops/softmax.hpp>

#include <cmath>
#include <cstdint>

#include "harness/expect.hpp"
#include "reference/softmax.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using hd::axis;
using reference::list;
using reference::matrix;

template <class T>
struct Softmax : testing::Test {
  template <class E>
  static void expect(E&& formula, const Array& want, const std::string& what) {
    EXPECT_TRUE(close(value_of(std::forward<E>(formula)), want, tolerance::composite<T>(want))) << what;
  }
};
using Types = testing::Types<hd::half, hd::bfloat16, float, double>;
TYPED_TEST_SUITE(Softmax, Types);

TYPED_TEST(Softmax, along_every_axis_of_every_layout) {
  for (const Extents& shape : few_shapes(3)) {
    for (const Layout layout : input_layouts()) {
      const auto x = real_operand<TypeParam, 3>(shape, -5, 5, layout, 1);
      const std::string what = describe(shape, layout);
      this->expect(hd::softmax(x.tensor, axis<0>), reference::softmax(x.values, 0), what + ", axis 0");
      this->expect(hd::softmax(x.tensor, axis<1>), reference::softmax(x.values, 1), what + ", axis 1");
      this->expect(hd::softmax(x.tensor, axis<-1>), reference::softmax(x.values, 2), what + ", axis 2");
      this->expect(hd::log_softmax(x.tensor, axis<2>), reference::log_softmax(x.values, 2), what + ", log");
    }
  }
}

TYPED_TEST(Softmax, of_every_length) {
  for (const std::int64_t length : {1, 2, 31, 32, 33, 63, 65, 127, 129, 255, 257, 1023, 1025, 4099, 12345}) {
    const auto x = real_operand<TypeParam, 2>({3, length}, -5, 5, Layout::contiguous, 2);
    this->expect(hd::softmax(x.tensor, axis<1>), reference::softmax(x.values, 1), std::to_string(length));
    this->expect(hd::log_softmax(x.tensor, axis<1>), reference::log_softmax(x.values, 1),
                 std::to_string(length) + ", log");
  }
}

TYPED_TEST(Softmax, into_outputs_of_every_layout) {
  const auto x = real_operand<TypeParam, 3>({5, 3, 33}, -5, 5, Layout::contiguous, 3);
  const Array want = reference::softmax(x.values, 1);
  expect_close<TypeParam, 3>([&] { return hd::softmax(x.tensor, axis<1>); }, want,
                             tolerance::composite<TypeParam>(want));
}

TYPED_TEST(Softmax, with_maps_below_and_above) {
  const auto x = real_operand<TypeParam, 2>({17, 129}, -5, 5, Layout::contiguous, 4);
  const auto mask = real_operand<TypeParam, 1>({129}, -2, 2, Layout::contiguous, 5);
  const Array want = reference::softmax(x.values / Array({}, 4) + mask.values, 1) * Array({}, 3) - Array({}, 0.5);
  expect_close<TypeParam, 2>([&] { return hd::softmax(x.tensor / 4 + mask.tensor, axis<-1>) * 3 - 0.5; }, want,
                             tolerance::composite<TypeParam>(want));
}

TYPED_TEST(Softmax, large_values_do_not_overflow) {
  const auto x = to_tensor<TypeParam, 2>(matrix({{60000, 60000, 0}, {-60000, -60000, -60000}}));
  const double third = 1.0 / 3;
  const Array want = matrix({{0.5, 0.5, 0}, {third, third, third}});
  this->expect(hd::softmax(x, axis<1>), want, "softmax");
  EXPECT_TRUE(close(value_of(hd::log_softmax(x, axis<1>)),
                    rounded_to<TypeParam>(reference::log_softmax(to_array(x), 1)),
                    tolerance::composite<TypeParam>(reference::log_softmax(to_array(x), 1))));
}

TEST(SoftmaxCases, R042_rows_of_minus_infinity) {
  const auto x = to_tensor<float, 2>(matrix({{-INFINITY, -INFINITY}, {0, 0}, {-INFINITY, 0}}));
  EXPECT_TRUE(equal(value_of(hd::softmax(x, axis<1>)), matrix({{NAN, NAN}, {0.5, 0.5}, {0, 1}})));
  const Array logs = value_of(hd::log_softmax(x, axis<1>));
  const Array want = matrix({{NAN, NAN}, {-std::log(2.0), -std::log(2.0)}, {-INFINITY, 0}});
  EXPECT_TRUE(close(logs, want, tolerance::composite<float>(want)));
}

TEST(SoftmaxCases, R082_the_axis_counts) {
  const auto x = to_tensor<float, 2>(matrix({{1, 2, 3}, {1, 5, 3}}));
  const Array over_rows = matrix({{0.5, 0.0474259, 0.5}, {0.5, 0.9525741, 0.5}});
  const Array over_columns = matrix({{0.0900306, 0.2447285, 0.6652410}, {0.0158762, 0.8668133, 0.1173104}});
  EXPECT_TRUE(close(value_of(hd::softmax(x, axis<0>)), over_rows, Array({2, 3}, 1e-6)));
  EXPECT_TRUE(close(value_of(hd::softmax(x, axis<1>)), over_columns, Array({2, 3}, 1e-6)));
  EXPECT_TRUE(
      equal(value_of(hd::softmax(to_tensor<float, 4>(Array({1, 2, 1, 3}, 5)), axis<0>)), Array({1, 2, 1, 3}, 1)));
}

TEST(SoftmaxCases, R056_cross_entropy_of_huge_equal_logits) {
  for (const double offset : {1e8, 0.0}) {
    const auto logits = to_tensor<float, 2>(Array({1, 2}, offset));
    const Array loss = value_of(-hd::log_softmax(logits, axis<1>));
    EXPECT_TRUE(close(loss, Array({1, 2}, 0.6931472), Array({1, 2}, 1e-6)));
  }
}

TEST(SoftmaxCases, R044_logsumexp_put_together) {
  const auto logsumexp = [](const auto& x) {
    const hd::Tensor greatest = hd::max(x);
    return static_cast<double>((hd::log(hd::sum(hd::exp(x - greatest))) + greatest).item());
  };
  EXPECT_NEAR(logsumexp(to_tensor<float, 1>(list({1, 2, 3}))), 3.4076059, 1e-6);
  EXPECT_EQ(logsumexp(to_tensor<float, 1>(list({-INFINITY, 0}))), 0);
}

TEST(SoftmaxCases, nan_spoils_its_row_alone) {
  const auto x = to_tensor<float, 2>(matrix({{1, NAN, 3}, {0, 0, -INFINITY}}));
  EXPECT_TRUE(equal(value_of(hd::softmax(x, axis<1>)), matrix({{NAN, NAN, NAN}, {0.5, 0.5, 0}})));
}

TEST(SoftmaxCases, of_integers_and_of_nothing) {
  const auto x = to_tensor<std::int32_t, 2>(matrix({{1, 1}, {0, 0}}));
  static_assert(std::is_same_v<decltype(hd::softmax(x, axis<1>))::value_type, float>);
  EXPECT_TRUE(equal(value_of(hd::softmax(x, axis<1>)), Array({2, 2}, 0.5)));
  EXPECT_EQ(hd::eval(hd::softmax(to_tensor<float, 2>(Array({3, 0})), axis<1>)).shape(), (hd::Shape<2>{3, 0}));
  EXPECT_EQ(hd::eval(hd::softmax(to_tensor<float, 2>(Array({0, 3})), axis<1>)).shape(), (hd::Shape<2>{0, 3}));
}

TEST(SoftmaxProperties, adding_a_constant_changes_nothing) {
  const auto x = exact_operand<float, 2>({17, 33}, Layout::contiguous, 6);
  EXPECT_TRUE(equal(value_of(hd::softmax(x.tensor + 8.0f, axis<1>)), value_of(hd::softmax(x.tensor, axis<1>))));
}

}  // namespace
