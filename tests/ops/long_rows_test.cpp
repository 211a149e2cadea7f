// Rows that a block can't hold: clusters of blocks take them where there are any. On CUDA the test is compiled for an
// architecture with clusters too.
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/norm.hpp>
#include <heddle/ops/softmax.hpp>

#include "harness/expect.hpp"
#include "reference/norm.hpp"
#include "reference/softmax.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using hd::axis;
using reference::groups_over;
using reference::normalise;

// Held by clusters of 2 to 8 blocks, with and without vectors, with gaps between the elements; too long for any.
TEST(LongRows, softmax) {
  const auto expect = [](const Extents& shape, Layout layout) {
    const auto x = real_operand<float, 2>(shape, -5, 5, layout, 1);
    const Array want = reference::softmax(x.values, 1);
    EXPECT_TRUE(close(value_of(hd::softmax(x.tensor, axis<1>)), want, tolerance::composite<float>(want)))
        << describe(shape, layout);
  };
  for (const std::int64_t columns : {16384, 20011, 32769, 131072, 262144, 262148})
    expect({columns < 100000 ? 3 : 1, columns}, Layout::contiguous);
  expect({63, 16388}, Layout::contiguous);
  for (const Layout layout : input_layouts()) expect({2, 40004}, layout);
}

TEST(LongRows, with_maps_below_and_above) {
  const auto x = real_operand<hd::half, 2>({2, 70008}, -5, 5, Layout::contiguous, 2);
  const auto mask = real_operand<hd::half, 1>({70008}, -2, 2, Layout::contiguous, 3);
  const Array want = reference::log_softmax(x.values / Array({}, 4) + mask.values, 1) * Array({}, 3) - Array({}, 0.5);
  EXPECT_TRUE(close(value_of(hd::log_softmax(x.tensor / 4 + mask.tensor, axis<1>) * 3 - 0.5), want,
                    tolerance::composite<hd::half>(want)));
}

// A softmax's infinite and NaN elements are seen by all of a row's blocks.
TEST(LongRows, of_infinities) {
  Array x({4, 40000}, 1);
  for (std::size_t i = 0; i < 40000; ++i) x.values[i] = -INFINITY;
  for (std::size_t i = 40000; i < 79999; ++i) x.values[i] = -INFINITY;
  x.values[80000] = NAN;
  x.values[3 * 40000 + 39999] = -INFINITY;
  const Array want = reference::softmax(x, 1);
  EXPECT_TRUE(close(value_of(hd::softmax(to_tensor<float, 2>(x), axis<1>)), want, tolerance::composite<float>(want)));
}

TEST(LongRows, norms) {
  for (const std::int64_t columns : {20011, 65536}) {
    const auto x = real_operand<float, 2>({2, columns}, -3, 5, Layout::contiguous, 4);
    const auto weight = real_operand<float, 1>({columns}, -3, 5, Layout::contiguous, 5);
    const Array want = normalise(x.values, groups_over({2, columns}, {1}), 1e-5);
    EXPECT_TRUE(close(value_of(hd::layer_norm(x.tensor, axis<1>)), want, tolerance::composite<float>(want)));
    EXPECT_TRUE(close(value_of(hd::layer_norm(x.tensor, weight.tensor, weight.tensor)),
                      want * weight.values + weight.values, tolerance::composite<float>(want * weight.values)));
  }
}

}  // namespace
