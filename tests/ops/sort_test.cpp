#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/index.hpp>
#include <heddle/ops/sort.hpp>

#include <cmath>
#include <limits>

#include "harness/expect.hpp"
#include "reference/along_axis.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::along_axis;
using reference::counting;
using reference::List;
using reference::list;
using reference::matrix;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const Array one(Extents{}, 1.0);

List ascending(const List& x) { return reference::sort(x); }
List descending(const List& x) { return reference::sort(x, true); }
List order(const List& x) { return reference::argsort(x); }
List descending_order(const List& x) { return reference::argsort(x, true); }

/// Few distinct values, so that there are many equal ones.
template <int Axis, class T, int Rank>
void check_sort(const Extents& shape, Layout layout) {
  const auto x = exact_operand<T, Rank>(shape, layout, 1);
  const std::string what = describe(shape, layout);
  expect_equal<T, Rank>([&] { return hd::sort(x.tensor, hd::axis<Axis>); }, along_axis(ascending, x.values, Axis),
                        what);
  expect_equal<T, Rank>([&] { return hd::sort(x.tensor, hd::axis<Axis>, true); },
                        along_axis(descending, x.values, Axis), what);
  expect_equal<std::int64_t, Rank>([&] { return hd::argsort(x.tensor, hd::axis<Axis>); },
                                   along_axis(order, x.values, Axis), what);
  expect_equal<std::int64_t, Rank>([&] { return hd::argsort(x.tensor, hd::axis<Axis>, true); },
                                   along_axis(descending_order, x.values, Axis), what);
}

TEST(Sort, along_every_axis_in_every_layout) {
  for (const Layout layout : input_layouts()) {
    check_sort<0, float, 3>({17, 3, 5}, layout);
    check_sort<1, float, 3>({3, 70, 5}, layout);
    check_sort<2, float, 3>({3, 5, 130}, layout);
  }
  for (const Extents& shape :
       {Extents{0, 2, 3}, Extents{2, 0, 3}, Extents{2, 3, 0}, Extents{1, 1, 1}, Extents{3, 1, 2}})
    check_sort<1, float, 3>(shape, Layout::contiguous);
}

TEST(Sort, lines_longer_than_a_tile) {
  for (const std::int64_t length : {2047, 2048, 2049, 4097, 10000}) {
    const auto x = real_operand<float, 2>({2, length}, -1, 1, Layout::contiguous, 3);
    EXPECT_TRUE(equal(value_of(hd::sort(x.tensor)), along_axis(ascending, x.values, 1))) << length;
    EXPECT_TRUE(equal(value_of(hd::argsort(x.tensor, hd::axis<1>, true)), along_axis(descending_order, x.values, 1)))
        << length;
  }
  const auto equal_ones = exact_operand<std::int32_t, 1>({9000}, Layout::contiguous, 4);
  EXPECT_TRUE(equal(value_of(hd::argsort(equal_ones.tensor)), along_axis(order, equal_ones.values, 0)));
}

template <class T>
class SortOf : public testing::Test {};
using SortedTypes = testing::Types<bool, std::int8_t, std::uint8_t, std::uint32_t, std::int64_t, std::uint64_t,
                                   hd::half, hd::bfloat16, double>;
TYPED_TEST_SUITE(SortOf, SortedTypes);

TYPED_TEST(SortOf, every_type) {
  const auto x = exact_operand<TypeParam, 2>({5, 70}, Layout::contiguous, 1);
  EXPECT_TRUE(equal(value_of(hd::sort(x.tensor)), along_axis(ascending, x.values, 1)));
  EXPECT_TRUE(equal(value_of(hd::sort(x.tensor, hd::axis<1>, true)), along_axis(descending, x.values, 1)));
  const auto [values, indices] = hd::topk(x.tensor, 7);
  EXPECT_TRUE(equal(to_array(values), value_of(hd::gather<1>(x.tensor, indices))));
  const Array first = along_axis([](const List& line) { return List(line.begin(), line.begin() + 7); },
                                 along_axis(descending_order, x.values, 1), 1);
  EXPECT_TRUE(equal(to_array(indices), first));
}

