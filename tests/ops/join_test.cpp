#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/index.hpp>
#include <heddle/ops/join.hpp>
#include <heddle/ops/reduce.hpp>

#include <limits>

#include "harness/expect.hpp"
#include "reference/rearrange.hpp"
#include "reference/reduce.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::counting;
using reference::list;
using reference::matrix;

template <int Axis, class T, int Rank>
void check_concat(const std::vector<Extents>& shapes, Layout layout) {
  const auto a = exact_operand<T, Rank>(shapes.at(0), layout, 1);
  const auto b = exact_operand<T, Rank>(shapes.at(1), layout, 2);
  const auto c = exact_operand<T, Rank>(shapes.at(2), Layout::contiguous, 3);
  const std::vector<Array> parts{a.values, b.values, c.values};
  expect_equal<T, Rank>([&] { return hd::concat<Axis>(a.tensor, b.tensor, c.tensor); }, reference::concat(parts, Axis),
                        describe(shapes[0], layout));
}

TEST(Concat, along_every_axis_in_every_layout) {
  for (const Layout layout : input_layouts()) {
    check_concat<0, float, 3>({{2, 5, 7}, {3, 5, 7}, {1, 5, 7}}, layout);
    check_concat<1, float, 3>({{3, 1, 7}, {3, 5, 7}, {3, 2, 7}}, layout);
    check_concat<2, float, 3>({{3, 5, 1}, {3, 5, 33}, {3, 5, 8}}, layout);
  }
}

TEST(Concat, long_rows_that_begin_anywhere) {
  // Plain rows are copied 16 bytes at a time, from whatever place they begin at.
  for (const Layout layout : {Layout::contiguous, Layout::offset, Layout::pitched, Layout::sliced}) {
    for (const std::int64_t left : {1, 2, 3, 4, 5, 63, 64, 129}) {
      check_concat<1, float, 3>({{3, left, 1}, {3, 130, 1}, {3, 67, 1}}, layout);
      check_concat<0, float, 3>({{left, 3, 67}, {7, 3, 67}, {2, 3, 67}}, layout);
    }
  }
}

template <class T>
class ConcatOf : public testing::Test {};
using MovedTypes = testing::Types<bool, std::uint8_t, std::int16_t, hd::half, hd::bfloat16, std::int64_t, double>;
TYPED_TEST_SUITE(ConcatOf, MovedTypes);

TYPED_TEST(ConcatOf, long_and_short_rows) {
  for (const Layout layout : {Layout::contiguous, Layout::offset, Layout::transposed, Layout::reversed}) {
    check_concat<1, TypeParam, 2>({{3, 1}, {3, 200}, {3, 67}}, layout);
    check_concat<1, TypeParam, 2>({{3, 2}, {3, 3}, {3, 4}}, layout);
  }
}

TEST(Concat, R026_of_views) {
  const auto a = to_tensor<float, 2>(counting({2, 3}));
  const auto t = a.transpose();
  EXPECT_TRUE(equal(value_of(hd::concat<1>(t, t)), matrix({{0, 3, 0, 3}, {1, 4, 1, 4}, {2, 5, 2, 5}})));
  EXPECT_TRUE(equal(value_of(hd::concat(hd::axis<0>, t, t)), matrix({{0, 3}, {1, 4}, {2, 5}, {0, 3}, {1, 4}, {2, 5}})));
}

TEST(Concat, R032_without_elements) {
  const auto none = to_tensor<float, 2>(Array({2, 0}));
  const auto column = to_tensor<float, 2>(matrix({{1}, {2}}));
  EXPECT_TRUE(equal(value_of(hd::concat<1>(none, column)), matrix({{1}, {2}})));
  EXPECT_TRUE(equal(value_of(hd::concat<1>(column, none, column)), matrix({{1, 1}, {2, 2}})));
  EXPECT_TRUE(equal(value_of(hd::concat<1>(none, none)), Array({2, 0})));
  const auto flat = to_tensor<float, 2>(Array({0, 1}));
  const auto one = to_tensor<float, 2>(Array({1, 1}, 7));
  EXPECT_TRUE(equal(value_of(hd::concat<0>(flat, one)), Array({1, 1}, 7)));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::concat<1>(flat, one); }), {"(0, 1)", "(1, 1)"}));
}

