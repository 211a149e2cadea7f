// Losses of two operands and their gradients. (Classification: ops/cross_entropy_test.)
#include <heddle/ops/compare.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/join.hpp>
#include <heddle/ops/loss.hpp>
#include <heddle/ops/matmul.hpp>

#include <cmath>

#include "harness/expect.hpp"
#include "reference/differences.hpp"
#include "reference/map.hpp"
#include "reference/reduce.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::list;
using reference::matrix;
namespace reduction = hd::reduction;

// Each loss: what it is of one element, and the library's functions. Targets lie in (0, 1).

struct Mse {
  static double of(double x, double y) { return (x - y) * (x - y); }
  template <class... A>
  static auto loss(const A&... a) {
    return hd::mse_loss(a...);
  }
  template <class... A>
  static auto gradient(const A&... a) {
    return hd::mse_loss_grad(a...);
  }
};
struct L1 {
  static double of(double x, double y) { return std::fabs(x - y); }
  template <class... A>
  static auto loss(const A&... a) {
    return hd::l1_loss(a...);
  }
  template <class... A>
  static auto gradient(const A&... a) {
    return hd::l1_loss_grad(a...);
  }
};
struct SmoothL1 {
  static double of(double x, double y) {
    const double d = std::fabs(x - y), beta = 0.5;
    return d < beta ? 0.5 * d * d / beta : d - 0.5 * beta;
  }
  template <class X, class Y, class R>
  static auto loss(const X& x, const Y& y, R r) {
    return hd::smooth_l1_loss(x, y, r, {.beta = 0.5});
  }
  template <class G, class X, class Y, class R>
  static auto gradient(const G& dy, const X& x, const Y& y, R r) {
    return hd::smooth_l1_loss_grad(dy, x, y, r, {.beta = 0.5});
  }
};
struct Huber {
  static double of(double x, double y) {
    const double d = std::fabs(x - y), delta = 0.75;
    return d < delta ? 0.5 * d * d : delta * (d - 0.5 * delta);
  }
  template <class X, class Y, class R>
  static auto loss(const X& x, const Y& y, R r) {
    return hd::huber_loss(x, y, r, {.delta = 0.75});
  }
  template <class G, class X, class Y, class R>
  static auto gradient(const G& dy, const X& x, const Y& y, R r) {
    return hd::huber_loss_grad(dy, x, y, r, {.delta = 0.75});
  }
};
struct Logits {
  static double of(double x, double y) {
    const double p = 1 / (1 + std::exp(-x));
    return -(y * std::log(p) + (1 - y) * std::log1p(-p));
  }
  template <class... A>
  static auto loss(const A&... a) {
    return hd::binary_cross_entropy_with_logits(a...);
  }
  template <class... A>
  static auto gradient(const A&... a) {
    return hd::binary_cross_entropy_with_logits_grad(a...);
  }
};
struct Divergence {
  static double of(double x, double y) { return y * (std::log(y) - x); }
  template <class... A>
  static auto loss(const A&... a) {
    return hd::kl_div(a...);
  }
  template <class... A>
  static auto gradient(const A&... a) {
    return hd::kl_div_grad(a...);
  }
};
struct LogDivergence {
  static double of(double x, double y) { return std::exp(y) * (y - x); }
  template <class X, class Y, class R>
  static auto loss(const X& x, const Y& y, R r) {
    return hd::kl_div(x, y, r, {.log_target = true});
  }
  template <class G, class X, class Y, class R>
  static auto gradient(const G& dy, const X& x, const Y& y, R r) {
    return hd::kl_div_grad(dy, x, y, r, {.log_target = true});
  }
};

template <class L>
Array values_of(const Array& x, const Array& y) {
  return reference::map(L::of, x, y);
}
/// Of the loss of each element, by the first operand.
template <class L>
Array slopes_of(const Array& x, const Array& y) {
  Array result(x.shape);
  for (std::int64_t i = 0; i < x.size(); ++i)
    result[i] = reference::differences([&](const Array& at) { return L::of(at[0], y[i]); }, list({x[i]}))[0];
  return result;
}

