#include <heddle/ops/activation.hpp>
#include <heddle/ops/batch_norm.hpp>
#include <heddle/ops/create.hpp>

#include <cmath>
#include <cstring>

#include "harness/expect.hpp"
#include "reference/differences.hpp"
#include "reference/norm.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::list;
using reference::of_channels;
using reference::sum_of_channels;

constexpr double eps = 1e-5;
const Array one(Extents{}, 1.0);

reference::GroupOf channels_of(const Extents& shape) {
  std::vector<int> others{0};
  for (int a = 2; a < static_cast<int>(shape.size()); ++a) others.push_back(a);
  return reference::groups_over(shape, others);
}
/// Of each channel of x.
Array mean_of(const Array& x) {
  const auto n = static_cast<double>(x.size()) / static_cast<double>(x.shape[1]);
  return sum_of_channels(x) / Array(Extents{}, n);
}
Array variance_of(const Array& x, double correction) {
  const auto n = static_cast<double>(x.size()) / static_cast<double>(x.shape[1]);
  const Array away = x - of_channels(mean_of(x), x.shape);
  return sum_of_channels(away * away) / Array(Extents{}, n - correction);
}
/// (x - mean) / sqrt(variance + eps) w + b
Array by_statistics(const Array& x, const Array& mean, const Array& variance, const Array& w, const Array& b) {
  const Array scale = reference::map([](double v) { return 1 / std::sqrt(v + eps); }, variance);
  return (x - of_channels(mean, x.shape)) * of_channels(scale * w, x.shape) + of_channels(b, x.shape);
}

/// Channels about different means.
template <class T, int Rank>
Operand<T, Rank> batch(const Extents& shape, Layout layout, unsigned seed) {
  return {uniform(shape, -2, 2, seed) + of_channels(uniform({shape[1]}, -3, 3, seed + 1), shape), layout};
}
/// A sum's tolerance: that of its terms' absolute values.
template <class T>
Array of_sum(const Array& terms) {
  return tolerance::composite<T>(sum_of_channels(reference::abs(terms)));
}

template <class T>
struct BatchNorm : testing::Test {
  template <int Rank>
  static void check(const Extents& shape, Layout layout) {
    SCOPED_TRACE(describe(shape, layout));
    const auto x = batch<T, Rank>(shape, layout, 1);
    const auto dy = real_operand<T, Rank>(shape, -1, 1, layout, 2);
    const Extents channels{shape[1]};
    const auto w = real_operand<T, 1>(channels, 0.5, 2, Layout::sliced, 3);
    const auto b = real_operand<T, 1>(channels, -1, 1, Layout::reversed, 4);
    const auto mean = real_operand<hd::compute_type<T>, 1>(channels, -1, 1, Layout::contiguous, 5);
    const auto var = real_operand<hd::compute_type<T>, 1>(channels, 0.5, 2, Layout::sliced, 6);
    const Array weight = of_channels(w.values, shape), bias = of_channels(b.values, shape);
    {  // inference
      const Array want = by_statistics(x.values, mean.values, var.values, w.values, b.values);
      expect_close<T, Rank>(
          [&] { return hd::cast<T>(hd::batch_norm(x.tensor, mean.tensor, var.tensor, w.tensor, b.tensor)); }, want,
          tolerance::composite<T>(want), "inference");
      const Array plain = by_statistics(x.values, mean.values, var.values, Array(channels, 1), Array(channels));
      const auto [dx, dw, db] = hd::batch_norm_grad(dy.tensor, x.tensor, mean.tensor, var.tensor, w.tensor);
      const Array slope = by_statistics(Array(shape, 1), Array(channels), var.values, w.values, Array(channels));
      EXPECT_TRUE(close(to_array(dx), dy.values * slope, tolerance::composite<T>(dy.values * slope)));
      EXPECT_TRUE(close(to_array(dw), sum_of_channels(dy.values * plain), of_sum<T>(dy.values * plain)));
      EXPECT_TRUE(close(to_array(db), sum_of_channels(dy.values), of_sum<T>(dy.values)));
    }
    {  // training
      const Array normal = reference::normalise(x.values, channels_of(shape), eps);
      const auto running_mean = mean.tensor.clone(), running_var = var.tensor.clone();
      const TestTensor<T, Rank> y = hd::batch_norm(x.tensor, running_mean, running_var, w.tensor, b.tensor, true, 0.25);
      const Array want = normal * weight + bias;
      EXPECT_TRUE(close(to_array(y), want, tolerance::composite<T>(want))) << "training";
      const Array share(Extents{}, 0.25), rest(Extents{}, 0.75);
      const Array next_mean = mean.values * rest + mean_of(x.values) * share;
      const Array next_var = var.values * rest + variance_of(x.values, 1) * share;
      EXPECT_TRUE(close(to_array(running_mean), next_mean, tolerance::composite<float>(next_mean)));
      EXPECT_TRUE(close(to_array(running_var), next_var, tolerance::composite<float>(next_var)));

      const auto [dx, dw, db] = hd::batch_norm_grad(dy.tensor, x.tensor, w.tensor);
      const Array want_dx = reference::normalise_gradient(dy.values * weight, x.values, channels_of(shape), eps);
      EXPECT_TRUE(close(to_array(dx), want_dx, tolerance::composite<T>(want_dx)));
      EXPECT_TRUE(close(to_array(dw), sum_of_channels(dy.values * normal), of_sum<T>(dy.values * normal)));
      EXPECT_TRUE(close(to_array(db), sum_of_channels(dy.values), of_sum<T>(dy.values)));
    }
  }
};
using Types =
    std::conditional_t<on_cuda, testing::Types<hd::half, float>, testing::Types<hd::half, hd::bfloat16, float, double>>;