TEST(Concat, fuses_what_is_above_and_below) {
  const auto a = exact_operand<float, 2>({5, 33}, Layout::contiguous, 1);
  const auto b = exact_operand<float, 2>({5, 70}, Layout::sliced, 2);
  const auto row = exact_operand<float, 1>({103}, Layout::contiguous, 3);
  const Array joined = reference::concat({a.values, b.values}, 1);
  const Array scale = reference::expand(row.values, {5, 103});
  expect_equal<float, 2>([&] { return hd::concat<1>(a.tensor, b.tensor) * row.tensor + 1.0F; },
                         joined * scale + Array(Extents{}, 1.0));
  expect_equal<float, 2>([&] { return hd::concat<1>(a.tensor * 2.0F, b.tensor - 1.0F); },
                         reference::concat({a.values * Array(Extents{}, 2.0), b.values - Array(Extents{}, 1.0)}, 1));
  expect_equal<float, 1>([&] { return hd::sum(hd::concat<1>(a.tensor, b.tensor), hd::axis<0>); },
                         reference::reduce(reference::sum, joined, {0}));
}

TEST(Concat, gives_different_types_their_common_one) {
  const auto a = exact_operand<float, 1>({3}, Layout::contiguous, 1);
  const auto b = exact_operand<int, 1>({70}, Layout::contiguous, 2);
  const auto c = exact_operand<bool, 1>({5}, Layout::contiguous, 3);
  const auto joined = hd::eval(hd::concat<0>(b.tensor, a.tensor, c.tensor));
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(joined)>, TestTensor<float, 1>>);
  EXPECT_TRUE(equal(to_array(joined), reference::concat({b.values, a.values, c.values}, 0)));
}

TEST(Concat, of_a_vector_of_many) {
  std::vector<TestTensor<float, 2>> tensors;
  std::vector<Array> values;
  for (int i = 0; i < 37; ++i) {
    const auto one = exact_operand<float, 2>({3, i % 5}, Layout::contiguous, static_cast<unsigned>(i));
    tensors.push_back(one.tensor);
    values.push_back(one.values);
  }
  EXPECT_TRUE(equal(value_of(hd::concat<1>(tensors)), reference::concat(values, 1)));
  EXPECT_THROW((void)hd::concat<1>(std::vector<TestTensor<float, 2>>{}), hd::ShapeError);
  EXPECT_THROW((void)hd::concat<0>(tensors), hd::ShapeError);
}

TEST(Concat, into_one_of_its_operands) {
  auto x = to_tensor<float, 1>(counting({6}));
  const auto low = x.slice(hd::axis<0>, hd::range(0, 3)), high = x.slice(hd::axis<0>, hd::range(3, 6));
  x.assign(hd::concat<0>(high, low));
  EXPECT_TRUE(equal(to_array(x), list({3, 4, 5, 0, 1, 2})));
}

#if !HEDDLE_TEST_DEVICE_CUDA
TEST(Concat, of_formulas_writes_nothing_before_an_error) {
  const auto x = to_tensor<float, 1>(counting({4}));
  auto y = to_tensor<float, 1>(Array({6}, 7));
  const auto later = hd::tensor<int>({0, 9});
  EXPECT_THROW(y.assign(hd::concat<0>(x * 2.0f, hd::index_select(x, hd::axis<0>, later) + 0.0f)), hd::IndexError);
  EXPECT_TRUE(equal(to_array(y), Array({6}, 7)));
}
#endif

TEST(Stack, along_every_new_axis) {
  for (const Layout layout : {Layout::contiguous, Layout::transposed, Layout::sliced}) {
    const auto a = exact_operand<float, 2>({5, 70}, layout, 1);
    const auto b = exact_operand<float, 2>({5, 70}, Layout::contiguous, 2);
    expect_equal<float, 3>([&] { return hd::stack<0>(a.tensor, b.tensor); }, reference::stack({a.values, b.values}, 0));
    expect_equal<float, 3>([&] { return hd::stack(hd::axis<1>, a.tensor, b.tensor); },
                           reference::stack({a.values, b.values}, 1));
    expect_equal<float, 3>([&] { return hd::stack<-1>(a.tensor, b.tensor); },
                           reference::stack({a.values, b.values}, 2));
    EXPECT_TRUE(equal(value_of(hd::stack<0>(std::vector{a.tensor, b.tensor, a.tensor})),
                      reference::stack({a.values, b.values, a.values}, 0)));
  }
  const auto scalar = to_tensor<float, 0>(Array(Extents{}, 3));
  EXPECT_TRUE(equal(value_of(hd::stack<0>(scalar, scalar)), list({3, 3})));
  const auto x = to_tensor<float, 1>(list({1, 2}));
  const auto y = to_tensor<float, 1>(list({1, 2, 3}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::stack<0>(x, y); }), {"(2,)", "(3,)"}));
}