template <class L>
struct Loss : testing::Test {
  template <class T>
  static void check(const Extents& shape, Layout layout) {
    SCOPED_TRACE(describe(shape, layout));
    const auto x = real_operand<T, 2>(shape, -2, 2, layout, 1);
    const auto y = real_operand<T, 2>(shape, 0.05, 0.95, Layout::contiguous, 2);
    const auto dy = real_operand<T, 2>(shape, -1, 1, layout, 3);
    const Array each = values_of<L>(x.values, y.values), slope = slopes_of<L>(x.values, y.values);
    const auto near = [](const Array& got, const Array& want, const Array& size) {
      return close(got, want, tolerance::composite<T>(size));
    };
    EXPECT_TRUE(near(value_of(L::loss(x.tensor, y.tensor, reduction::none)), each, each));
    EXPECT_TRUE(near(value_of(L::gradient(dy.tensor, x.tensor, y.tensor, reduction::none)), dy.values * slope,
                     dy.values * slope));
    const double count = static_cast<double>(each.size());
    const Array size = reference::reduce(reference::sum, reference::abs(each));
    const Array sum = reference::reduce(reference::sum, each);
    EXPECT_TRUE(
        near(value_of(L::loss(x.tensor, y.tensor, reduction::mean)), sum / Array({}, count), size / Array({}, count)));
    EXPECT_TRUE(near(value_of(L::gradient(3, x.tensor, y.tensor, reduction::mean)), slope * Array({}, 3 / count),
                     slope * Array({}, 3 / count)));
    if constexpr (std::is_same_v<T, float>) {
      EXPECT_TRUE(near(value_of(L::loss(x.tensor, y.tensor, reduction::sum)), sum, size));
      const auto own = to_tensor<T, 0>(Array({}, 0.5));
      EXPECT_TRUE(near(value_of(L::gradient(own, x.tensor, y.tensor, reduction::sum)), slope * Array({}, 0.5), slope));
    }
  }
};
using Losses = testing::Types<Mse, L1, SmoothL1, Huber, Logits, Divergence, LogDivergence>;
TYPED_TEST_SUITE(Loss, Losses);

TYPED_TEST(Loss, of_floats) {
  for (const Layout layout : {Layout::contiguous, Layout::transposed, Layout::sliced, Layout::broadcast})
    this->template check<float>({17, 31}, layout);
  this->template check<float>({1, 1}, Layout::contiguous);
  this->template check<float>({1, 4099}, Layout::offset);
}
#if !HEDDLE_TEST_DEVICE_CUDA
TYPED_TEST(Loss, of_the_other_types) {
  this->template check<hd::half>({9, 64}, Layout::contiguous);
  this->template check<hd::bfloat16>({9, 64}, Layout::contiguous);
  this->template check<double>({9, 64}, Layout::contiguous);
}
#endif

TEST(LossCases, the_mean_is_the_default_and_of_nothing_nan) {
  const auto x = to_tensor<float, 2>(matrix({{1, 2}, {3, 4}})), y = to_tensor<float, 2>(matrix({{1, 0}, {0, 0}}));
  EXPECT_EQ(hd::mse_loss(x, y).item(), 7.25F);
  EXPECT_EQ(hd::l1_loss(x, y).item(), 2.25F);
  EXPECT_EQ(hd::smooth_l1_loss(x, y).item(), 1.875F);
  EXPECT_EQ(hd::huber_loss(x, y).item(), 1.875F);
  EXPECT_TRUE(equal(value_of(hd::mse_loss_grad(2, x, y)), matrix({{0, 2}, {3, 4}})));
  const auto none = to_tensor<float, 2>(Array({0, 3}));
  EXPECT_TRUE(std::isnan(hd::mse_loss(none, none).item()));
  EXPECT_EQ(hd::mse_loss(none, none, reduction::sum).item(), 0.0F);
  EXPECT_EQ(hd::eval(hd::mse_loss_grad(1, none, none)).shape(), (hd::Shape<2>{0, 3}));
}

