// The gradients of layer_norm, rms_norm, group_norm and instance_norm, against the definition's, which in turn is
// checked against central differences.
#include <heddle/ops/group_norm.hpp>

#include <cmath>
#include <cstring>

#include "harness/expect.hpp"
#include "reference/differences.hpp"
#include "reference/norm.hpp"
#include "reference/reduce.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::expand;
using reference::GroupOf;
using reference::groups_of_channels;
using reference::groups_over;
using reference::normalise;
using reference::normalise_gradient;
using reference::of_channels;
using reference::reduce;
using reference::sum_of_channels;

constexpr double eps = 1e-5;

template <class T>
struct NormGradient : testing::Test {
  /// Weight and bias of the last Own axes.
  template <int Own, int Rank>
  static void check(const Extents& shape, Layout layout) {
    SCOPED_TRACE(describe(shape, layout));
    const auto x = real_operand<T, Rank>(shape, -3, 5, layout, 1);
    const auto dy = real_operand<T, Rank>(shape, -1, 1, layout, 2);
    const auto w = real_operand<T, Own>(Extents(shape.end() - Own, shape.end()), 0.5, 2, Layout::contiguous, 3);
    reference::Axes inner, outer;
    for (int a = 0; a < Rank; ++a) (a < Rank - Own ? outer : inner).push_back(a);
    const GroupOf rows = groups_over(shape, inner);
    const auto sum = [&](const Array& terms) { return outer.empty() ? terms : reduce(reference::sum, terms, outer); };
    const Array g = dy.values * expand(w.values, shape);
    for (const bool centred : {true, false}) {
      const Array y = normalise(x.values, rows, eps, centred);
      const Array dx = normalise_gradient(g, x.values, rows, eps, centred);
      const auto result = centred ? hd::layer_norm_grad(dy.tensor, x.tensor, w.tensor, eps)
                                  : hd::rms_norm_grad(dy.tensor, x.tensor, w.tensor, eps);
      const std::string what = centred ? "layer_norm" : "rms_norm";
      EXPECT_TRUE(close(to_array(result.input), dx, tolerance::composite<T>(dx))) << what;
      const Array terms = reference::abs(dy.values * y);
      EXPECT_TRUE(close(to_array(result.weight), sum(dy.values * y), tolerance::composite<T>(sum(terms)))) << what;
      if (centred) {
        EXPECT_TRUE(
            close(to_array(result.bias), sum(dy.values), tolerance::composite<T>(sum(reference::abs(dy.values)))));
      }
    }
  }
  template <class Gradients>
  static void check_channels(const Gradients& result, const Array& dy, const Array& x, const Array& w,
                             const GroupOf& group, const std::string& what) {
    const Array y = normalise(x, group, eps);
    const Array dx = normalise_gradient(dy * of_channels(w, x.shape), x, group, eps);
    EXPECT_TRUE(close(to_array(result.input), dx, tolerance::composite<T>(dx))) << what;
    EXPECT_TRUE(close(to_array(result.weight), sum_of_channels(dy * y),
                      tolerance::composite<T>(sum_of_channels(reference::abs(dy * y)))))
        << what;
    EXPECT_TRUE(
        close(to_array(result.bias), sum_of_channels(dy), tolerance::composite<T>(sum_of_channels(reference::abs(dy)))))
        << what;
  }
};
using Types = std::conditional_t<on_cuda, testing::Types<float>, testing::Types<hd::half, hd::bfloat16, float, double>>;
TYPED_TEST_SUITE(NormGradient, Types);

TYPED_TEST(NormGradient, in_every_layout) {
  for (const Layout layout : output_layouts()) {
    this->template check<1, 3>({5, 3, 33}, layout);
    this->template check<2, 3>({9, 4, 8}, layout);
  }
}

TYPED_TEST(NormGradient, of_every_length) {
  for (const std::int64_t length : {1, 2, 31, 32, 33, 127, 257, 1000, 4099, 20000})
    this->template check<1, 2>({3, length}, Layout::contiguous);
}

TYPED_TEST(NormGradient, of_many_rows_and_of_one) {
  for (const std::int64_t rows : {1, 2, 63, 65, 700}) this->template check<1, 2>({rows, 40}, Layout::contiguous);
#if !HEDDLE_TEST_DEVICE_CUDA
  this->template check<2, 2>({3, 7}, Layout::contiguous);
#endif
}

TYPED_TEST(NormGradient, by_groups_of_channels) {
  const Extents shape{3, 12, 5, 7};
  for (const Layout layout : {Layout::contiguous, Layout::channels_last, Layout::sliced}) {
    const auto x = real_operand<TypeParam, 4>(shape, -3, 5, layout, 4);
    const auto dy = real_operand<TypeParam, 4>(shape, -1, 1, layout, 5);
    const auto w = real_operand<TypeParam, 1>({12}, 0.5, 2, Layout::sliced, 6);
    for (const std::int64_t groups : {1, 3, 12})
      this->check_channels(hd::group_norm_grad(dy.tensor, x.tensor, groups, w.tensor), dy.values, x.values, w.values,
                           groups_of_channels(shape, groups), describe(shape, layout));
    this->check_channels(hd::instance_norm_grad(dy.tensor, x.tensor, w.tensor), dy.values, x.values, w.values,
                         groups_of_channels(shape, 12), describe(shape, layout));
  }
  const auto x = real_operand<TypeParam, 2>({9, 8}, -3, 5, Layout::contiguous, 7);
  const auto dy = real_operand<TypeParam, 2>({9, 8}, -1, 1, Layout::contiguous, 8);
  this->check_channels(hd::group_norm_grad(dy.tensor, x.tensor, 2), dy.values, x.values, Array({8}, 1),
                       groups_of_channels({9, 8}, 2), "rank 2, no weight");
}