TYPED_TEST_SUITE(BatchNorm, Types);

TYPED_TEST(BatchNorm, of_images_in_every_layout) {
  for (const Layout layout : output_layouts()) this->template check<4>({4, 3, 5, 7}, layout);
}
TYPED_TEST(BatchNorm, of_rank_2) {
  for (const Extents& shape : {Extents{17, 31}, Extents{2, 129}, Extents{300, 3}, Extents{33, 1}})
    this->template check<2>(shape, Layout::contiguous);
}
TYPED_TEST(BatchNorm, of_long_channels) { this->template check<4>({1, 2, 17, 1025}, Layout::contiguous); }

TEST(BatchNormGradient, by_differences) {
  const Extents shape{3, 2, 5};
  const auto x = batch<double, 3>(shape, Layout::contiguous, 1);
  const auto dy = real_operand<double, 3>(shape, -1, 1, Layout::contiguous, 2);
  const Array w = list({0.5, 2});
  const auto forward = [&](const Array& at) {
    return reference::normalise(at, channels_of(shape), eps) * of_channels(w, shape);
  };
  const Array want = reference::differences(forward, x.values, dy.values);
  const auto by_hand =
      reference::normalise_gradient(dy.values * of_channels(w, shape), x.values, channels_of(shape), eps);
  EXPECT_TRUE(close(by_hand, want, Array(shape, 1e-7))) << "the reference itself";
  const auto result = hd::batch_norm_grad(dy.tensor, x.tensor, to_tensor<double, 1>(w));
  EXPECT_TRUE(close(to_array(result.input), want, Array(shape, 1e-7)));
  // The library's own training formula, differentiated.
  const auto own = [&](const Array& at) {
    return value_of(hd::batch_norm(to_tensor<double, 3>(at), nullptr, nullptr, to_tensor<double, 1>(w), nullptr, true));
  };
  EXPECT_TRUE(close(reference::differences(own, x.values, dy.values), want, Array(shape, 1e-5)));
}