#if !HEDDLE_TEST_DEVICE_CUDA
TEST(LossCases, R146_the_last_batch_is_smaller) {
  // A linear model on 10 samples in batches of 4: three steps, each with the mean over the samples that it has.
  const Array x = uniform({10, 3}, -1, 1, 1), y = uniform({10, 1}, -1, 1, 2);
  auto inputs = to_tensor<double, 2>(x), targets = to_tensor<double, 2>(y);
  const auto beyond = hd::full<double>({1, 3}, NAN, test_device());  // what a read past the end would find
  inputs = hd::eval(hd::concat<0>(inputs, beyond)).slice(hd::axis<0>, hd::range(0, 10));
  auto w = hd::zeros<double>({3, 1}, test_device());
  double want[3] = {};
  int steps = 0;
  for (int begin = 0; begin < 10; begin += 4, ++steps) {
    const auto batch = inputs.slice(hd::axis<0>, hd::range(begin, begin + 4));
    const auto wanted = targets.slice(hd::axis<0>, hd::range(begin, begin + 4));
    const int count = begin + 4 <= 10 ? 4 : 2;
    ASSERT_EQ(batch.extent(0), count);
    const auto output = hd::eval(hd::matmul(batch, w));
    const auto gradient = hd::eval(hd::mse_loss_grad(1.0, output, wanted));
    w -= 0.1 * hd::matmul(batch.transpose(), gradient);
    double sums[3] = {};
    for (int i = begin; i < begin + count; ++i) {
      const auto row = static_cast<std::size_t>(i) * 3;
      const double error = x.values[row] * want[0] + x.values[row + 1] * want[1] + x.values[row + 2] * want[2] -
                           y.values[static_cast<std::size_t>(i)];
      for (std::size_t j = 0; j < 3; ++j) sums[j] += 2 * error * x.values[row + j] / count;
    }
    for (int j = 0; j < 3; ++j) want[j] -= 0.1 * sums[j];
  }
  EXPECT_EQ(steps, 3);
  const Array got = to_array(w);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(got.values[j], want[j], 1e-12);
}
#endif

TEST(LossCases, halves_do_not_overflow) {
  const auto x = to_tensor<hd::half, 1>(Array({4096}, 300)), y = to_tensor<hd::half, 1>(Array({4096}, 200));
  EXPECT_EQ(static_cast<float>(hd::mse_loss(x, y).item()), 10000.0F);
}

TEST(LossCases, operands_broadcast_and_fuse) {
  const auto x = real_operand<float, 2>({5, 33}, -2, 2, Layout::contiguous, 1);
  const auto y = real_operand<float, 1>({33}, -2, 2, Layout::contiguous, 2);
  const Array each = values_of<Mse>(x.values * Array({}, 2), reference::expand(y.values, {5, 33}));
  const Array want = reference::reduce(reference::sum, each) / Array({}, 165);
  EXPECT_TRUE(close(value_of(hd::mse_loss(x.tensor * 2, y.tensor)), want, tolerance::composite<float>(want)));
}

TEST(LossCases, where_the_slope_jumps) {
  const auto x = to_tensor<float, 1>(list({-1, 0, 1, 2, NAN})), y = to_tensor<float, 1>(list({0, 0, 0, 0, 0}));
  EXPECT_TRUE(equal(value_of(hd::l1_loss_grad(1, x, y, reduction::sum)), list({-1, 0, 1, 1, NAN})));
  EXPECT_TRUE(equal(value_of(hd::smooth_l1_loss_grad(1, x, y, reduction::sum)), list({-1, 0, 1, 1, NAN})));
  // Without a parabola it is the absolute error.
  EXPECT_TRUE(equal(value_of(hd::smooth_l1_loss(x, y, reduction::none, {.beta = 0})), list({1, 0, 1, 2, NAN})));
  EXPECT_TRUE(equal(value_of(hd::smooth_l1_loss_grad(1, x, y, reduction::sum, {.beta = 0})), list({-1, 0, 1, 1, NAN})));
}