TEST(NormGradientOf, halves) {
  NormGradient<hd::half>::check<1, 2>({9, 64}, Layout::contiguous);
  NormGradient<hd::half>::check<1, 2>({3, 20000}, Layout::contiguous);
  NormGradient<hd::half>::check<1, 2>({9, 33}, Layout::transposed);
}

#if !HEDDLE_TEST_DEVICE_CUDA
TEST(NormGradientCases, by_differences) {
  const Extents shape{2, 4, 3};
  const auto x = real_operand<double, 3>(shape, -3, 5, Layout::contiguous, 1);
  const auto dy = real_operand<double, 3>(shape, -1, 1, Layout::contiguous, 2);
  const auto w = real_operand<double, 1>({3}, 0.5, 2, Layout::contiguous, 3);
  const auto v = real_operand<double, 1>({4}, 0.5, 2, Layout::contiguous, 4);
  const Array near(shape, 1e-7);
  for (const bool centred : {true, false}) {
    const auto forward = [&](const Array& at) {
      return normalise(at, groups_over(shape, {2}), eps, centred) * expand(w.values, shape);
    };
    const Array want = reference::differences(forward, x.values, dy.values);
    const Array by_hand =
        normalise_gradient(dy.values * expand(w.values, shape), x.values, groups_over(shape, {2}), eps, centred);
    EXPECT_TRUE(close(by_hand, want, near)) << "the reference itself";
    const auto result = centred ? hd::layer_norm_grad(dy.tensor, x.tensor, w.tensor, eps)
                                : hd::rms_norm_grad(dy.tensor, x.tensor, w.tensor, eps);
    EXPECT_TRUE(close(to_array(result.input), want, near));
  }
  const auto forward = [&](const Array& at) {
    return normalise(at, groups_of_channels(shape, 2), eps) * of_channels(v.values, shape);
  };
  const Array want = reference::differences(forward, x.values, dy.values);
  EXPECT_TRUE(close(to_array(hd::group_norm_grad(dy.tensor, x.tensor, 2, v.tensor).input), want, near));
  // The library's own formula, differentiated.
  const auto own = [&](const Array& at) { return value_of(hd::group_norm(to_tensor<double, 3>(at), 2, v.tensor)); };
  EXPECT_TRUE(close(reference::differences(own, x.values, dy.values), want, Array(shape, 1e-5)));
}
#endif

TEST(NormGradientCases, formulas_and_producers_as_operands) {
  const auto x = real_operand<float, 2>({9, 33}, -3, 5, Layout::contiguous, 1);
  const auto w = real_operand<float, 1>({33}, 0.5, 2, Layout::contiguous, 2);
  const auto rows = groups_over({9, 33}, {1});
  const Array normal = to_array(hd::eval(hd::layer_norm(x.tensor, hd::axis<1>)));
  const auto result = hd::layer_norm_grad(x.tensor * 2, hd::layer_norm(x.tensor, hd::axis<1>), w.tensor);
  const Array want = normalise_gradient(x.values * Array({}, 2) * expand(w.values, {9, 33}), normal, rows, eps);
  EXPECT_TRUE(close(to_array(result.input), want, tolerance::composite<float>(want)));
}

TEST(NormGradientCases, of_nothing) {
  const auto w = to_tensor<float, 1>(Array({3}, 1));
  const auto none = to_tensor<float, 2>(Array({0, 3}));
  const auto [dx, dw, db] = hd::layer_norm_grad(none, none, w);
  EXPECT_EQ(dx.shape(), none.shape());
  EXPECT_TRUE(equal(to_array(dw), Array({3})));
  EXPECT_TRUE(equal(to_array(db), Array({3})));
  const auto images = to_tensor<float, 3>(Array({0, 3, 2}));
  EXPECT_TRUE(equal(to_array(hd::instance_norm_grad(images, images, w).weight), Array({3})));
}

TEST(NormGradientCases, shapes_that_do_not_fit) {
  const auto x = to_tensor<float, 2>(Array({2, 4})), dy = to_tensor<float, 2>(Array({2, 1}));
  const auto w = to_tensor<float, 1>(Array({4})), v = to_tensor<float, 1>(Array({2}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::layer_norm_grad(dy, x, w); }),
                       {"layer_norm_grad", "(2, 1)", "(2, 4)"}));
  EXPECT_TRUE(
      mentions(message_of<hd::ShapeError>([&] { (void)hd::rms_norm_grad(x, x, v); }), {"rms_norm_grad", "(2,)"}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::group_norm_grad(x, x, 3, w); }),
                       {"group_norm_grad", "3 groups"}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::group_norm_grad(x, x, 2, v); }),
                       {"group_norm_grad", "(2,)"}));
}

TEST(NormGradientCases, the_same_bits_every_time) {
  const auto x = real_operand<float, 3>({70, 4, 65}, -3, 5, Layout::contiguous, 1);
  const auto dy = real_operand<float, 3>({70, 4, 65}, -1, 1, Layout::contiguous, 2);
  const auto w = real_operand<float, 1>({65}, 0.5, 2, Layout::contiguous, 3);
  const auto bits = [&] {
    auto all = hd::layer_norm_grad(dy.tensor, x.tensor, w.tensor).weight.to_vector();
    const auto groups = hd::group_norm_grad(dy.tensor, x.tensor, 2);
    for (const auto& more : {groups.input.to_vector(), groups.weight.to_vector(), groups.bias.to_vector()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto first = bits();
  for (int run = 0; run < 3; ++run) {
    const auto again = bits();
    EXPECT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(float)), 0);
  }
}

}  // namespace
