// layer_norm, rms_norm, group_norm, instance_norm. (Gradients: ops/norm_gradient_test.)
#include <heddle/ops/activation.hpp>
#include <heddle/ops/group_norm.hpp>

#include <cmath>

#include "harness/expect.hpp"
#include "reference/norm.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using hd::axes;
using hd::axis;
using reference::expand;
using reference::groups_of_channels;
using reference::groups_over;
using reference::matrix;
using reference::normalise;
using reference::of_channels;

constexpr double eps = 1e-5;

template <class T>
struct Norm : testing::Test {
  template <class E>
  static void expect(E&& formula, const Array& want, const std::string& what) {
    EXPECT_TRUE(close(value_of(std::forward<E>(formula)), want, tolerance::composite<T>(want))) << what;
  }
};
using Types =
    std::conditional_t<on_cuda, testing::Types<hd::half, float>, testing::Types<hd::half, hd::bfloat16, float, double>>;
TYPED_TEST_SUITE(Norm, Types);

TYPED_TEST(Norm, over_every_axis_of_every_layout) {
  for (const Extents& shape : few_shapes(3)) {
    for (const Layout layout : input_layouts()) {
      const auto x = real_operand<TypeParam, 3>(shape, -3, 5, layout, 1);
      const std::string what = describe(shape, layout);
      const auto want = [&](const std::vector<int>& over, bool centred = true) {
        return normalise(x.values, groups_over(shape, over), eps, centred);
      };
      this->expect(hd::layer_norm(x.tensor, axis<0>), want({0}), what + ", axis 0");
      this->expect(hd::layer_norm(x.tensor, axis<-1>), want({2}), what + ", axis 2");
      this->expect(hd::layer_norm(x.tensor, axes<1, 2>), want({1, 2}), what + ", axes 1, 2");
      this->expect(hd::layer_norm(x.tensor, axes<0, 2>), want({0, 2}), what + ", axes 0, 2");
      this->expect(hd::rms_norm(x.tensor, axis<-1>, eps), want({2}, false), what + ", rms");
    }
  }
}

TYPED_TEST(Norm, of_every_length) {
  for (const std::int64_t length : {1, 2, 31, 32, 33, 63, 65, 127, 129, 255, 257, 1000, 1023, 1025, 4099, 40000}) {
    const auto x = real_operand<TypeParam, 2>({3, length}, -3, 5, Layout::contiguous, 2);
    const auto rows = groups_over({3, length}, {1});
    this->expect(hd::layer_norm(x.tensor, axis<1>), normalise(x.values, rows, eps), std::to_string(length));
    this->expect(hd::rms_norm(x.tensor, axis<1>, eps), normalise(x.values, rows, eps, false),
                 std::to_string(length) + ", rms");
  }
}

TYPED_TEST(Norm, weight_and_bias_and_maps) {
  const Extents shape{9, 4, 33};
  const auto x = real_operand<TypeParam, 3>(shape, -3, 5, Layout::contiguous, 3);
  const auto w = real_operand<TypeParam, 1>({33}, 0.5, 2, Layout::contiguous, 4);
  const auto b = real_operand<TypeParam, 1>({33}, -1, 1, Layout::sliced, 5);
  const Array scale = expand(w.values, shape), shift = expand(b.values, shape);
  const auto rows = groups_over(shape, {2});
  const Array want = normalise(x.values, rows, eps) * scale + shift;
  expect_close<TypeParam, 3>([&] { return hd::layer_norm(x.tensor, w.tensor, b.tensor); }, want,
                             tolerance::composite<TypeParam>(want));
  const Array activated = reference::relu(normalise(x.values - shift, rows, eps) * scale);
  this->expect(hd::relu(hd::layer_norm(x.tensor - b.tensor, w.tensor, nullptr)), activated, "maps around it");
  const Array rms = normalise(x.values, rows, eps, false) * scale;
  expect_close<TypeParam, 3>([&] { return hd::rms_norm(x.tensor, w.tensor, eps); }, rms,
                             tolerance::composite<TypeParam>(rms));
  // A weight for the last two axes.
  const auto w2 = real_operand<TypeParam, 2>({4, 33}, 0.5, 2, Layout::transposed, 6);
  this->expect(hd::layer_norm(x.tensor, w2.tensor, nullptr),
               normalise(x.values, groups_over(shape, {1, 2}), eps) * expand(w2.values, shape), "two axes");
}