TEST(LossCases, logits_of_any_size) {
  const auto x = to_tensor<float, 1>(list({-1000, 1000, -1000, 1000, 0, INFINITY, -INFINITY}));
  const auto y = to_tensor<float, 1>(list({0, 1, 1, 0, 0.5, 1, 0}));
  const Array each = value_of(hd::binary_cross_entropy_with_logits(x, y, reduction::none));
  EXPECT_TRUE(close(each, list({0, 0, 1000, 1000, std::log(2.0), NAN, NAN}), Array({7}, 1e-6)) ||
              close(each, list({0, 0, 1000, 1000, std::log(2.0), 0, 0}), Array({7}, 1e-6)));
  EXPECT_TRUE(close(value_of(hd::binary_cross_entropy_with_logits_grad(1, x, y, reduction::sum)),
                    list({0, 0, -1, 1, 0, 0, 0}), Array({7}, 1e-6)));
}

TEST(LossCases, logits_with_weights) {
  const Extents shape{5, 33};
  const auto x = real_operand<float, 2>(shape, -2, 2, Layout::contiguous, 1);
  const auto y = real_operand<float, 2>(shape, 0, 1, Layout::contiguous, 2);
  const auto w = real_operand<float, 2>({5, 1}, 0.5, 2, Layout::contiguous, 3);
  const auto p = real_operand<float, 1>({33}, 0.5, 3, Layout::contiguous, 4);
  const auto forward = [&](const Array& at) {
    Array each(shape);
    for (std::int64_t i = 0; i < each.size(); ++i) {
      const double s = 1 / (1 + std::exp(-at[i]));
      const double t = y.values[i];
      each[i] = -w.values[i / 33] * (p.values[i % 33] * t * std::log(s) + (1 - t) * std::log1p(-s));
    }
    return each;
  };
  const Array want = forward(x.values);
  EXPECT_TRUE(
      close(value_of(hd::binary_cross_entropy_with_logits(x.tensor, y.tensor, w.tensor, p.tensor, reduction::none)),
            want, tolerance::composite<float>(want)));
  const Array slope = reference::differences(forward, x.values, Array(shape, 1));
  EXPECT_TRUE(close(
      value_of(hd::binary_cross_entropy_with_logits_grad(1, x.tensor, y.tensor, w.tensor, p.tensor, reduction::sum)),
      slope, tolerance::composite<float>(slope)));
  const Array unweighted = value_of(hd::binary_cross_entropy_with_logits(x.tensor, y.tensor, nullptr, nullptr));
  EXPECT_TRUE(equal(unweighted, value_of(hd::binary_cross_entropy_with_logits(x.tensor, y.tensor))));
}

TEST(LossCases, divergence_of_zeros_and_by_batch) {
  const auto x = to_tensor<float, 2>(matrix({{-1, -2}, {-3, -INFINITY}}));
  const auto y = to_tensor<float, 2>(matrix({{0, 1}, {0.5, 0}}));
  const Array each = value_of(hd::kl_div(x, y, reduction::none));
  const double last = 0.5 * (std::log(0.5) + 3);
  EXPECT_TRUE(close(each, matrix({{0, 2}, {last, 0}}), Array({2, 2}, 1e-6)));
  EXPECT_NEAR(hd::kl_div(x, y, reduction::batch_mean).item(), (2 + last) / 2, 1e-6);
  EXPECT_NEAR(hd::kl_div(x, y).item(), (2 + last) / 4, 1e-6);
  EXPECT_TRUE(equal(value_of(hd::kl_div_grad(1, x, y, reduction::batch_mean)), matrix({{0, -0.5}, {-0.25, 0}})));
}

TEST(LossCases, what_is_refused) {
  const auto x = to_tensor<float, 2>(Array({2, 3})), y = to_tensor<float, 2>(Array({2, 1}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::mse_loss_grad(1, x, y); }), {"(2, 3)", "(2, 1)"}));
  EXPECT_TRUE(mentions(message_of<hd::Error>([&] { (void)hd::smooth_l1_loss(x, x, {.beta = -1}); }), {"-1"}));
  EXPECT_TRUE(mentions(message_of<hd::Error>([&] { (void)hd::huber_loss(x, x, {.delta = -2}); }), {"-2"}));
  EXPECT_THROW((void)hd::mse_loss(x, to_tensor<float, 2>(Array({3, 3}))), hd::ShapeError);
}

}  // namespace