TEST(BatchNormCases, without_weight_bias_or_statistics) {
  const Extents shape{5, 3, 4};
  const auto x = batch<float, 3>(shape, Layout::transposed, 1);
  const auto dy = real_operand<float, 3>(shape, -1, 1, Layout::contiguous, 2);
  const Array want = reference::normalise(x.values, channels_of(shape), eps);
  EXPECT_TRUE(close(value_of(hd::batch_norm(x.tensor, nullptr, nullptr, nullptr, nullptr, true)), want,
                    tolerance::composite<float>(want)));
  const auto [dx, dw, db] = hd::batch_norm_grad(dy.tensor, x.tensor);
  const Array want_dx = reference::normalise_gradient(dy.values, x.values, channels_of(shape), eps);
  EXPECT_TRUE(close(to_array(dx), want_dx, tolerance::composite<float>(want_dx)));
  EXPECT_TRUE(close(to_array(dw), sum_of_channels(dy.values * want), of_sum<float>(dy.values * want)));
  EXPECT_TRUE(close(to_array(db), sum_of_channels(dy.values), of_sum<float>(dy.values)));
  EXPECT_THROW((void)hd::batch_norm(x.tensor, nullptr, nullptr, nullptr, nullptr, false), hd::Error);
}

TEST(BatchNormCases, the_flag_decides) {
  const Extents shape{5, 3};
  const auto x = batch<float, 2>(shape, Layout::contiguous, 1);
  const auto mean = real_operand<float, 1>({3}, -1, 1, Layout::contiguous, 2);
  const auto var = real_operand<float, 1>({3}, 0.5, 2, Layout::contiguous, 3);
  const auto apply = [&](bool training) {
    return value_of(hd::batch_norm(x.tensor, mean.tensor, var.tensor, nullptr, nullptr, training));
  };
  const Array want = by_statistics(x.values, mean.values, var.values, Array({3}, 1), Array({3}));
  EXPECT_TRUE(close(apply(false), want, tolerance::composite<float>(want)));
  EXPECT_TRUE(equal(to_array(mean.tensor), mean.values)) << "inference changes nothing";
  EXPECT_TRUE(equal(to_array(var.tensor), var.values));
  const Array own = reference::normalise(x.values, channels_of(shape), eps);
  EXPECT_TRUE(close(apply(true), own, tolerance::composite<float>(own)));
  EXPECT_FALSE(equal(to_array(mean.tensor), mean.values));
}

TEST(BatchNormCases, fuses_with_formulas) {
  const Extents shape{4, 3, 9};
  const auto x = batch<float, 3>(shape, Layout::contiguous, 1);
  const auto skip = real_operand<float, 3>(shape, -1, 1, Layout::contiguous, 2);
  const Array two(Extents{}, 2.0);
  const Array want = reference::relu(reference::normalise(x.values * two, channels_of(shape), eps) + skip.values);
  expect_close<float, 3>(
      [&] { return hd::relu(hd::batch_norm(x.tensor * 2, nullptr, nullptr, nullptr, nullptr, true) + skip.tensor); },
      want, tolerance::composite<float>(want));
  // A producer below: computed once in training, fused in inference.
  const Array sums = reference::sum_of_channels(reference::permute(x.values, {0, 1, 2}));
  const auto ones = to_tensor<float, 1>(Array({9}, 1));
  const auto zeros = to_tensor<float, 1>(Array({9}, 0));
  const Array rows = to_array(hd::eval(hd::sum(x.tensor, hd::axis<1>)));
  EXPECT_TRUE(
      close(value_of(hd::batch_norm(hd::sum(x.tensor, hd::axis<1>), zeros, ones)), rows, Array(rows.shape, 1e-3)));
  const Array normal = reference::normalise(rows, channels_of(rows.shape), eps);
  EXPECT_TRUE(close(value_of(hd::batch_norm(hd::sum(x.tensor, hd::axis<1>), nullptr, nullptr, nullptr, nullptr, true)),
                    normal, tolerance::composite<float>(normal)));
}

TEST(BatchNormCases, integers_and_half_running_statistics) {
  const auto x = to_tensor<int, 2>(reference::matrix({{1, 8}, {3, 2}}));
  const auto mean = to_tensor<hd::half, 1>(list({0, 0})), var = to_tensor<hd::half, 1>(list({1, 1}));
  const TestTensor<float, 2> y = hd::batch_norm(x, mean, var, nullptr, nullptr, true, 0.5);
  EXPECT_TRUE(close(to_array(y), reference::matrix({{-1, 1}, {1, -1}}), Array({2, 2}, 1e-5)));
  EXPECT_TRUE(equal(to_array(mean), list({1, 2.5})));
  EXPECT_TRUE(equal(to_array(var), list({1.5, 9.5})));
}

