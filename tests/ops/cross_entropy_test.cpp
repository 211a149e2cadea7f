// cross_entropy and nll_loss, with their gradients.
#include <heddle/ops/cross_entropy.hpp>

#include <cmath>
#include <cstring>

#include "harness/expect.hpp"
#include "reference/cross_entropy.hpp"
#include "reference/differences.hpp"
#include "reference/map.hpp"
#include "reference/reduce.hpp"
#include "reference/softmax.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::ClassRule;
using reference::list;
using reference::matrix;
using reference::over_samples;
namespace reduction = hd::reduction;

/// Classes, of which about every fourth sample's is the ignored one.
template <class I, int Rank>
Operand<I, Rank> labels(const Extents& shape, int classes, double ignored, Layout layout, unsigned seed) {
  Array values = integers(shape, 0, classes - 1, seed);
  const Array chosen = integers(shape, 0, 3, seed + 1);
  for (std::int64_t i = 1; i < values.size(); ++i)
    if (chosen[i] == 0) values[i] = ignored;
  return {values, layout};
}
Array scalar(double value) { return Array(Extents{}, value); }
double total(const Array& x) { return reference::sum(x.values); }

template <class T>
struct CrossEntropy : testing::Test {
  static testing::AssertionResult near(const Array& got, const Array& want, const Array& size) {
    return close(got, want, tolerance::composite<T>(size));
  }
  /// Everything, with and without weights and smoothing. `Soft`: of logits.
  template <bool Soft, int Rank, class I>
  static void check(const Extents& shape, Layout layout, bool weighted, double smoothing, double ignored = -100) {
    SCOPED_TRACE(describe(shape, layout) + (Soft ? " cross_entropy" : " nll_loss") + (weighted ? ", weighted" : ""));
    const auto classes = static_cast<int>(shape[1]);
    Extents rest = shape;
    rest.erase(rest.begin() + 1);
    const auto x = real_operand<T, Rank>(shape, -5, 5, layout, 1);
    const auto y = labels<I, Rank - 1>(rest, classes, ignored, Layout::contiguous, 2);
    const auto w = real_operand<T, 1>({classes}, 0.5, 2, Layout::sliced, 3);
    const auto dy = real_operand<T, Rank - 1>(rest, -1, 1, Layout::contiguous, 4);
    ClassRule rule;
    rule.ignored = ignored, rule.smoothing = smoothing;
    if (weighted) rule.weights = w.values.values;
    const hd::cross_entropy_options options{static_cast<hd::index_t>(ignored), smoothing};
    const auto loss = [&](auto r) {
      if constexpr (Soft)
        return value_of(weighted ? hd::eval(hd::cross_entropy(x.tensor, y.tensor, w.tensor, r, options))
                                 : hd::eval(hd::cross_entropy(x.tensor, y.tensor, r, options)));
      else
        return value_of(weighted ? hd::eval(hd::nll_loss(x.tensor, y.tensor, w.tensor, r, options))
                                 : hd::eval(hd::nll_loss(x.tensor, y.tensor, r, options)));
    };
    const auto gradient = [&](const auto& own, auto r) {
      if constexpr (Soft)
        return value_of(weighted ? hd::eval(hd::cross_entropy_grad(own, x.tensor, y.tensor, w.tensor, r, options))
                                 : hd::eval(hd::cross_entropy_grad(own, x.tensor, y.tensor, r, options)));
      else
        return value_of(weighted ? hd::eval(hd::nll_loss_grad(own, x.tensor, y.tensor, w.tensor, r, options))
                                 : hd::eval(hd::nll_loss_grad(own, x.tensor, y.tensor, r, options)));
    };
    const Array each = over_samples(Soft ? reference::cross_entropy : reference::nll_loss, x.values, y.values, rule);
    const Array slope =
        over_samples(Soft ? reference::cross_entropy_gradient : reference::nll_loss_gradient, x.values, y.values, rule);
    const double size = total(reference::abs(each)), divisor = reference::weight_of_labels(y.values, rule);
    EXPECT_TRUE(near(loss(reduction::none), each, each)) << "none";
    EXPECT_TRUE(near(loss(reduction::sum), scalar(total(each)), scalar(size))) << "sum";
    EXPECT_TRUE(near(loss(reduction::mean), scalar(total(each) / divisor), scalar(size / divisor))) << "mean";
    EXPECT_TRUE(near(gradient(2, reduction::mean), slope * scalar(2 / divisor), slope * scalar(2 / divisor)));
    EXPECT_TRUE(near(gradient(to_tensor<T, 0>(scalar(0.5)), reduction::sum), slope * scalar(0.5), slope));
    Extents seen = rest;
    seen.insert(seen.begin() + 1, 1);
    const Array spread = slope * reference::reshape(dy.values, seen);
    EXPECT_TRUE(near(gradient(dy.tensor, reduction::none), spread, spread));
  }
};
using Types =
    std::conditional_t<on_cuda, testing::Types<hd::half, float>, testing::Types<hd::half, hd::bfloat16, float, double>>;
