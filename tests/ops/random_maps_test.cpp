// What is drawn by maps of the elements' numbers: randint, bernoulli, dropout, and permutation.
#include <heddle/ops/activation.hpp>
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/dropout.hpp>
#include <heddle/ops/permutation.hpp>
#include <heddle/ops/reduce.hpp>
#include <heddle/ops/softmax.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "harness/expect.hpp"
#include "reference/reduce.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::list;
using reference::map;

const TestDevice device = test_device();

/// How far counts are from equal ones, in standard deviations of the chi-square statistic.
double unevenness(const std::vector<std::int64_t>& counts) {
  double total = 0, statistic = 0;
  for (const std::int64_t count : counts) total += static_cast<double>(count);
  const double expected = total / static_cast<double>(counts.size());
  for (const std::int64_t count : counts)
    statistic += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected) / expected;
  const double freedom = static_cast<double>(counts.size() - 1);
  return (statistic - freedom) / std::sqrt(2 * freedom);
}

template <class T>
struct RandomIntegers : testing::Test {};
using IntegerTypes = testing::Types<std::int8_t, std::int32_t, std::uint64_t, hd::half>;
TYPED_TEST_SUITE(RandomIntegers, IntegerTypes);

TYPED_TEST(RandomIntegers, are_all_of_the_range_equally_likely_and_the_same_on_every_device) {
  hd::Generator here(42), there(42);
  const Array drawn = to_array(hd::randint<TypeParam>(here, 3, 10, {20003}, device));
  EXPECT_TRUE(identical(drawn, to_array(hd::randint<TypeParam>(there, 3, 10, {20003}, hd::cpu))));
  std::vector<std::int64_t> counts(7);
  for (const double value : drawn.values) {
    ASSERT_TRUE(value >= 3 && value < 10);
    ++counts[static_cast<std::size_t>(value - 3)];
  }
  EXPECT_LT(unevenness(counts), 4);
  EXPECT_EQ(hd::randint<TypeParam>(here, 5, 6, {}, device).item(), static_cast<TypeParam>(5));
}

TEST(RandomIntegers, are_unbiased_in_ranges_that_are_no_power_of_two) {
  // Of 2^64 draws a plain product would give every third of these numbers twice as often.
  hd::Generator generator(1);
  const auto drawn = hd::randint<std::uint64_t>(generator, 0, std::uint64_t{3} << 62, {30000}, device).to_vector();
  std::vector<std::int64_t> counts(3);
  for (const std::uint64_t value : drawn) {
    ASSERT_LT(value, std::uint64_t{3} << 62);
    ++counts[value % 3];
  }
  EXPECT_LT(unevenness(counts), 4);
}

TEST(RandomIntegers, cover_whole_types) {
  hd::Generator generator(2);
  using Limits = std::numeric_limits<std::int64_t>;
  bool below = false, above = false;
  for (const std::int64_t value :
       hd::randint<std::int64_t>(generator, Limits::min(), Limits::max(), {100}, device).to_vector()) {
    below = below || value < Limits::min() / 2;
    above = above || value > Limits::max() / 2;
  }
  EXPECT_TRUE(below && above);
  const Array bytes = to_array(hd::randint<std::int8_t>(generator, -128, 128, {20000}, device));
  EXPECT_EQ(reference::min(bytes.values), -128);
  EXPECT_EQ(reference::max(bytes.values), 127);
}

TEST(RandomIntegers, refuse_what_they_cannot_give) {
  hd::Generator generator(1);
  EXPECT_TRUE(mentions(message_of<hd::Error>([&] { hd::randint<int>(generator, 5, 5, {3}, device); }), {"5", "below"}));
  EXPECT_TRUE(mentions(message_of<hd::Error>([&] { hd::randint<std::int8_t>(generator, 0, 129, {3}, device); }),
                       {"int8", "129"}));
  message_of<hd::Error>([&] { hd::randint<hd::half>(generator, 0, 2050, {3}, device); });
  message_of<hd::Error>([&] { hd::randint<std::uint8_t>(generator, -1, 5, {3}, device); });
  message_of<hd::ShapeError>([&] { hd::randint<int>(generator, 0, 5, {-3}, device); });
  EXPECT_EQ(generator.offset(), 0u) << "nothing was drawn";
}

