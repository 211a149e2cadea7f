#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/compare.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/select.hpp>

#include "harness/expect.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::counting;
using reference::list;
using reference::matrix;

template <int RankA, int RankB>
void check_sum(const Extents& a_shape, const Extents& b_shape, Layout layout) {
  const auto a = exact_operand<float, RankA>(a_shape, layout, 1);
  const auto b = exact_operand<float, RankB>(b_shape, layout, 2);
  constexpr int rank = RankA > RankB ? RankA : RankB;
  expect_equal<float, rank>([&] { return a.tensor - b.tensor; }, a.values - b.values,
                            describe(a_shape, layout) + " and " + reference::to_string(b_shape));
}

TEST(Broadcast, every_pattern) {
  for (const ShapePair& pair : broadcast_patterns())
    for (const Layout layout : {Layout::contiguous, Layout::transposed, Layout::sliced, Layout::broadcast})
      check_sum<3, 3>(pair.a, pair.b, layout);
}

TEST(Broadcast, R017_of_different_ranks) {
  for (const Layout layout : input_layouts()) {
    check_sum<1, 3>({33}, {5, 7, 33}, layout);
    check_sum<3, 1>({5, 7, 33}, {1}, layout);
    check_sum<2, 3>({7, 1}, {5, 1, 33}, layout);
    check_sum<0, 2>({}, {7, 33}, layout);
    check_sum<2, 0>({7, 33}, {}, layout);
    check_sum<1, 4>({1}, {1, 2, 3, 4}, layout);
    check_sum<4, 3>({8, 1, 6, 1}, {7, 1, 5}, layout);
  }
  const auto row = to_tensor<float, 1>(list({1, 2, 3}));
  const auto column = to_tensor<float, 2>(matrix({{10}, {20}}));
  EXPECT_TRUE(equal(value_of(row + column), matrix({{11, 12, 13}, {21, 22, 23}})));
}

TEST(Broadcast, R012_an_extent_of_0_is_not_less_than_1) {
  const auto of = [](Extents shape) { return to_tensor<float, 2>(Array(shape, 2)); };
  EXPECT_EQ(hd::eval(of({1, 1}) + of({0, 1})).shape(), (hd::Shape<2>{0, 1}));
  EXPECT_EQ(hd::eval(of({0, 1}) + of({1, 2})).shape(), (hd::Shape<2>{0, 2}));
  EXPECT_EQ(hd::eval(of({0, 5}) > of({1, 5})).shape(), (hd::Shape<2>{0, 5}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)(of({2, 1}) + of({0, 1})); }), {"(2, 1)", "(0, 1)"}));
}

TEST(Broadcast, a_mismatch_names_both_shapes) {
  const auto a = to_tensor<float, 3>(counting({5, 7, 3}));
  const auto b = to_tensor<float, 2>(counting({7, 4}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)(a * b); }), {"(5, 7, 3)", "(7, 4)"}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::where(a > 0.0f, a, b); }), {"(5, 7, 3)", "(7, 4)"}));
}

TEST(Broadcast, R014_an_output_is_never_broadcast) {
  const auto x = to_tensor<float, 1>(Array({2}, 3));
  const auto square = to_tensor<float, 2>(Array({1, 3}, 1));
  const auto two_rows = to_tensor<float, 2>(counting({2, 3}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { square += two_rows; }), {"(2, 3)", "(1, 3)"}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { square.assign(two_rows); }), {"(2, 3)", "(1, 3)"}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { x += to_tensor<float, 1>(Array({3}, 1)); }), {"(2,)", "(3,)"}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { to_tensor<float, 1>(Array({1}, 1)) += x; }), {"(2,)", "(1,)"}));
  EXPECT_TRUE(equal(to_array(x), Array({2}, 3)));
  EXPECT_TRUE(equal(to_array(square), Array({1, 3}, 1)));
}

TEST(Broadcast, of_three_operands) {
  const auto a = exact_operand<int, 3>({5, 1, 33}, Layout::contiguous, 1);
  const auto b = exact_operand<int, 2>({7, 1}, Layout::sliced, 2);
  const auto c = exact_operand<bool, 3>({1, 7, 33}, Layout::transposed, 3);
  const Array want =
      reference::map([](double on, double x, double y) { return on != 0 ? x : y; }, c.values, a.values, b.values);
  expect_equal<int, 3>([&] { return hd::where(c.tensor, a.tensor, b.tensor); }, want);
}

TEST(Broadcast, assigned_values_are_broadcast_to_the_tensor) {
  for (const Layout layout : output_layouts()) {
    const Output<float, 3> out({3, 5, 7}, layout);
    const auto row = exact_operand<float, 2>({5, 1}, Layout::contiguous, 4);
    out.tensor().assign(row.tensor + 1.0f);
    EXPECT_TRUE(equal(to_array(out.tensor()), reference::expand(row.values + Array({}, 1), {3, 5, 7})))
        << name_of(layout);
    EXPECT_TRUE(out.gaps_untouched()) << name_of(layout);
  }
}

TEST(Broadcast, results_keep_the_order_of_axes_of_the_first_full_operand) {
  const auto images = to_tensor<float, 4>(counting({2, 3, 4, 5}), Layout::channels_last);
  const auto channel = to_tensor<float, 3>(counting({3, 1, 1}));
  const hd::Tensor sum = channel + images * 2.0f;
  EXPECT_EQ(sum.strides(), images.strides());
  EXPECT_TRUE(equal(to_array(sum), counting({3, 1, 1}) + counting({2, 3, 4, 5}) + counting({2, 3, 4, 5})));
  const auto plain = to_tensor<float, 4>(counting({2, 3, 4, 5}));
  EXPECT_TRUE(hd::eval(plain + images).is_contiguous());
  EXPECT_EQ(hd::eval(images + plain).strides(), images.strides());
  EXPECT_TRUE(hd::eval(images.expand({2, 3, 4, 5}) + 0.0f).strides() == images.strides());
  // None of full shape: C order.
  EXPECT_TRUE(hd::eval(channel + to_tensor<float, 4>(counting({2, 1, 4, 5}))).is_contiguous());
}

}  // namespace