TYPED_TEST_SUITE(CrossEntropy, Types);

TYPED_TEST(CrossEntropy, of_rows) {
  for (const Extents& shape : {Extents{17, 31}, Extents{1, 5}, Extents{9, 1}, Extents{5, 1000}, Extents{2, 8192}}) {
    this->template check<true, 2, std::int64_t>(shape, Layout::contiguous, false, 0);
    this->template check<true, 2, std::int64_t>(shape, Layout::contiguous, true, 0.1);
    this->template check<false, 2, std::int64_t>(shape, Layout::contiguous, false, 0);
    this->template check<false, 2, std::int64_t>(shape, Layout::contiguous, true, 0);
  }
}

TYPED_TEST(CrossEntropy, of_other_layouts) {
  for (const Layout layout : {Layout::transposed, Layout::sliced, Layout::reversed, Layout::broadcast}) {
    this->template check<true, 2, std::int64_t>({9, 33}, layout, true, 0.25, 0);
    this->template check<false, 2, std::int64_t>({9, 33}, layout, true, 0, 0);
  }
}

// Rows too long for registers, classes that are not innermost, another type of labels.
TEST(CrossEntropyOf, long_rows_and_images) {
  CrossEntropy<float>::check<true, 2, std::int64_t>({2, 40000}, Layout::contiguous, true, 0.1);
  CrossEntropy<float>::check<true, 2, std::int64_t>({700, 10}, Layout::contiguous, false, 0);
  for (const Layout layout : {Layout::contiguous, Layout::channels_last}) {
    CrossEntropy<float>::check<true, 4, std::uint8_t>({2, 21, 5, 7}, layout, true, 0.1, 255);
    CrossEntropy<float>::check<false, 4, std::uint8_t>({2, 21, 5, 7}, layout, true, 0, 255);
  }
}

TEST(CrossEntropyGradient, by_differences) {
  const Extents shape{3, 5, 2};
  const auto x = real_operand<double, 3>(shape, -2, 2, Layout::contiguous, 1);
  const auto y = labels<std::int64_t, 2>({3, 2}, 5, -100, Layout::contiguous, 2);
  ClassRule rule;
  rule.weights = {0.5, 1, 2, 0.25, 3}, rule.smoothing = 0.2;
  const auto forward = [&](const Array& at) { return over_samples(reference::cross_entropy, at, y.values, rule); };
  const Array want = reference::differences(forward, x.values, Array({3, 2}, 1));
  EXPECT_TRUE(
      close(over_samples(reference::cross_entropy_gradient, x.values, y.values, rule), want, Array(shape, 1e-7)))
      << "the reference itself";
  const auto w = to_tensor<double, 1>(list(rule.weights));
  EXPECT_TRUE(
      close(value_of(hd::cross_entropy_grad(1, x.tensor, y.tensor, w, reduction::sum, {.label_smoothing = 0.2})), want,
            Array(shape, 1e-7)));
}