TEST(Bernoulli, gives_ones_as_often_as_asked) {
  hd::Generator here(3), there(3);
  const Array drawn = to_array(hd::bernoulli<bool>(here, 0.3, {30001}, device));
  EXPECT_TRUE(identical(drawn, to_array(hd::bernoulli<bool>(there, 0.3, {30001}, hd::cpu))));
  EXPECT_NEAR(reference::mean(drawn.values), 0.3, 4 * std::sqrt(0.3 * 0.7 / 30001));
  EXPECT_TRUE(equal(to_array(hd::bernoulli<float>(here, 0, {1000}, device)), Array({1000}, 0)));
  EXPECT_TRUE(equal(to_array(hd::bernoulli<float>(here, 1, {1000}, device)), Array({1000}, 1)));
  for (const double p : {-0.1, 1.1, static_cast<double>(NAN)})
    EXPECT_TRUE(
        mentions(message_of<hd::Error>([&] { hd::bernoulli<float>(p, {3}, device); }), {"bernoulli", "0 to 1"}));
}

TEST(Bernoulli, takes_a_tensor_of_probabilities) {
  const Array p = list({0, 0.25, 1, -1, 2, NAN});
  const auto x = to_tensor<float, 1>(p).unsqueeze(hd::axis<0>).expand({20000, 6});
  hd::Generator generator(4);
  const hd::Tensor drawn = hd::bernoulli(generator, x);
  static_assert(std::is_same_v<decltype(drawn)::value_type, float>);
  const Array often = to_array(hd::Tensor(hd::mean(drawn, hd::axis<0>)));
  for (const auto& [at, want] : std::map<std::int64_t, double>{{0, 0}, {2, 1}, {3, 0}, {4, 1}, {5, 0}})
    EXPECT_EQ(often[at], want) << "p = " << p[at];
  EXPECT_NEAR(often[1], 0.25, 4 * std::sqrt(0.25 * 0.75 / 20000));
}

TEST(Permutation, is_one_and_the_same_on_every_device) {
  for (const std::int64_t n : {0, 1, 2, 100, 5000}) {
    hd::Generator here(5), there(5), other(6);
    const auto drawn = hd::permutation(here, n, device).to_vector();
    EXPECT_EQ(drawn, hd::permutation(there, n, hd::cpu).to_vector());
    std::vector<bool> seen(static_cast<std::size_t>(n));
    for (const std::int64_t i : drawn) {
      ASSERT_TRUE(i >= 0 && i < n && !seen[static_cast<std::size_t>(i)]) << i << " of " << n;
      seen[static_cast<std::size_t>(i)] = true;
    }
    EXPECT_EQ(static_cast<std::int64_t>(drawn.size()), n);
    if (n > 2) {
      EXPECT_NE(drawn, hd::permutation(other, n, device).to_vector());
    }
  }
  message_of<hd::ShapeError>([] { hd::permutation(-1, hd::cpu); });
}

TEST(Permutation, all_orders_are_equally_likely) {
  hd::Generator generator(7);
  std::map<std::vector<std::int64_t>, std::int64_t> orders;
  for (int i = 0; i < 4800; ++i) ++orders[hd::permutation(generator, 4, hd::cpu).to_vector()];
  ASSERT_EQ(orders.size(), 24u);
  std::vector<std::int64_t> counts;
  for (const auto& [order, count] : orders) counts.push_back(count);
  EXPECT_LT(unevenness(counts), 4);
}

template <class T>
struct Dropout : testing::Test {
  const Array values = rounded_to<T>(uniform({24, 40}, -2, 2, 1));
  const hd::RandomState state = hd::Generator(8).next_state();
  // The same words as numbers, of which 0.25 is an exact bound.
  const Array uniforms = [] {
    hd::Generator generator(8);
    return to_array(hd::rand<float>(generator, {24, 40}, hd::cpu));
  }();
  Array dropped(const Array& x) const {
    const double scale = static_cast<double>(static_cast<hd::compute_type<T>>(1 / 0.75));
    return map([=](double v, double u) { return u < 0.25 ? 0 : v * scale; }, x, uniforms);
  }
  Array allowed(const Array& want) const { return tolerance::units(tolerance::precision_of<T>(), want, 1); }
  void same(const Array& fused, const Array& steps) const {
    EXPECT_TRUE(close(fused, steps, tolerance::composite<T>(steps)));
  }
};
using FloatTypes = testing::Types<hd::half, float, double>;
TYPED_TEST_SUITE(Dropout, FloatTypes);

