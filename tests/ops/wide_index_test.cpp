// Counts and offsets beyond 2^31, and rank 8: what moves elements, goes along lines and scatters is run once on each.
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/index.hpp>
#include <heddle/ops/join.hpp>
#include <heddle/ops/pad.hpp>
#include <heddle/ops/reduce.hpp>
#include <heddle/ops/scan.hpp>
#include <heddle/ops/scatter.hpp>
#include <heddle/ops/sort.hpp>

#include "harness/expect.hpp"
#include "reference/along_axis.hpp"
#include "reference/rearrange.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::counting;
using reference::list;

/// Two rows of 40 elements, so far from each other that offsets need more than 32 bits. Only their pages are touched.
class FarRows : public testing::Test {
 protected:
  static constexpr hd::index_t distance = (hd::index_t{1} << 31) + 64;
  void SetUp() override {
    memory_ = hd::empty<std::int8_t>({distance + 40}, test_device());
    rows_ = TestTensor<std::int8_t, 2>(memory_.storage(), memory_.data(), {2, 40}, {{distance, 1}}, memory_.device());
    values_ = integers({2, 40}, -4, 4, 1);
    rows_.copy_from(to_tensor<std::int8_t, 2>(values_));
  }
  TestTensor<std::int8_t, 1> memory_;
  TestTensor<std::int8_t, 2> rows_;
  Array values_;
};

TEST_F(FarRows, are_moved) {
  EXPECT_TRUE(equal(value_of(hd::pad(rows_, {{1, 0}, {2, 3}}, 7)),
                    reference::pad(values_, {{1, 0}, {2, 3}}, reference::PadMode::constant, 7)));
  EXPECT_TRUE(equal(value_of(hd::concat<1>(rows_, rows_)), reference::concat({values_, values_}, 1)));
  EXPECT_TRUE(equal(value_of(hd::tril(rows_, 5)), reference::tril(values_, 5)));
  const Array index = integers({2, 9}, 0, 1, 2);
  EXPECT_TRUE(
      equal(value_of(hd::gather<0>(rows_, to_tensor<std::int64_t, 2>(index))), reference::gather(values_, index, 0)));
  EXPECT_TRUE(equal(value_of(hd::index_select<0>(rows_, to_tensor<int, 1>(list({1, 0, 1, 1})))),
                    reference::take(values_, list({1, 0, 1, 1}), 0)));
}

TEST_F(FarRows, are_gone_along) {
  EXPECT_TRUE(equal(value_of(hd::cumsum(rows_, hd::axis<0>)), reference::along_axis(reference::cumsum, values_, 0)));
  EXPECT_TRUE(equal(value_of(hd::cumsum(rows_, hd::axis<1>)), reference::along_axis(reference::cumsum, values_, 1)));
  const auto ascending = [](const reference::List& x) { return reference::sort(x); };
  EXPECT_TRUE(equal(value_of(hd::sort(rows_, hd::axis<0>)), reference::along_axis(ascending, values_, 0)));
  const Array index = integers({2, 9}, 0, 39, 2);
  EXPECT_TRUE(equal(value_of(hd::scatter<1>(rows_, to_tensor<std::int64_t, 2>(index), rows_)),
                    reference::scatter(values_, index, values_, 1)));
}

TEST_F(FarRows, are_written_to) {
  const Array two = integers({2, 20}, -4, 4, 3);
  const auto half = to_tensor<std::int8_t, 2>(two);
  rows_.assign(hd::concat<1>(half, half));
  EXPECT_TRUE(equal(to_array(hd::eval(rows_ + std::int8_t{0})), reference::concat({two, two}, 1)));
}

TEST(ManyElements, R149_are_counted_in_64_bits) {
  // Counts that the size of a grid is rounded up from, and past 2^31. Threads of an emulated GPU are dear: two there.
  const hd::index_t most = (hd::index_t{1} << 31) + 1;
  const std::vector<hd::index_t> counts = std::is_same_v<TestDevice, hd::Cpu>
                                              ? std::vector<hd::index_t>{most - 3, most - 2, most - 1, most}
                                              : std::vector<hd::index_t>{most - 3, most};
  for (const hd::index_t count : counts) {
    auto x = hd::zeros<std::int8_t>({count}, test_device());
    x = x + 1;
    EXPECT_EQ(hd::sum(x).item(), count);
    EXPECT_TRUE(equal(to_array(x.slice(hd::axis<0>, hd::range(-3, hd::_))), list({1, 1, 1})));
  }
}

TEST(Rank8, is_moved_and_gone_along) {
  const Extents shape{2, 1, 3, 2, 2, 1, 3, 5};
  for (const Layout layout : {Layout::contiguous, Layout::transposed, Layout::sliced}) {
    const auto x = exact_operand<float, 8>(shape, layout, 1);
    EXPECT_TRUE(equal(value_of(hd::concat<4>(x.tensor, x.tensor)), reference::concat({x.values, x.values}, 4)));
    EXPECT_TRUE(equal(value_of(hd::pad(x.tensor, {{1, 0}, {0, 1}, {0, 0}, {2, 1}}, 3)),
                      reference::pad(x.values, {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {1, 0}, {0, 1}, {0, 0}, {2, 1}},
                                     reference::PadMode::constant, 3)));
    EXPECT_TRUE(
        equal(value_of(hd::roll(x.tensor, {1, -1}, hd::axes<2, 6>)), reference::roll(x.values, {2, 6}, {1, -1})));
    EXPECT_TRUE(
        equal(value_of(hd::cumsum(x.tensor, hd::axis<2>)), reference::along_axis(reference::cumsum, x.values, 2)));
    const Array index = integers(shape, 0, 2, 2);
    EXPECT_TRUE(
        equal(value_of(hd::gather<6>(x.tensor, to_tensor<int, 8>(index))), reference::gather(x.values, index, 6)));
    EXPECT_TRUE(equal(value_of(hd::scatter_add<6>(x.tensor, to_tensor<int, 8>(index), x.tensor)),
                      reference::scatter_add(x.values, index, x.values, 6)));
    const auto order = [](const reference::List& line) { return reference::argsort(line); };
    EXPECT_TRUE(equal(value_of(hd::argsort(x.tensor, hd::axis<2>)), reference::along_axis(order, x.values, 2)));
  }
}

}  // namespace