TEST(CrossEntropyCases, of_one_sample_without_a_batch) {
  const auto x = real_operand<float, 1>({7}, -2, 2, Layout::contiguous, 1);
  const auto y = to_tensor<std::int64_t, 0>(scalar(4));
  const double want = reference::cross_entropy(x.values.values, 4, {});
  EXPECT_NEAR(hd::cross_entropy(x.tensor, y).item(), want, 1e-5);
  EXPECT_NEAR(hd::nll_loss(x.tensor, y).item(), -x.values[4], 1e-6);
  const Array slope({7}, reference::cross_entropy_gradient(x.values.values, 4, {}));
  EXPECT_TRUE(close(value_of(hd::cross_entropy_grad(1, x.tensor, y)), slope, Array({7}, 1e-6)));
}

TEST(CrossEntropyCases, R056_huge_equal_logits) {
  for (const double offset : {1e8, 0.0}) {
    const auto x = to_tensor<float, 2>(Array({1, 2}, offset));
    EXPECT_NEAR(hd::cross_entropy(x, to_tensor<std::int64_t, 1>(list({1}))).item(), 0.6931472, 1e-6);
  }
}

TEST(CrossEntropyCases, R084_all_labels_ignored) {
  const auto x = real_operand<float, 2>({10, 5}, -2, 2, Layout::contiguous, 1);
  const auto y = to_tensor<std::int64_t, 1>(Array({10}, -100));
  EXPECT_TRUE(equal(value_of(hd::cross_entropy(x.tensor, y, reduction::none)), Array({10})));
  EXPECT_EQ(hd::cross_entropy(x.tensor, y, reduction::sum).item(), 0.0F);
  EXPECT_TRUE(std::isnan(hd::cross_entropy(x.tensor, y).item()));
  EXPECT_TRUE(std::isnan(hd::nll_loss(x.tensor, y).item()));
  expect_equal<float, 2>([&] { return hd::cross_entropy_grad(1, x.tensor, y, reduction::sum); }, Array({10, 5}));
  expect_equal<float, 2>([&] { return hd::cross_entropy_grad(1, x.tensor, y); }, Array({10, 5}));
  expect_equal<float, 2>([&] { return hd::nll_loss_grad(1, x.tensor, y); }, Array({10, 5}));
  // A non-finite sample that is ignored does not count either.
  const auto bad = to_tensor<float, 2>(matrix({{NAN, 1}, {0, 0}}));
  const auto second = to_tensor<std::int64_t, 1>(list({-100, 0}));
  EXPECT_NEAR(hd::cross_entropy(bad, second).item(), std::log(2.0), 1e-6);
  EXPECT_TRUE(equal(value_of(hd::cross_entropy_grad(1, bad, second)), matrix({{0, 0}, {-0.5, 0.5}})));
}

TEST(CrossEntropyCases, R086_labels_that_are_no_class) {
  const auto x = real_operand<float, 2>({3, 5}, -2, 2, Layout::contiguous, 1);
  for (const double bad : {-4.0, 5.0}) {
    const auto y = to_tensor<std::int64_t, 1>(list({0, 2, bad}));
    const std::string number = std::to_string(static_cast<int>(bad));
    const auto refused = [&](const char* operation, auto call) {
      if constexpr (on_cuda) {
        EXPECT_TRUE(mentions(message_of<hd::DeviceError>(call), {operation, number.c_str(), "5"}));
      } else {
        EXPECT_TRUE(mentions(message_of<hd::IndexError>(call), {operation, number.c_str(), "5"}));
      }
    };
    refused("cross_entropy", [&] { (void)hd::cross_entropy(x.tensor, y).item(); });
    refused("cross_entropy", [&] { (void)hd::cross_entropy(x.tensor, y, reduction::none).to_vector(); });
    refused("cross_entropy_grad", [&] { (void)hd::cross_entropy_grad(1, x.tensor, y).to_vector(); });
    refused("nll_loss", [&] { (void)hd::nll_loss(x.tensor, y).item(); });
    refused("nll_loss_grad", [&] { (void)hd::nll_loss_grad(1, x.tensor, y).to_vector(); });
  }
  // The device works on.
  EXPECT_GT(hd::cross_entropy(x.tensor, to_tensor<std::int64_t, 1>(list({0, 2, 4}))).item(), 0.0F);
}