TEST(Sort, special_values) {
  const auto x = to_tensor<float, 1>(list({1, nan, -inf, 0, inf, -0.0, nan, -1, 1e-45, -1e-45}));
  EXPECT_TRUE(equal(value_of(hd::sort(x)), rounded_to<float>(list({-inf, -1, -1e-45, 0, 0, 1e-45, 1, inf, nan, nan}))));
  EXPECT_TRUE(equal(value_of(hd::argsort(x)), list({2, 7, 9, 3, 5, 8, 0, 4, 1, 6})));
  EXPECT_TRUE(equal(value_of(hd::argsort(x, hd::axis<0>, true)), list({1, 6, 4, 0, 8, 3, 5, 9, 7, 2})));
  const auto extremes = to_tensor<std::int64_t, 1>(list({0, -9223372036854775808.0, 5, -1}));
  EXPECT_TRUE(equal(value_of(hd::sort(extremes)), list({-9223372036854775808.0, -1, 0, 5})));
}

TEST(Sort, fuses_what_is_above_and_below) {
  const auto x = exact_operand<float, 2>({5, 33}, Layout::contiguous, 1);
  const auto row = exact_operand<float, 1>({33}, Layout::contiguous, 2);
  expect_equal<float, 2>([&] { return hd::sort(x.tensor + 1.0F, hd::axis<1>) * row.tensor; },
                         along_axis(ascending, x.values + one, 1) * reference::expand(row.values, {5, 33}));
}

template <int Axis, int Rank>
void check_topk(const Extents& shape, std::int64_t k, Layout layout) {
  const auto x = exact_operand<float, Rank>(shape, layout, 1);
  for (const bool largest : {true, false}) {
    const auto first = [&](const List& line) {
      List all = reference::argsort(line, largest);
      all.resize(static_cast<std::size_t>(k));
      return all;
    };
    const auto result = hd::topk(x.tensor, k, hd::axis<Axis>, largest);
    const Array want = along_axis(first, x.values, Axis);
    EXPECT_TRUE(equal(to_array(result.second), want)) << describe(shape, layout) << " k " << k;
    EXPECT_TRUE(equal(to_array(result.first), value_of(hd::gather<Axis>(x.tensor, result.second))));
  }
}

TEST(Topk, along_axes) {
  for (const Layout layout : {Layout::contiguous, Layout::transposed, Layout::sliced, Layout::reversed}) {
    check_topk<2, 3>({3, 5, 70}, 1, layout);
    check_topk<2, 3>({3, 5, 70}, 70, layout);
    check_topk<0, 3>({70, 5, 3}, 9, layout);
    check_topk<1, 3>({3, 70, 5}, 9, layout);
  }
  for (const std::int64_t k : {1, 10, 300, 1024, 1025, 5000}) check_topk<1, 2>({2, 5000}, k, Layout::contiguous);
  check_topk<0, 1>({50000}, 3, Layout::contiguous);
}

TEST(Topk, nan_is_greatest_and_bounds_are_checked) {
  const auto x = to_tensor<float, 1>(list({1, nan, 3, inf, nan, 3}));
  const auto [values, indices] = hd::topk(x, 5);
  EXPECT_TRUE(equal(to_array(values), list({nan, nan, inf, 3, 3})));
  EXPECT_TRUE(equal(to_array(indices), list({1, 4, 3, 2, 5})));
  EXPECT_EQ(hd::topk(x, 0).first.size(), 0);
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::topk(x, 7); }), {"7", "(6,)"}));
  EXPECT_THROW((void)hd::topk(x, -1), hd::ShapeError);
  const auto [fused, places] = hd::topk(-x, 2);
  EXPECT_TRUE(equal(to_array(places), list({1, 4})));
}

}  // namespace