TEST(BatchNormCases, a_mean_far_from_zero_costs_no_digits) {
  const Extents shape{64, 3, 33};
  Operand<float, 3> x{uniform(shape, -1, 1, 1) + of_channels(list({0, 1000, -60000}), shape), Layout::contiguous};
  const Array want = reference::normalise(x.values, channels_of(shape), eps);
  EXPECT_TRUE(close(value_of(hd::batch_norm(x.tensor, nullptr, nullptr, nullptr, nullptr, true)), want,
                    tolerance::composite<float>(want)));
}

TEST(BatchNormCases, R062_constant_channels_give_zero) {
  for (const double value : {100.0, 0.1}) {
    const auto x = to_tensor<float, 4>(Array({1, 1, 10, 10}, value));
    EXPECT_TRUE(equal(value_of(hd::batch_norm(x, nullptr, nullptr, nullptr, nullptr, true)), Array({1, 1, 10, 10})));
  }
}

TEST(BatchNormCases, R064_one_element_apart) {
  Array values({100, 1}, -15.9424);
  values[37] = -15.8924;
  const Array y = value_of(hd::batch_norm(to_tensor<float, 2>(values), nullptr, nullptr, nullptr, nullptr, true));
  Array want({100, 1}, -0.0848);
  want[37] = 8.397;
  EXPECT_TRUE(close(y, want, Array({100, 1}, 0.02)));
}

TEST(BatchNormCases, R144_one_value_a_channel) {
  const auto mean = to_tensor<float, 1>(list({1, 2, 3})), var = to_tensor<float, 1>(list({4, 5, 6}));
  const auto flat = to_tensor<float, 2>(Array({1, 3}, 7));
  const auto image = to_tensor<float, 4>(Array({1, 3, 1, 1}, 7));
  const auto train = [&](const auto& x) { (void)hd::batch_norm(x, mean, var, nullptr, nullptr, true); };
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { train(flat); }), {"batch_norm", "(1, 3)"}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { train(image); }), {"batch_norm", "(1, 3, 1, 1)"}));
  EXPECT_TRUE(equal(to_array(mean), list({1, 2, 3})));
  EXPECT_TRUE(equal(to_array(var), list({4, 5, 6})));
  const Array want = by_statistics(Array({1, 3}, 7), to_array(mean), to_array(var), Array({3}, 1), Array({3}));
  EXPECT_TRUE(close(value_of(hd::batch_norm(flat, mean, var)), want, Array({1, 3}, 1e-5)));
  EXPECT_TRUE(close(value_of(hd::batch_norm(image, mean, var, nullptr, nullptr, false)),
                    reference::reshape(want, {1, 3, 1, 1}), Array({1, 3, 1, 1}, 1e-5)));
  const auto wide = to_tensor<float, 4>(uniform({1, 3, 1, 4}, -1, 1, 1));
  const Array normal = reference::normalise(to_array(wide), channels_of({1, 3, 1, 4}), eps);
  EXPECT_TRUE(close(value_of(hd::batch_norm(wide, mean, var, nullptr, nullptr, true)), normal,
                    tolerance::composite<float>(normal)));
}

TEST(BatchNormCases, R157_many_rows_of_one_channel) {
  constexpr std::int64_t rows = 131072;
  Array values({rows, 1});
  for (std::int64_t i = 0; i < rows; ++i) values[i] = i % 2 == 0 ? -1 : 1;
  const auto x = to_tensor<float, 2>(values);
  const Array want = values * Array(Extents{}, 0.9999950);
  EXPECT_TRUE(
      close(value_of(hd::batch_norm(x, nullptr, nullptr, nullptr, nullptr, true)), want, Array(values.shape, 1e-6)));
  const auto pairs = to_tensor<float, 2>(reference::reshape(values, {rows / 2, 2}));
  EXPECT_TRUE(close(value_of(hd::layer_norm(pairs, hd::axis<1>)), reference::reshape(want, {rows / 2, 2}),
                    Array({rows / 2, 2}, 1e-6)));
}