TEST(CrossEntropyCases, infinite_logits) {
  const auto x = to_tensor<float, 2>(
      matrix({{-INFINITY, 0, 0}, {-INFINITY, -INFINITY, -INFINITY}, {0, NAN, 0}, {0, INFINITY, 0}, {0, 0, 0}}));
  const auto y = to_tensor<std::int64_t, 1>(list({0, 1, 0, 1, 2}));
  EXPECT_TRUE(close(value_of(hd::cross_entropy(x, y, reduction::none)), list({INFINITY, NAN, NAN, NAN, std::log(3.0)}),
                    Array({5}, 1e-6)));
  EXPECT_TRUE(
      close(value_of(hd::nll_loss(x, y, reduction::none)), list({INFINITY, INFINITY, -0.0, -INFINITY, 0}), Array({5})));
}

TEST(CrossEntropyCases, targets_that_are_distributions) {
  const Extents shape{5, 9};
  const auto x = real_operand<float, 2>(shape, -3, 3, Layout::contiguous, 1);
  const auto t = real_operand<float, 2>(shape, 0, 1, Layout::transposed, 2);
  const Array logs = reference::log_softmax(x.values, 1);
  const auto each = [&](double s) {
    const Array mixed = t.values * scalar(1 - s) + scalar(s / 9);
    return reference::reduce(reference::sum, mixed * logs, {1}) * scalar(-1);
  };
  for (const double s : {0.0, 0.3}) {
    const hd::cross_entropy_options options{-100, s};
    EXPECT_TRUE(close(value_of(hd::cross_entropy(x.tensor, t.tensor, reduction::none, options)), each(s),
                      tolerance::composite<float>(each(s))));
    EXPECT_NEAR(hd::cross_entropy(x.tensor, t.tensor, options).item(), total(each(s)) / 5, 1e-5);
  }
}

TEST(CrossEntropyCases, of_nothing) {
  const auto x = to_tensor<float, 2>(Array({0, 5}));
  const auto y = to_tensor<std::int64_t, 1>(Array({0}));
  EXPECT_TRUE(std::isnan(hd::cross_entropy(x, y).item()));
  EXPECT_EQ(hd::cross_entropy(x, y, reduction::sum).item(), 0.0F);
  EXPECT_EQ(hd::eval(hd::cross_entropy(x, y, reduction::none)).shape(), (hd::Shape<1>{0}));
  EXPECT_EQ(hd::eval(hd::cross_entropy_grad(1, x, y)).shape(), x.shape());
  EXPECT_TRUE(std::isnan(hd::nll_loss(x, y).item()));
}

TEST(CrossEntropyCases, what_is_refused) {
  const auto x = to_tensor<float, 2>(Array({3, 5}));
  const auto y = to_tensor<std::int64_t, 1>(Array({2})), three = to_tensor<std::int64_t, 1>(Array({3}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::cross_entropy(x, y); }),
                       {"cross_entropy", "(2,)", "(3, 5)"}));
  EXPECT_TRUE(
      mentions(message_of<hd::ShapeError>([&] { (void)hd::nll_loss(x, three, to_tensor<float, 1>(Array({4}))); }),
               {"nll_loss", "4", "5"}));
  EXPECT_THROW((void)hd::cross_entropy(x, three, {.label_smoothing = 1.5}), hd::Error);
  EXPECT_THROW((void)hd::cross_entropy(to_tensor<float, 2>(Array({3, 0})), three), hd::ShapeError);
  const auto own = to_tensor<float, 1>(Array({2}));
  EXPECT_THROW((void)hd::cross_entropy_grad(own, x, three, reduction::none), hd::ShapeError);
}

TEST(CrossEntropyCases, the_same_bits_every_time) {
  const auto x = real_operand<float, 2>({700, 33}, -5, 5, Layout::contiguous, 1);
  const auto y = labels<std::int64_t, 1>({700}, 33, -100, Layout::contiguous, 2);
  const float first = hd::cross_entropy(x.tensor, y.tensor).item();
  for (int run = 0; run < 5; ++run) EXPECT_EQ(hd::cross_entropy(x.tensor, y.tensor).item(), first);
}

}  // namespace