TEST(Split, gives_views) {
  const auto x = to_tensor<float, 2>(counting({5, 7}));
  const auto thirds = hd::split(x, 3, hd::axis<1>);
  ASSERT_EQ(thirds.size(), 3U);
  EXPECT_EQ(thirds[2].shape(), (hd::Shape<2>{5, 1}));
  EXPECT_TRUE(equal(value_of(hd::concat<1>(thirds)), to_array(x)));
  EXPECT_EQ(thirds[1].data(), x.data() + 3);
  const auto [left, right] = hd::split(x, {2, 5}, hd::axis<-1>);
  EXPECT_TRUE(equal(value_of(hd::concat<1>(left, right)), to_array(x)));
  const auto rows = hd::split(x, 2);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[2].shape(), (hd::Shape<2>{1, 7}));
  EXPECT_EQ(hd::split(to_tensor<float, 1>(Array({0})), 4).size(), 1U);
  EXPECT_THROW((void)hd::split(x, 0), hd::ShapeError);
  EXPECT_THROW((void)hd::split(x, -1), hd::ShapeError);
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] {
                         (void)hd::split(x, {2, 4}, hd::axis<1>);
                       }),
                       {"2 4", "(5, 7)"}));
}

TEST(Split, chunk_as_pytorch_does) {
  const auto x = to_tensor<float, 1>(counting({13}));
  const auto chunks = hd::chunk(x, 12);
  ASSERT_EQ(chunks.size(), 7U);
  EXPECT_TRUE(equal(value_of(hd::concat<0>(chunks)), to_array(x)));
  const auto y = to_tensor<float, 2>(counting({2, 6}));
  const auto [q, k, v] = hd::chunk<3>(y, hd::axis<-1>);
  EXPECT_TRUE(equal(to_array(k), matrix({{2, 3}, {8, 9}})));
  EXPECT_EQ(q.data(), y.data());
  EXPECT_EQ(v.shape(), (hd::Shape<2>{2, 2}));
  EXPECT_THROW((void)hd::chunk<4>(y, hd::axis<1>), hd::ShapeError);
  EXPECT_THROW((void)hd::chunk(y, 0), hd::ShapeError);
  EXPECT_EQ(hd::chunk(x, std::numeric_limits<std::int64_t>::max()).size(), 13U);
  EXPECT_EQ(hd::narrow(x, hd::axis<0>, 3, 4).shape(), (hd::Shape<1>{4}));
  EXPECT_THROW((void)hd::narrow(x, hd::axis<0>, 10, 4), hd::IndexError);
  EXPECT_THROW((void)hd::narrow(x, hd::axis<0>, -1, 4), hd::IndexError);
}

TEST(Flip, is_a_view) {
  const auto x = to_tensor<float, 3>(counting({2, 3, 5}));
  const Array values = to_array(x);
  EXPECT_TRUE(equal(to_array(hd::flip(x)), reference::flip(values, {0, 1, 2})));
  EXPECT_TRUE(equal(to_array(hd::flip(x, hd::axis<1>)), reference::flip(values, {1})));
  EXPECT_TRUE(equal(to_array(hd::flip(x, hd::axes<0, -1>)), reference::flip(values, {0, 2})));
  EXPECT_EQ(hd::flip(x).storage().get(), x.storage().get());
  EXPECT_TRUE(equal(value_of(hd::flip(x + 1.0F, hd::axis<2>)), reference::flip(values + Array(Extents{}, 1.0), {2})));
  EXPECT_EQ(hd::flip(to_tensor<float, 2>(Array({5, 0})), hd::axis<1>).shape(), (hd::Shape<2>{5, 0}));
}

}  // namespace