TEST(BatchNormCases, nan_spoils_its_channel_alone) {
  Array values = uniform({4, 3}, -1, 1, 1);
  values.at({2, 1}) = NAN;
  const auto mean = to_tensor<float, 1>(Array({3})), var = to_tensor<float, 1>(Array({3}, 1));
  const Array y = value_of(hd::batch_norm(to_tensor<float, 2>(values), mean, var, nullptr, nullptr, true));
  for (std::int64_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i]), i % 3 == 1) << i;
  EXPECT_TRUE(std::isnan(to_array(mean)[1]));
  EXPECT_FALSE(std::isnan(to_array(mean)[0]) || std::isnan(to_array(var)[2]));
}

TEST(BatchNormCases, of_nothing) {
  const auto mean = to_tensor<float, 1>(list({1, 2, 3})), var = to_tensor<float, 1>(list({4, 5, 6}));
  const auto x = to_tensor<float, 3>(Array({0, 3, 2}));
  EXPECT_EQ(hd::eval(hd::batch_norm(x, mean, var, nullptr, nullptr, true)).shape(), (hd::Shape<3>{0, 3, 2}));
  EXPECT_TRUE(equal(to_array(mean), list({1, 2, 3})));
  const auto [dx, dw, db] = hd::batch_norm_grad(x, x, mean);
  EXPECT_EQ(dx.shape(), x.shape());
  EXPECT_TRUE(equal(to_array(dw), Array({3})));
  EXPECT_TRUE(equal(to_array(db), Array({3})));
  const auto none = to_tensor<float, 1>(Array({0}));
  EXPECT_EQ(hd::eval(hd::batch_norm(to_tensor<float, 2>(Array({5, 0})), none, none, nullptr, nullptr, true)).size(), 0);
}

TEST(BatchNormCases, shapes_that_do_not_fit) {
  const auto x = to_tensor<float, 3>(Array({4, 3, 2}));
  const auto three = to_tensor<float, 1>(Array({3}, 1)), two = to_tensor<float, 1>(Array({2}, 1));
  const auto says = [&](auto call) {
    return mentions(message_of<hd::ShapeError>(call), {"batch_norm", "(2,)", "3 channels"});
  };
  EXPECT_TRUE(says([&] { (void)hd::batch_norm(x, two, three); }));
  EXPECT_TRUE(says([&] { (void)hd::batch_norm(x, three, three, two); }));
  EXPECT_TRUE(says([&] { (void)hd::batch_norm(x, two, three, nullptr, nullptr, true); }));
  EXPECT_TRUE(says([&] { (void)hd::batch_norm(x, three, three, nullptr, two, true); }));
  EXPECT_TRUE(says([&] { (void)hd::batch_norm_grad(x, x, two); }));
  EXPECT_TRUE(equal(to_array(three), Array({3}, 1))) << "nothing is written before";
  const auto y = to_tensor<float, 3>(Array({4, 3, 1}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::batch_norm_grad(y, x, three); }),
                       {"(4, 3, 1)", "(4, 3, 2)"}));
}

TEST(BatchNormCases, the_same_bits_every_time) {
  const auto x = batch<float, 3>({64, 5, 257}, Layout::contiguous, 1);
  const auto dy = real_operand<float, 3>({64, 5, 257}, -1, 1, Layout::contiguous, 2);
  const auto bits = [&] {
    const auto mean = to_tensor<float, 1>(Array({5})), var = to_tensor<float, 1>(Array({5}, 1));
    hd::Tensor y = hd::batch_norm(x.tensor, mean, var, nullptr, nullptr, true);
    const auto [dx, dw, db] = hd::batch_norm_grad(dy.tensor, x.tensor);
    auto all = y.to_vector();
    for (const auto& more : {dx.to_vector(), dw.to_vector(), db.to_vector(), mean.to_vector(), var.to_vector()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const auto first = bits();
  for (int run = 0; run < 3; ++run) {
    const auto again = bits();
    ASSERT_EQ(again.size(), first.size());
    EXPECT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(float)), 0);
  }
}

}  // namespace
