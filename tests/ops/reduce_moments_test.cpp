// Variance, standard deviation, norms and logsumexp.
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/math.hpp>
#include <heddle/ops/reduce.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

#include "harness/expect.hpp"
#include "reference/map.hpp"
#include "reference/reduce.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using hd::axes;
using hd::axis;
using hd::correction;
using hd::keep_dims;
using reference::list;
using reference::List;
using reference::matrix;
using reference::reduce;

double logsumexp(const List& x) {
  const double greatest = x.empty() ? -INFINITY : reference::max(x);
  if (std::isinf(greatest)) return greatest;
  double total = 0;
  for (const double value : x) total += std::exp(value - greatest);
  return greatest + std::log(total);
}
/// Of that order.
std::function<double(const List&)> norm(double p) {
  return [p](const List& x) {
    double total = std::isinf(p) && p < 0 ? INFINITY : 0;
    for (const double value : x) {
      const double size = std::fabs(value);
      if (std::isinf(p))
        total = p > 0 ? std::max(total, size) : std::min(total, size);
      else
        total += p == 0 ? (size == 0 ? 0 : 1) : std::pow(size, p);
    }
    return p == 0 || std::isinf(p) ? total : std::pow(total, 1 / p);
  };
}
double population(const List& x) { return reference::variance(x, 0); }
double sample(const List& x) { return reference::variance(x, 1); }
double deviation(const List& x) { return std::sqrt(reference::variance(x, 1)); }

template <class T>
struct ReduceMoments : testing::Test {
  template <class E>
  static void expect(E&& formula, const Array& want, const std::string& what) {
    EXPECT_TRUE(close(value_of(std::forward<E>(formula)), want, tolerance::composite<T>(want))) << what;
  }
};
using Types =
    std::conditional_t<on_cuda, testing::Types<hd::half, float>, testing::Types<hd::half, hd::bfloat16, float, double>>;
TYPED_TEST_SUITE(ReduceMoments, Types);

TYPED_TEST(ReduceMoments, over_axes_of_every_layout) {
  for (const Layout layout : input_layouts()) {
    const auto x = real_operand<TypeParam, 3>({7, 5, 33}, -1, 3, layout, 1);
    const Array& v = x.values;
    const std::string what = name_of(layout);
    this->expect(hd::var(x.tensor, axis<-1>), reduce(sample, v, {2}), "var, " + what);
    this->expect(hd::var(x.tensor, axes<0, 2>, keep_dims, correction{0}), reduce(population, v, {0, 2}, true),
                 "population, " + what);
    this->expect(hd::stddev(x.tensor, axis<0>), reduce(deviation, v, {0}), "stddev, " + what);
    this->expect(hd::logsumexp(x.tensor, axis<1>), reduce(logsumexp, v, {1}), "logsumexp, " + what);
    this->expect(hd::norm(x.tensor, axis<2>), reduce(norm(2), v, {2}), "norm, " + what);
  }
}

TYPED_TEST(ReduceMoments, of_every_length) {
  for (const std::int64_t length : {2, 31, 65, 257, 1025, 40000}) {
    const auto x = real_operand<TypeParam, 1>({length}, -1, 3, Layout::contiguous, 2);
    this->expect(hd::var(x.tensor), reduce(sample, x.values), std::to_string(length));
    this->expect(hd::logsumexp(x.tensor), reduce(logsumexp, x.values), std::to_string(length));
  }
}

TEST(ReduceMomentsCases, norms_of_every_order) {
  const auto x = to_tensor<float, 2>(integers({9, 33}, -4, 4, 3));
  const Array values = to_array(x);
  for (const double p : {0.0, 1.0, 2.0, 3.0, 0.5, static_cast<double>(INFINITY), -static_cast<double>(INFINITY)}) {
    const Array want = reduce(norm(p), values, {1});
    EXPECT_TRUE(close(value_of(hd::norm(x, p, axis<1>)), want, tolerance::composite<float>(want))) << p;
  }
  EXPECT_EQ(hd::norm(to_tensor<float, 1>(list({1, NAN})), 1).item() > 0, false);
  EXPECT_TRUE(std::isnan(hd::norm(to_tensor<float, 1>(list({1, NAN})), INFINITY).item()));
  const auto none = to_tensor<float, 2>(Array({3, 0}));
  EXPECT_TRUE(equal(value_of(hd::norm(none, axis<1>)), Array({3})));
  EXPECT_THROW((void)hd::norm(none, INFINITY, axis<1>), hd::ShapeError);
}

