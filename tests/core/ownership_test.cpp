// Handles, rebinding and writing through: a test for each rule.
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/math.hpp>
#include <heddle/ops/matmul.hpp>
#include <heddle/ops/reduce.hpp>

#include <type_traits>
#include <utility>

#include "harness/expect.hpp"

#if HEDDLE_TEST_DEVICE_CUDA
#include <heddle/cuda/stream.hpp>
#endif

namespace {

namespace hd = heddle;
using namespace heddle_test;
using hd::_;
using hd::range;
using reference::counting;
using reference::list;
using reference::matrix;

template <class T, int Rank>
using Tensor = TestTensor<T, Rank>;

Tensor<float, 1> numbers() { return to_tensor<float, 1>(counting({5})); }
/// A dense tensor that covers its allocation, which a tensor with guards around it does not.
template <class T = float, int Rank = 1>
Tensor<T, Rank> whole(const Array& values) {
  return to_tensor<T, Rank>(values).clone();
}

// ---- `y = …` rebinds a named tensor

TEST(Ownership, assigning_a_tensor_rebinds) {
  auto x = numbers();
  const auto y = whole(list({5, 6}));
  const auto before = x;
  x = y;
  EXPECT_EQ(x.data(), y.data());
  EXPECT_TRUE(equal(to_array(before), counting({5})));
}

TEST(Ownership, assigning_a_formula_rebinds_and_leaves_other_handles) {
  auto x = whole(counting({5}));
  const auto before = x;
  x = x + 1.0f;
  EXPECT_TRUE(equal(to_array(x), list({1, 2, 3, 4, 5})));
  EXPECT_TRUE(equal(to_array(before), counting({5})));
  EXPECT_NE(x.data(), before.data());
}

TEST(Ownership, rebinding_may_change_the_shape) {
  auto x = whole(counting({5}));
  const auto y = whole(list({3, 4}));
  x = y * 2.0f;
  EXPECT_TRUE(equal(to_array(x), list({6, 8})));
}

TEST(Ownership, assigning_to_an_empty_handle_makes_a_tensor) {
  Tensor<float, 1> x;
  x = numbers() + 1.0f;
  EXPECT_TRUE(equal(to_array(x), list({1, 2, 3, 4, 5})));
}

TEST(Ownership, a_named_view_rebinds_and_leaves_the_tensor) {
  const auto x = whole<float, 2>(counting({3, 2}));
  auto v = x[1];
  v = v * 10.0f;
  EXPECT_TRUE(equal(to_array(v), list({20, 30})));
  EXPECT_TRUE(equal(to_array(x), counting({3, 2})));
  v = x[0];
  EXPECT_EQ(v.data(), x.data());
}

// ---- a temporary view writes through

TEST(Ownership, an_indexed_temporary_writes_through) {
  const auto x = whole<float, 2>(counting({3, 2}));
  x[1] = whole(list({7, 8}));
  EXPECT_TRUE(equal(to_array(x), matrix({{0, 1}, {7, 8}, {4, 5}})));
  x[2] = x[0] * 2.0f;
  EXPECT_TRUE(equal(to_array(x), matrix({{0, 1}, {7, 8}, {0, 2}})));
  x[0] = -1;
  EXPECT_TRUE(equal(to_array(x), matrix({{-1, -1}, {7, 8}, {0, 2}})));
}

TEST(Ownership, a_called_temporary_writes_through) {
  const auto x = whole<float, 2>(counting({3, 2}));
  x(_, 1) = x(_, 0) + 10.0f;
  EXPECT_TRUE(equal(to_array(x), matrix({{0, 10}, {2, 12}, {4, 14}})));
  x(range(1, 3), 0) = 5.0f;
  EXPECT_TRUE(equal(to_array(x), matrix({{0, 10}, {5, 12}, {5, 14}})));
}

TEST(Ownership, a_sliced_temporary_writes_through) {
  const auto x = whole<float, 1>(counting({6}));
  x.slice(hd::axis<0>, range(_, _, 2)) = x.slice(hd::axis<0>, range(1, _, 2)) * 10.0f;
  EXPECT_TRUE(equal(to_array(x), list({10, 1, 30, 3, 50, 5})));
}

TEST(Ownership, other_temporary_views_write_through) {
  const auto x = whole<float, 2>(counting({2, 3}));
  x.transpose() = whole<float, 2>(matrix({{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_TRUE(equal(to_array(x), matrix({{0, 2, 4}, {1, 3, 5}})));
  x.flatten() = 1.5f;
  EXPECT_TRUE(equal(to_array(x), Array({2, 3}, 1.5)));
  x.unsqueeze(hd::axis<0>) = whole<float, 1>(list({7, 8, 9}));
  EXPECT_TRUE(equal(to_array(x), matrix({{7, 8, 9}, {7, 8, 9}})));
  x(_, range(0, 2)).diagonal() = 0;
  EXPECT_TRUE(equal(to_array(x), matrix({{0, 8, 9}, {7, 0, 9}})));
}

TEST(Ownership, a_temporary_view_takes_a_moved_tensor_by_value) {
  const auto x = whole<float, 2>(counting({2, 2}));
  auto row = whole(list({8, 9}));
  x[0] = std::move(row);
  EXPECT_TRUE(equal(to_array(x), matrix({{8, 9}, {2, 3}})));
}

TEST(Ownership, writing_through_broadcasts_and_checks_first) {
  const auto x = whole<float, 2>(counting({2, 3}));
  x[0] = whole(list({9}));
  EXPECT_TRUE(equal(to_array(x), matrix({{9, 9, 9}, {3, 4, 5}})));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { x[1] = whole(list({1, 2})); }), {"(2,)", "(3,)"}));
  EXPECT_TRUE(equal(to_array(x), matrix({{9, 9, 9}, {3, 4, 5}})));
}

// ---- assign and the compound operators always write through

TEST(Ownership, assign_writes_through_every_handle) {
  const auto x = whole(counting({5}));
  const auto other = x;
  x.assign(x * 2.0f);
  EXPECT_TRUE(equal(to_array(other), list({0, 2, 4, 6, 8})));
  auto v = x(range(1, 3));
  v.assign(whole(list({-1, -2})));
  EXPECT_TRUE(equal(to_array(x), list({0, -1, -2, 6, 8})));
}

TEST(Ownership, compound_operators_write_through) {
  const auto x = whole(counting({5}));
  const auto other = x;
  const float* const place = x.data();
  x += 1.0f;
  x *= x;
  x -= numbers();
  x /= 2.0f;
  EXPECT_TRUE(equal(to_array(other), list({0.5, 1.5, 3.5, 6.5, 10.5})));
  EXPECT_EQ(x.data(), place);
  x[1] += 10.0f;
  x(range(2, 4)) *= 2.0f;
  EXPECT_TRUE(equal(to_array(x), list({0.5, 11.5, 7, 13, 10.5})));
}

TEST(Ownership, compound_operators_keep_the_type) {
  const auto x = whole<hd::half>(counting({5}));
  x += whole<double>(Array({5}, 0.5));
  EXPECT_TRUE(equal(to_array(x), list({0.5, 1.5, 2.5, 3.5, 4.5})));
  const auto i = whole<std::int8_t>(Array({3}, 120));
  i += whole<std::int32_t>(Array({3}, 10));
  EXPECT_TRUE(equal(to_array(i), Array({3}, -126)));
}

TEST(Ownership, a_product_is_added_in_place) {
  const auto a = whole<float, 2>(matrix({{1, 2}, {3, 4}}));
  const auto y = whole<float, 2>(matrix({{100, 100}, {100, 100}}));
  y += hd::matmul(a, a);
  EXPECT_TRUE(equal(to_array(y), matrix({{107, 110}, {115, 122}})));
  a += hd::matmul(a, a);
  EXPECT_TRUE(equal(to_array(a), matrix({{8, 12}, {18, 26}})));
}

// ---- `y = formula` reuses y's memory where nobody can tell

struct Reuse : testing::Test {
  Tensor<float, 1> y = whole(counting({5}));
  const float* place = y.data();
  Array want = list({1, 2, 3, 4, 5});
};

TEST_F(Reuse, of_memory_that_nobody_else_sees) {
  y = y + 1.0f;
  EXPECT_EQ(y.data(), place);
  EXPECT_TRUE(equal(to_array(y), want));
  y = (y - 1.0f) * (y - 1.0f) + 0.0f * y;
  EXPECT_EQ(y.data(), place);
  EXPECT_TRUE(equal(to_array(y), list({0, 1, 4, 9, 16})));
}

TEST_F(Reuse, where_the_formula_does_not_read_it) {
  const auto x = numbers();
  y = x + 1.0f;
  EXPECT_EQ(y.data(), place);
  EXPECT_TRUE(equal(to_array(y), want));
}

TEST_F(Reuse, not_with_another_handle) {
  const auto other = y;
  y = y + 1.0f;
  EXPECT_NE(y.data(), place);
  EXPECT_TRUE(equal(to_array(other), counting({5})));
}

TEST_F(Reuse, not_with_a_view_of_it) {
  const auto view = y(range(3, 5));
  y = y + 1.0f;
  EXPECT_NE(y.data(), place);
  EXPECT_TRUE(equal(to_array(view), list({3, 4})));
}

TEST_F(Reuse, not_with_a_formula_that_holds_it) {
  const auto held = y * 10.0f;
  y = y + 1.0f;
  EXPECT_NE(y.data(), place);
  EXPECT_TRUE(equal(to_array(y), want));
  EXPECT_TRUE(equal(value_of(held), list({0, 10, 20, 30, 40})));
}

TEST_F(Reuse, not_for_a_named_formula) {
  auto formula = numbers() + 1.0f;
  y = formula;
  EXPECT_NE(y.data(), place);
  EXPECT_TRUE(equal(to_array(y), want));
}

TEST_F(Reuse, for_a_moved_formula) {
  auto formula = numbers() + 1.0f;
  y = std::move(formula);
  EXPECT_EQ(y.data(), place);
  EXPECT_TRUE(equal(to_array(y), want));
}

TEST_F(Reuse, not_for_another_shape) {
  y = whole(list({1, 2})) + 1.0f;
  EXPECT_TRUE(equal(to_array(y), list({2, 3})));
}

TEST_F(Reuse, not_for_part_of_an_allocation) {
  y = whole(counting({6}))(range(0, 5));
  place = y.data();
  y = y + 1.0f;
  EXPECT_NE(y.data(), place);
  EXPECT_TRUE(equal(to_array(y), want));
}

TEST_F(Reuse, not_where_a_fresh_result_has_other_strides) {
  Tensor<float, 2> x = whole<float, 2>(counting({2, 3})).transpose();
  const float* const before = x.data();
  x = whole<float, 2>(counting({3, 2})) + 1.0f;
  EXPECT_NE(x.data(), before);
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_TRUE(equal(to_array(x), matrix({{1, 2}, {3, 4}, {5, 6}})));
}

TEST_F(Reuse, of_a_transposed_tensor_by_a_formula_of_that_order) {
  Tensor<float, 2> x = whole<float, 2>(counting({2, 3})).transpose();
  const float* const before = x.data();
  x = x + 1.0f;
  EXPECT_EQ(x.data(), before);
  EXPECT_TRUE(equal(to_array(x), matrix({{1, 4}, {2, 5}, {3, 6}})));
}

TEST_F(Reuse, not_where_a_leaf_reads_it_elsewhere) {
  y = y(range(_, _, -1)) + 1.0f;
  EXPECT_NE(y.data(), place);
  EXPECT_TRUE(equal(to_array(y), list({5, 4, 3, 2, 1})));
  Tensor<float, 2> square = whole<float, 2>(matrix({{1, 2}, {3, 4}}));
  const float* const before = square.data();
  square = square + square.transpose();
  EXPECT_NE(square.data(), before);
  EXPECT_TRUE(equal(to_array(square), matrix({{2, 5}, {5, 8}})));
}

TEST_F(Reuse, not_where_a_producer_reads_it) {
  y = y + hd::sum(y);
  EXPECT_NE(y.data(), place);
  EXPECT_TRUE(equal(to_array(y), list({10, 11, 12, 13, 14})));
}

TEST_F(Reuse, R003_not_where_a_product_reads_it) {
  Tensor<float, 2> a = whole<float, 2>(matrix({{1, 2}, {3, 4}}));
  a = hd::matmul(a, a);
  EXPECT_TRUE(equal(to_array(a), matrix({{7, 10}, {15, 22}})));
  a = whole<float, 2>(matrix({{1, 2}, {3, 4}}));
  a = hd::matmul(a, a.transpose());
  EXPECT_TRUE(equal(to_array(a), matrix({{5, 11}, {11, 25}})));
  a.assign(hd::matmul(a, a));
  EXPECT_TRUE(equal(to_array(a), matrix({{146, 330}, {330, 746}})));
}

TEST_F(Reuse, R003_a_large_product_into_its_operand) {
  const Array values = integers({67, 67}, -4, 4, 1);
  Tensor<float, 2> a = whole<float, 2>(values);
  const Tensor<float, 2> want_tensor = hd::matmul(a, a.transpose());
  const Array product = to_array(want_tensor);
  a.assign(hd::matmul(a, a.transpose()));
  EXPECT_TRUE(equal(to_array(a), product));
  a = whole<float, 2>(values);
  a = hd::matmul(a, a.transpose());
  EXPECT_TRUE(equal(to_array(a), product));
}

TEST_F(Reuse, not_of_borrowed_memory) {
#if !HEDDLE_TEST_DEVICE_CUDA
  float mine[5] = {0, 1, 2, 3, 4};
  y = hd::from_blob<float>(mine, {5});
  y = y + 1.0f;
  EXPECT_NE(y.data(), mine);
  EXPECT_EQ(mine[4], 4.0f);
  EXPECT_TRUE(equal(to_array(y), want));
#endif
}

#if HEDDLE_TEST_DEVICE_CUDA
TEST_F(Reuse, not_on_another_stream) {
  hd::cuda::synchronize(test_device());  // order between streams is the user's
  const hd::cuda::Stream stream;
  const hd::cuda::StreamGuard guard(stream);
  y = y + 1.0f;
  EXPECT_NE(y.data(), place);
  EXPECT_TRUE(equal(to_array(y), want));
}

TEST_F(Reuse, not_with_a_recorded_use) {
  const hd::cuda::Stream stream;
  y.record_stream(stream);
  y = y + 1.0f;
  EXPECT_NE(y.data(), place);
  EXPECT_TRUE(equal(to_array(y), want));
}
#endif

// ---- read-only tensors

TEST(Ownership, read_only_tensors_are_not_written) {
  using ReadOnly = Tensor<const float, 1>;
  const auto x = numbers();
  const ReadOnly r = x;
  EXPECT_EQ(r.data(), x.data());
  static_assert(std::is_same_v<decltype(r.data()), const float*>);
  static_assert(!std::is_constructible_v<Tensor<float, 1>, ReadOnly>);
  static_assert(std::is_convertible_v<Tensor<float, 1>, ReadOnly>);
  EXPECT_TRUE(equal(value_of(r + r), counting({5}) + counting({5})));
}

TEST(Ownership, R006_expanded_tensors_are_read_only) {
  const auto x = whole(list({3}));
  const auto wide = x.expand({10});
  static_assert(std::is_same_v<decltype(wide), const Tensor<const float, 1>>);
  EXPECT_TRUE(equal(to_array(wide), Array({10}, 3)));
}

TEST(Ownership, clone_of_a_read_only_tensor_is_writable) {
  const auto wide = whole(list({3})).expand({4});
  const auto copy = wide.clone();
  static_assert(std::is_same_v<decltype(copy), const Tensor<float, 1>>);
  copy.fill(5);
  EXPECT_TRUE(equal(to_array(copy), Array({4}, 5)));
  EXPECT_TRUE(equal(to_array(wide), Array({4}, 3)));
}

TEST(Ownership, clone_copies_the_elements_and_the_order_of_axes) {
  const auto x = to_tensor<float, 3>(counting({4, 3, 5}), Layout::channels_last);
  const auto copy = x.clone();
  EXPECT_EQ(copy.strides(), x.strides());
  copy.fill(0);
  EXPECT_TRUE(equal(to_array(x), counting({4, 3, 5})));
}

TEST(Ownership, contiguous_and_to_give_the_same_handle_where_nothing_is_to_do) {
  const auto x = whole<float, 2>(counting({3, 4}));
  EXPECT_EQ(x.contiguous().data(), x.data());
  EXPECT_EQ(x.to(test_device()).data(), x.data());
  EXPECT_EQ(x.to(hd::dtype<float>).data(), x.data());
  EXPECT_EQ(hd::eval(x).data(), x.data());
  EXPECT_NE(x.transpose().contiguous().data(), x.data());
}

// ---- what the compiler says

using F = Tensor<float, 1>;
using Formula = decltype(std::declval<F>() + std::declval<F>());
static_assert(std::is_assignable_v<F&, Formula>);
static_assert(std::is_assignable_v<F, Formula>);
static_assert(!std::is_assignable_v<const F&, Formula>, "a const lvalue is neither rebound nor written");
static_assert(!std::is_assignable_v<const F&, F>);
static_assert(!std::is_assignable_v<F&, float>, "a named tensor is filled by fill()");
static_assert(std::is_assignable_v<F, float>);
static_assert(!std::is_constructible_v<bool, decltype(std::declval<F>() + std::declval<F>())>);
static_assert(!std::is_constructible_v<bool, F>);

TEST(Ownership, deduction) {
  const auto x = numbers();
  hd::Tensor same = x;
  static_assert(std::is_same_v<decltype(same), F>);
  hd::Tensor of_formula = x + x;
  static_assert(std::is_same_v<decltype(of_formula), F>);
  hd::Tensor view = x(range(0, 3));
  static_assert(std::is_same_v<decltype(view), F>);
  const hd::Tensor of_const = x;
  static_assert(std::is_same_v<decltype(of_const), const F>);
  hd::Tensor read_only = x.expand({5});
  static_assert(std::is_same_v<decltype(read_only), Tensor<const float, 1>>);
  hd::Tensor of_read_only = read_only + x;
  static_assert(std::is_same_v<decltype(of_read_only), F>);
  hd::Tensor scalar = hd::sum(x);
  static_assert(std::is_same_v<decltype(scalar), Tensor<float, 0>>);
  EXPECT_EQ(view.data(), x.data());
}

}  // namespace
