#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/scan.hpp>

#include <cmath>
#include <cstring>
#include <limits>

#include "harness/expect.hpp"
#include "reference/along_axis.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::along_axis;
using reference::counting;
using reference::list;
using reference::matrix;

const Array one(Extents{}, 1.0);

template <class T>
using Sum = hd::sum_result_t<T>;

template <int Axis, class T, int Rank>
void check_cumsum(const Extents& shape, Layout layout) {
  const auto x = exact_operand<T, Rank>(shape, layout, 1);
  expect_equal<Sum<T>, Rank>([&] { return hd::cumsum(x.tensor, hd::axis<Axis>); },
                             along_axis(reference::cumsum, x.values, Axis), describe(shape, layout));
}

TEST(Cumsum, along_every_axis_in_every_layout) {
  for (const Layout layout : input_layouts()) {
    check_cumsum<0, float, 3>({17, 5, 33}, layout);
    check_cumsum<1, float, 3>({5, 130, 3}, layout);
    check_cumsum<2, float, 3>({3, 5, 1100}, layout);
  }
  for (const Extents& shape : {Extents{0, 3}, Extents{3, 0}, Extents{1, 1}, Extents{1, 70}, Extents{70, 1}}) {
    check_cumsum<0, float, 2>(shape, Layout::contiguous);
    check_cumsum<1, float, 2>(shape, Layout::contiguous);
  }
}

TEST(Cumsum, long_lines) {
  for (const std::int64_t length : {127, 128, 129, 1023, 1025, 4096, 4097, 12289, 70001})
    check_cumsum<0, float, 1>({length}, Layout::contiguous);
  check_cumsum<1, float, 2>({3, 20000}, Layout::contiguous);
  check_cumsum<0, float, 2>({20000, 3}, Layout::contiguous);
  check_cumsum<0, float, 2>({3000, 40}, Layout::contiguous);
}

template <class T>
class ScanOf : public testing::Test {};
using ScannedTypes =
    testing::Types<bool, std::int8_t, std::uint8_t, std::int32_t, std::int64_t, hd::half, hd::bfloat16, double>;
TYPED_TEST_SUITE(ScanOf, ScannedTypes);

TYPED_TEST(ScanOf, every_type) {
  const auto x = exact_operand<TypeParam, 2>({5, 60}, Layout::contiguous, 1);
  const auto sums = hd::eval(hd::cumsum(x.tensor, hd::axis<1>));
  static_assert(std::is_same_v<typename decltype(sums)::value_type, Sum<TypeParam>>);
  EXPECT_TRUE(equal(to_array(sums), along_axis(reference::cumsum, x.values, 1)));
  // Powers of 2 are exact products.
  Array halves(Extents{3, 20});
  for (std::int64_t i = 0; i < halves.size(); ++i)
    halves[i] = hd::kind_of<TypeParam> == hd::kind::floating && i % 3 == 0
                    ? 0.5
                    : (i % 2 == 0 || std::is_same_v<TypeParam, bool> ? 1 : 2);
  const auto factors = to_tensor<TypeParam, 2>(halves);
  EXPECT_TRUE(equal(value_of(hd::cumprod(factors, hd::axis<1>)),
                    rounded_to<Sum<TypeParam>>(along_axis(reference::cumprod, to_array(factors), 1))));
}

TEST(Cumsum, real_values_within_the_bound_of_sums) {
  const Extents shape{4, 5000};
  const auto x = real_operand<float, 2>(shape, -1, 1, Layout::contiguous, 1);
  const Array want = along_axis(reference::cumsum, x.values, 1);
  const Array magnitude =
      along_axis(reference::cumsum, reference::map([](double v) { return std::fabs(v); }, x.values), 1);
  const Array allowed = tolerance::sum<float>(5000, magnitude, want);
  expect_close<float, 2>([&] { return hd::cumsum(x.tensor, hd::axis<-1>); }, want, allowed);
}

TEST(Cumsum, halves_add_up_in_float) {
  const auto x = hd::ones<hd::half>({4000}, test_device());
  const auto sums = hd::cumsum(x).to_vector();
  EXPECT_EQ(static_cast<float>(sums[3999]), 4000.0F);
  EXPECT_EQ(static_cast<float>(sums[2048]), 2048.0F);  // 2049 is not a half
}

TEST(Cumsum, the_same_bits_every_time) {
  const auto x = real_operand<float, 2>({3, 30011}, -1, 1, Layout::contiguous, 7);
  const auto first = hd::cumsum(x.tensor, hd::axis<1>).to_vector();
  for (int run = 0; run < 3; ++run) {
    const auto again = hd::cumsum(x.tensor, hd::axis<1>).to_vector();
    EXPECT_EQ(std::memcmp(again.data(), first.data(), first.size() * sizeof(float)), 0);
  }
}

TEST(Cumsum, special_values_go_on) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto x = to_tensor<float, 1>(list({1, inf, 2, -inf, 1, nan, 3}));
  EXPECT_TRUE(equal(value_of(hd::cumsum(x)), list({1, inf, inf, nan, nan, nan, nan})));
  EXPECT_TRUE(equal(value_of(hd::cumprod(to_tensor<float, 1>(list({2, 0, inf, 1})))), list({2, 0, nan, nan})));
  const std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  auto wrapping = hd::full<std::int64_t>({2}, greatest, test_device());
  EXPECT_EQ(hd::cumsum(wrapping).to_vector()[1], -2);
}

TEST(Cumsum, fuses_what_is_above_and_below) {
  const auto x = exact_operand<float, 2>({5, 300}, Layout::contiguous, 1);
  const auto row = exact_operand<float, 1>({300}, Layout::contiguous, 2);
  expect_equal<float, 2>([&] { return hd::cumsum(x.tensor + 1.0F, hd::axis<1>) * row.tensor; },
                         along_axis(reference::cumsum, x.values + one, 1) * reference::expand(row.values, {5, 300}));
  expect_equal<float, 2>([&] { return hd::cumsum(x.tensor + 1.0F, hd::axis<0>) * row.tensor; },
                         along_axis(reference::cumsum, x.values + one, 0) * reference::expand(row.values, {5, 300}));
}

TEST(Cumsum, in_place_and_gradient) {
  const auto x = to_tensor<float, 1>(counting({300}));
  x.assign(hd::cumsum(x));
  EXPECT_TRUE(equal(to_array(x), along_axis(reference::cumsum, counting({300}), 0)));
  const auto dy = to_tensor<float, 2>(matrix({{1, 2, 3}, {4, 5, 6}}));
  EXPECT_TRUE(equal(to_array(hd::cumsum_grad(dy, hd::axis<1>)), matrix({{6, 5, 3}, {15, 11, 6}})));
}

}  // namespace