TYPED_TEST(Norm, by_groups_of_channels) {
  const Extents shape{2, 12, 5, 7};
  for (const Layout layout : output_layouts()) {
    const auto x = real_operand<TypeParam, 4>(shape, -3, 5, layout, 7);
    const auto w = real_operand<TypeParam, 1>({12}, 0.5, 2, Layout::contiguous, 8);
    const auto b = real_operand<TypeParam, 1>({12}, -1, 1, Layout::sliced, 9);
    const Array scale = of_channels(w.values, shape), shift = of_channels(b.values, shape);
    for (const std::int64_t groups : {1, 3, 12})
      this->expect(hd::group_norm(x.tensor, groups, w.tensor, b.tensor),
                   normalise(x.values, groups_of_channels(shape, groups), eps) * scale + shift,
                   describe(shape, layout) + ", groups " + std::to_string(groups));
    this->expect(hd::instance_norm(x.tensor, w.tensor, b.tensor),
                 normalise(x.values, groups_of_channels(shape, 12), eps) * scale + shift, describe(shape, layout));
  }
  const auto flat = real_operand<TypeParam, 2>({17, 30}, -3, 5, Layout::contiguous, 10);
  this->expect(hd::group_norm(flat.tensor, 5), normalise(flat.values, groups_of_channels({17, 30}, 5), eps), "rank 2");
}

TEST(NormCases, equal_elements_give_zero) {
  for (const std::int64_t length : {1, 9, 33, 1000, 40000}) {
    const auto x = to_tensor<float, 2>(Array({2, length}, 100.1));
    EXPECT_TRUE(equal(value_of(hd::layer_norm(x, axis<1>)), Array({2, length}))) << length;
  }
  const auto image = to_tensor<float, 4>(Array({1, 4, 3, 3}, 0.1));
  EXPECT_TRUE(equal(value_of(hd::group_norm(image, 2)), Array({1, 4, 3, 3})));
}

TEST(NormCases, a_mean_far_from_zero_costs_no_digits) {
  for (const std::int64_t length : {33, 1000, 40000}) {
    const auto x = real_operand<float, 2>({3, length}, 9999, 10001, Layout::contiguous, 1);
    const Array want = normalise(x.values, groups_over({3, length}, {1}), eps);
    EXPECT_TRUE(close(value_of(hd::layer_norm(x.tensor, axis<1>)), want, tolerance::composite<float>(want))) << length;
  }
}

TEST(NormCases, R064_one_element_apart) {
  Array values({1, 100}, -15.9424), want({1, 100}, -0.0848);
  values[37] = -15.8924, want[37] = 8.397;
  EXPECT_TRUE(close(value_of(hd::layer_norm(to_tensor<float, 2>(values), axis<1>)), want, Array({1, 100}, 0.02)));
}

TEST(NormCases, nan_and_inf_spoil_their_rows_alone) {
  for (const std::int64_t length : {5, 1000, 40000}) {
    Array values = uniform({3, length}, -1, 1, 1);
    values.at({0, 3}) = NAN, values.at({2, 4}) = INFINITY;
    const Array y = value_of(hd::layer_norm(to_tensor<float, 2>(values), axis<1>));
    const Array r = value_of(hd::rms_norm(to_tensor<float, 2>(values), axis<1>));
    const Array want = normalise(values, groups_over(values.shape, {1}), eps);
    for (std::int64_t i = 0; i < length; ++i) {
      EXPECT_TRUE(std::isnan(y[i]) && std::isnan(r[i]));
      EXPECT_NEAR(y[length + i], want[length + i], 1e-5);
      EXPECT_TRUE(std::isnan(y[2 * length + i]));
      // One over infinity is 0, and infinity times that is NaN.
      EXPECT_TRUE(i == 4 ? std::isnan(r[2 * length + i]) : r[2 * length + i] == 0);
    }
  }
}

TEST(NormCases, of_integers_and_of_nothing) {
  const auto x = to_tensor<int, 2>(matrix({{1, 3}, {5, 5}}));
  static_assert(std::is_same_v<decltype(hd::layer_norm(x, axis<1>))::value_type, float>);
  EXPECT_TRUE(close(value_of(hd::layer_norm(x, axis<1>)), matrix({{-1, 1}, {0, 0}}), Array({2, 2}, 1e-5)));
  EXPECT_EQ(hd::eval(hd::layer_norm(to_tensor<float, 2>(Array({3, 0})), axis<1>)).shape(), (hd::Shape<2>{3, 0}));
  EXPECT_EQ(hd::eval(hd::rms_norm(to_tensor<float, 2>(Array({0, 3})), axis<1>)).shape(), (hd::Shape<2>{0, 3}));
  EXPECT_EQ(hd::eval(hd::group_norm(to_tensor<float, 3>(Array({0, 4, 3})), 2)).size(), 0);
  EXPECT_EQ(hd::eval(hd::instance_norm(to_tensor<float, 3>(Array({2, 4, 0})))).size(), 0);
}

TEST(NormCases, shapes_that_do_not_fit) {
  const auto x = to_tensor<float, 3>(Array({2, 4, 3}));
  const auto w = to_tensor<float, 1>(Array({4}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::layer_norm(x, w, nullptr); }),
                       {"layer_norm", "(4,)", "(2, 4, 3)"}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::rms_norm(x, w); }), {"rms_norm", "(4,)"}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::group_norm(x, 3); }), {"group_norm", "4", "3"}));
  EXPECT_THROW((void)hd::group_norm(x, 0), hd::ShapeError);
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::instance_norm(x, to_tensor<float, 1>(Array({3}))); }),
                       {"(3,)", "4"}));
}

}  // namespace