TYPED_TEST(Dropout, scales_what_it_keeps_and_its_gradient_keeps_the_same) {
  const Array want = this->dropped(this->values);
  for (const Layout layout : {Layout::contiguous, Layout::transposed, Layout::pitched}) {
    const auto x = to_tensor<TypeParam, 2>(this->values, layout);
    expect_close<TypeParam, 2>([&] { return hd::dropout(x, 0.25, this->state); }, want, this->allowed(want),
                               name_of(layout));
  }
  const Array dy = rounded_to<TypeParam>(uniform({24, 40}, 1, 2, 2));
  const TestTensor<TypeParam, 2> dx = hd::dropout_grad(to_tensor<TypeParam, 2>(dy), 0.25, this->state);
  EXPECT_TRUE(close(to_array(dx), this->dropped(dy), this->allowed(this->dropped(dy))));
}

TYPED_TEST(Dropout, rides_in_other_kernels) {
  const auto x = to_tensor<TypeParam, 2>(this->values);
  const TestTensor<TypeParam, 2> alone = hd::dropout(x, 0.5, this->state);
  const auto rides = [&] { return hd::dropout(x, 0.5, this->state); };
  using Sum = TestTensor<TypeParam, 1>;
  this->same(to_array(Sum(hd::sum(rides(), hd::axis<1>))), to_array(Sum(hd::sum(alone, hd::axis<1>))));
  this->same(to_array(Sum(hd::sum(rides(), hd::axis<0>))), to_array(Sum(hd::sum(alone, hd::axis<0>))));
  const TestTensor<TypeParam, 2> before = hd::softmax(rides(), hd::axis<1>), after = hd::softmax(alone, hd::axis<1>);
  this->same(to_array(before), to_array(after));
  const TestTensor<TypeParam, 2> steps = hd::softmax(x, hd::axis<1>), step = hd::dropout(steps, 0.5, this->state),
                                 fused = hd::dropout(hd::softmax(x, hd::axis<1>), 0.5, this->state);
  this->same(to_array(fused), to_array(step));
}

TEST(DropoutRules, one_mask_for_all_where_it_is_broadcast) {
  const auto row = hd::dropout(to_tensor<float, 1>(Array({1000}, 1)), 0.5, hd::Generator(9).next_state());
  const TestTensor<float, 2> y = to_tensor<float, 2>(Array({3, 1000}, 0)) + row;
  const Array got = to_array(y), want = value_of(row);
  EXPECT_TRUE(equal(got, reference::expand(want, {3, 1000})));
  EXPECT_NEAR(reference::mean(want.values), 1, 4 / std::sqrt(1000));
}

TEST(DropoutRules, R046_probabilities_0_and_1_and_infinite_elements) {
  const auto x = to_tensor<float, 1>(list({1, -2, 3}));
  EXPECT_TRUE(identical(value_of(hd::dropout(x, 0)), to_array(x)));
  EXPECT_TRUE(identical(value_of(hd::dropout(x, 1)), Array({3}, 0)));
  const Array wide = value_of(hd::dropout(to_tensor<float, 1>(Array({1000}, INFINITY)), 0.1));
  int dropped = 0;
  for (const double value : wide.values) {
    EXPECT_TRUE(value == 0 || value == INFINITY);
    dropped += value == 0;
  }
  EXPECT_NEAR(dropped, 100, 4 * std::sqrt(90.0));
  message_of<hd::Error>([&] { hd::dropout(x, 1.5); });
}

TEST(DropoutRules, formulas_keep_their_state_and_generators_go_on) {
  const auto x = to_tensor<float, 1>(Array({100}, 1));
  hd::Generator generator(10);
  const auto formula = hd::dropout(generator, x, 0.5);
  EXPECT_TRUE(equal(value_of(formula), value_of(formula)));
  EXPECT_FALSE(equal(value_of(formula), value_of(hd::dropout(generator, x, 0.5))));
  EXPECT_EQ(generator.offset(), 2u);
  static_assert(std::is_same_v<decltype(hd::dropout(hd::cast<int>(x)))::value_type, float>);
}

}  // namespace
