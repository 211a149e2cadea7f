// An output that overlaps what the formula reads: the result is as if the formula had been computed first.
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/matmul.hpp>
#include <heddle/ops/reduce.hpp>
#include <heddle/ops/softmax.hpp>

#include "harness/expect.hpp"
#include "reference/matmul.hpp"
#include "reference/reduce.hpp"
#include "reference/softmax.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using hd::_;
using hd::range;
using reference::counting;
using reference::list;

Array doubled(std::int64_t count) {
  Array x({count});
  for (std::int64_t i = 0; i < count; ++i) x[i] = static_cast<double>(1 << (i % 5));
  return x;
}

/// A part of a rank-1 array.
Array part(const Array& x, std::int64_t from, std::int64_t count) {
  return Array({count}, reference::List(x.values.begin() + from, x.values.begin() + from + count));
}
void write(Array& x, std::int64_t from, const Array& values) {
  std::copy(values.values.begin(), values.values.end(), x.values.begin() + from);
}

TEST(Overlap, R001_differences_of_five) {
  auto d = to_tensor<float, 1>(list({1, 2, 4, 8, 16}));
  d(range(1, _)) = d(range(1, _)) - d(range(_, -1));
  EXPECT_TRUE(equal(to_array(d), list({1, 1, 2, 4, 8})));
  d = to_tensor<float, 1>(list({1, 2, 4, 8, 16}));
  d(range(_, -1)) = d(range(1, _)) - d(range(_, -1));
  EXPECT_TRUE(equal(to_array(d), list({1, 2, 4, 8, 16})));
}

TEST(Overlap, R001_differences_of_many) {
  for (const std::int64_t count : {1025, 70001}) {
    for (const std::int64_t to : {0, 1}) {
      const Array values = doubled(count);
      const auto d = to_tensor<float, 1>(values);
      Array want = values;
      write(want, to, part(values, 1, count - 1) - part(values, 0, count - 1));
      d(range(to, to + count - 1)) = d(range(1, _)) - d(range(_, -1));
      EXPECT_TRUE(equal(to_array(d), want)) << count << " elements, written from " << to;
    }
  }
}

TEST(Overlap, shifts_both_ways) {
  for (const std::int64_t by : {1, 3, 16, 255}) {
    const Array values = integers({1025}, -100, 100, 1);
    Array right = values, left = values;
    write(right, by, part(values, 0, 1025 - by));
    write(left, 0, part(values, by, 1025 - by));
    const auto x = to_tensor<int, 1>(values);
    x(range(by, _)) = x(range(_, -by));
    EXPECT_TRUE(equal(to_array(x), right)) << "to the right by " << by;
    const auto y = to_tensor<int, 1>(values);
    y(range(_, -by)) = y(range(by, _));
    EXPECT_TRUE(equal(to_array(y), left)) << "to the left by " << by;
  }
}

TEST(Overlap, reversal_and_transposition_in_place) {
  const Array values = counting({1025});
  const auto x = to_tensor<float, 1>(values);
  x.assign(x(range(_, _, -1)));
  EXPECT_EQ(to_array(x)[0], 1024);
  EXPECT_EQ(to_array(x)[1024], 0);
  EXPECT_TRUE(equal(to_array(x(range(_, _, -1))), values));
  const auto square = to_tensor<float, 2>(counting({65, 65}));
  square.assign(square.transpose());
  EXPECT_TRUE(equal(to_array(square), reference::transpose(counting({65, 65}))));
  square += square.transpose();
  EXPECT_TRUE(equal(to_array(square), counting({65, 65}) + reference::transpose(counting({65, 65}))));
}

TEST(Overlap, a_row_is_read_by_all_rows) {
  const Array values = integers({33, 65}, -4, 4, 2);
  const auto x = to_tensor<float, 2>(values);
  x += x[7];
  Array row({65});
  for (std::int64_t j = 0; j < 65; ++j) row[j] = values.at({7, j});
  EXPECT_TRUE(equal(to_array(x), values + row));
}

TEST(Overlap, copies_within_one_tensor) {
  const Array values = counting({9, 9});
  const auto x = to_tensor<float, 2>(values);
  x(range(1, _), range(1, _)).copy_from(x(range(_, -1), range(_, -1)));
  Array want = values;
  for (std::int64_t i = 1; i < 9; ++i)
    for (std::int64_t j = 1; j < 9; ++j) want.at({i, j}) = values.at({i - 1, j - 1});
  EXPECT_TRUE(equal(to_array(x), want));
}

TEST(Overlap, of_elements_of_another_width) {
  // The same bytes seen as two types.
  const auto wide = to_tensor<std::int32_t, 1>(integers({600}, 0, 100, 3));
  auto* const start = reinterpret_cast<std::int16_t*>(wide.data()) + 2;
  const TestTensor<std::int16_t, 1> narrow(wide.storage(), start, {600}, {{1}}, wide.device());
  const Array want = to_array(wide);
  narrow.assign(wide);
  EXPECT_TRUE(equal(to_array(narrow), want));
}

TEST(Overlap, producers_into_their_operands) {
  const Array values = integers({17, 17}, -4, 4, 4);
  const auto x = to_tensor<float, 2>(values);
  x.assign(hd::matmul(x, x) + x);
  EXPECT_TRUE(equal(to_array(x), reference::matmul(values, values) + values));

  const auto y = to_tensor<float, 2>(values);
  y[3] = hd::sum(y, hd::axis<0>) - y[3];
  const Array sums = reference::reduce(reference::sum, values, {0});
  for (std::int64_t j = 0; j < 17; ++j) ASSERT_EQ(to_array(y).at({3, j}), sums[j] - values.at({3, j}));

  const auto z = to_tensor<double, 2>(values);
  z.assign(hd::softmax(z, hd::axis<0>));
  const Array want = reference::softmax(values, 0);
  EXPECT_TRUE(close(to_array(z), want, tolerance::composite<double>(want)));
}

TEST(Overlap, a_producer_is_broadcast_over_its_operand) {
  const Array values = integers({9, 33}, -4, 4, 5);
  const auto x = to_tensor<float, 2>(values);
  x.assign(hd::sum(x, hd::axis<1>, hd::keep_dims));
  EXPECT_TRUE(equal(to_array(x), reference::expand(reference::reduce(reference::sum, values, {1}, true), {9, 33})));
  const auto y = to_tensor<float, 2>(values);
  y -= hd::max(y, hd::axis<0>);
  EXPECT_TRUE(equal(to_array(y), values - reference::reduce(reference::max, values, {0})));
}

}  // namespace