TEST(ReduceMomentsCases, R060_variances_do_not_cancel) {
  const auto quarters = to_tensor<float, 1>(list({4096, 4096.25, 4096.5, 4096.75}));
  EXPECT_EQ(hd::var(quarters, correction{0}).item(), 0.078125F);
  EXPECT_NEAR(hd::var(quarters).item(), 0.1041667, 1e-7);
  const auto tenths = to_tensor<float, 1>(list({10000, 10000.1, 10000.2}));
  EXPECT_NEAR(hd::var(tenths, correction{0}).item(), 0.00667975, 0.00667975e-3);
  EXPECT_NEAR(hd::var(tenths).item(), 0.01001962, 0.01001962e-3);
  EXPECT_EQ(hd::var(to_tensor<float, 1>(list({1e8, 1e8 + 8, 1e8 + 16}))).item(), 64.0F);
  EXPECT_EQ(hd::var(to_tensor<double, 1>(list({1e8, 1e8 + 1, 1e8 + 2}))).item(), 1.0);
  EXPECT_EQ(hd::var(to_tensor<int, 1>(list({100000000, 100000001, 100000002}))).item(), 1.0F);
  EXPECT_EQ(static_cast<float>(hd::var(to_tensor<hd::half, 1>(Array({1024}, 100))).item()), 0.0F);
}

TEST(ReduceMomentsCases, R076_of_one_element) {
  const auto x = to_tensor<float, 1>(list({4}));
  EXPECT_TRUE(std::isnan(hd::stddev(x).item()));
  EXPECT_EQ(hd::stddev(x, correction{0}).item(), 0.0F);
  const auto column = to_tensor<float, 2>(Array({3, 1}, 4));
  EXPECT_TRUE(equal(value_of(hd::stddev(column, axis<1>)), Array({3}, NAN)));
  EXPECT_TRUE(equal(value_of(hd::stddev(column, axis<1>, correction{0})), Array({3})));
}

TEST(ReduceMomentsCases, R044_logsumexp_of_infinities) {
  const auto of = [](List values) { return hd::logsumexp(to_tensor<float, 1>(list(std::move(values)))).item(); };
  EXPECT_EQ(of({-INFINITY, -INFINITY}), -INFINITY);
  EXPECT_EQ(of({INFINITY, 0}), INFINITY);
  EXPECT_EQ(of({-INFINITY, 0}), 0.0F);
  EXPECT_EQ(of({}), -INFINITY);
  EXPECT_TRUE(std::isnan(of({NAN, 0})));
  EXPECT_NEAR(of({1000, 1000}), 1000 + std::log(2.0), 1e-4);
  EXPECT_NEAR(of({-1000, -1000}), -1000 + std::log(2.0), 1e-4);
}

TEST(ReduceMomentsCases, R044_gradient_of_logsumexp) {
  const auto x = to_tensor<float, 2>(matrix({{-INFINITY, -INFINITY}, {0, -INFINITY}, {INFINITY, 0}, {3, 3}}));
  const auto dy = to_tensor<float, 1>(list({2, 3, 4, 6}));
  const Array want = matrix({{0, 0}, {3, 0}, {4, 0}, {3, 3}}), allowed({4, 2}, 1e-6);
  EXPECT_TRUE(close(value_of(hd::logsumexp_grad(dy, x, axis<1>)), want, allowed));
  EXPECT_TRUE(close(value_of(hd::logsumexp_grad(dy.reshape({4, 1}), x, axis<1>, keep_dims)), want, allowed));
  EXPECT_THROW(hd::logsumexp_grad(dy, x, axis<0>), hd::ShapeError);
}

TEST(ReduceMomentsCases, nothing_and_nan) {
  const auto none = to_tensor<float, 2>(Array({2, 0}));
  EXPECT_TRUE(equal(value_of(hd::var(none, axis<1>)), Array({2}, NAN)));
  EXPECT_TRUE(equal(value_of(hd::logsumexp(none, axis<1>)), Array({2}, -INFINITY)));
  EXPECT_TRUE(std::isnan(hd::var(to_tensor<float, 1>(list({1, NAN, 2}))).item()));
}

TEST(ReduceMomentsCases, maps_around_them) {
  const auto x = real_operand<float, 2>({9, 65}, -1, 3, Layout::contiguous, 4);
  const Array two({}, 2);
  const Array want = reference::map([](double v) { return 1 / std::sqrt(v + 1); }, reduce(sample, x.values * two, {1}));
  EXPECT_TRUE(close(value_of(hd::rsqrt(hd::var(x.tensor * 2, axis<1>) + 1)), want, tolerance::composite<float>(want)));
}

}  // namespace
