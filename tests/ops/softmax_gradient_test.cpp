#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/softmax.hpp>

#include <cmath>

#include "harness/expect.hpp"
#include "reference/differences.hpp"
#include "reference/map.hpp"
#include "reference/reduce.hpp"
#include "reference/softmax.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using hd::axis;
using reference::matrix;

/// y (dy - sum(dy y)) along an axis.
Array softmax_gradient(const Array& dy, const Array& y, int axis) {
  if (y.size() == 0) return y;
  return y * (dy - reference::reduce(reference::sum, dy * y, {axis}, true));
}
/// dy - exp(y) sum(dy)
Array log_softmax_gradient(const Array& dy, const Array& y, int axis) {
  if (y.size() == 0) return y;
  const Array p = reference::map([](double v) { return std::exp(v); }, y);
  return dy - p * reference::reduce(reference::sum, dy, {axis}, true);
}

template <class T>
struct SoftmaxGradient : testing::Test {
  template <class E>
  static void expect(E&& formula, const Array& want, const Array& size, const std::string& what) {
    EXPECT_TRUE(close(value_of(std::forward<E>(formula)), want, tolerance::composite<T>(size))) << what;
  }
  template <int Axis, int Rank>
  static void check(const Extents& shape, Layout layout) {
    const std::string what = describe(shape, layout) + ", axis " + std::to_string(Axis);
    const Operand<T, Rank> y{shape[Axis] == 0 ? Array(shape) : reference::softmax(uniform(shape, -5, 5, 1), Axis),
                             layout};
    const auto dy = real_operand<T, Rank>(shape, -1, 1, layout, 2);
    const Array want = softmax_gradient(dy.values, y.values, Axis);
    expect(hd::softmax_grad(dy.tensor, y.tensor, axis<Axis>), want, want, what);
    const Operand<T, Rank> logs{
        shape[Axis] == 0 ? Array(shape) : reference::log_softmax(uniform(shape, -5, 5, 1), Axis), layout};
    const Array of_logs = log_softmax_gradient(dy.values, logs.values, Axis);
    // The sum of dy may cancel.
    const Array magnitude = reference::abs(dy.values);
    const Array size = magnitude * Array({}, 2) - log_softmax_gradient(magnitude, logs.values, Axis);
    expect(hd::log_softmax_grad(dy.tensor, logs.tensor, axis<Axis>), of_logs, size, what + ", log");
  }
};
using Types =
    std::conditional_t<on_cuda, testing::Types<hd::half, float>, testing::Types<hd::half, hd::bfloat16, float, double>>;
TYPED_TEST_SUITE(SoftmaxGradient, Types);

TYPED_TEST(SoftmaxGradient, along_every_axis_of_every_layout) {
  for (const Extents& shape : few_shapes(3)) {
    for (const Layout layout : output_layouts()) {
      this->template check<0, 3>(shape, layout);
      this->template check<1, 3>(shape, layout);
      this->template check<2, 3>(shape, layout);
    }
  }
}

TYPED_TEST(SoftmaxGradient, of_every_length) {
  for (const std::int64_t length : {1, 2, 31, 32, 33, 127, 257, 1000, 4099, 20000})
    this->template check<1, 2>({3, length}, Layout::contiguous);
}

TEST(SoftmaxGradientCases, by_differences) {
  const Extents shape{3, 5};
  const auto x = real_operand<double, 2>(shape, -2, 2, Layout::contiguous, 1);
  const auto dy = real_operand<double, 2>(shape, -1, 1, Layout::contiguous, 2);
  const Array want =
      reference::differences([](const Array& at) { return reference::softmax(at, 1); }, x.values, dy.values);
  const hd::Tensor y = hd::softmax(x.tensor, axis<1>);
  EXPECT_TRUE(close(value_of(hd::softmax_grad(dy.tensor, y, axis<1>)), want, Array(shape, 1e-8)));
  const Array of_logs =
      reference::differences([](const Array& at) { return reference::log_softmax(at, 1); }, x.values, dy.values);
  const hd::Tensor logs = hd::log_softmax(x.tensor, axis<1>);
  EXPECT_TRUE(close(value_of(hd::log_softmax_grad(dy.tensor, logs, axis<1>)), of_logs, Array(shape, 1e-8)));
}

TEST(SoftmaxGradientCases, with_maps_and_other_types) {
  const Operand<hd::half, 2> y{reference::softmax(uniform({9, 33}, -5, 5, 1), 1), Layout::contiguous};
  const auto dy = real_operand<float, 2>({9, 33}, -1, 1, Layout::contiguous, 2);
  const Array want = softmax_gradient(dy.values * Array({}, 2), y.values, 1) + Array({}, 1);
  EXPECT_TRUE(close(value_of(hd::softmax_grad(dy.tensor * 2, y.tensor, axis<1>) + 1), want,
                    tolerance::composite<hd::half>(want)));
}

TEST(SoftmaxGradientCases, masked_elements_and_nan) {
  const auto y = to_tensor<float, 2>(matrix({{0.5, 0.5, 0}, {NAN, NAN, NAN}, {1, 0, 0}}));
  const auto dy = to_tensor<float, 2>(matrix({{1, 3, 5}, {1, 2, 3}, {4, 5, 6}}));
  EXPECT_TRUE(equal(value_of(hd::softmax_grad(dy, y, axis<1>)), matrix({{-0.5, 0.5, 0}, {NAN, NAN, NAN}, {0, 0, 0}})));
  const auto logs = to_tensor<float, 2>(matrix({{-INFINITY, 0}, {0, -INFINITY}}));
  const auto dz = to_tensor<float, 2>(matrix({{1, 3}, {1, 2}}));
  EXPECT_TRUE(equal(value_of(hd::log_softmax_grad(dz, logs, axis<1>)), matrix({{1, -1}, {-2, 2}})));
}

TEST(SoftmaxGradientCases, shapes_that_do_not_fit) {
  const auto y = to_tensor<float, 2>(Array({2, 3})), dy = to_tensor<float, 2>(Array({2, 1}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::softmax_grad(dy, y, axis<1>); }),
                       {"softmax_grad", "(2, 1)", "(2, 3)"}));
}

}  // namespace
