// The CUDA reduction kernel by itself, against plain loops in double.
#include "heddle/kernels/cuda/reduce.cuh"

#include <cmath>
#include <limits>
#include <tuple>

#include "kernels/cuda_arrays.hpp"

namespace {

using namespace heddle_test;
namespace on_cuda = heddle::on_cuda;

template <class T>
struct Sum {
  using input = T;
  using state = T;
  using result = T;
  HEDDLE_HOST_DEVICE static state identity() { return 0; }
  HEDDLE_HOST_DEVICE static void accumulate(state& sum, input value, index_t) { sum += value; }
  HEDDLE_HOST_DEVICE static void combine(state& left, const state& right) { left += right; }
  HEDDLE_HOST_DEVICE static result finish(const state& sum, index_t) { return sum; }
};

struct Mean : Sum<float> {
  HEDDLE_HOST_DEVICE static float finish(const float& sum, index_t count) { return sum / static_cast<float>(count); }
};

struct Max {
  using input = float;
  using state = float;
  using result = float;
  HEDDLE_HOST_DEVICE static state identity() { return -HUGE_VALF; }
  HEDDLE_HOST_DEVICE static void accumulate(state& max, input value, index_t) {
    if (value > max || value != value) max = value;
  }
  HEDDLE_HOST_DEVICE static void combine(state& left, const state& right) { accumulate(left, right, 0); }
  HEDDLE_HOST_DEVICE static result finish(const state& max, index_t) { return max; }
};

/// The first of equals, the first NaN; its state has padding and a constructor.
struct ArgMax {
  struct state {
    float value = -HUGE_VALF;
    index_t position = std::numeric_limits<index_t>::max();
  };
  using input = float;
  using result = index_t;
  HEDDLE_HOST_DEVICE static state identity() { return {}; }
  HEDDLE_HOST_DEVICE static bool is_before(const state& a, const state& b) {
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    if (a_nan != b_nan) return a_nan;
    if (a.value == b.value || a_nan) return a.position < b.position;
    return a.value > b.value;
  }
  HEDDLE_HOST_DEVICE static void accumulate(state& best, input value, index_t position) {
    combine(best, state{value, position});
  }
  HEDDLE_HOST_DEVICE static void combine(state& left, const state& right) {
    if (is_before(right, left)) left = right;
  }
  HEDDLE_HOST_DEVICE static result finish(const state& best, index_t) { return best.position; }
};

enum class Layout { rows, columns, general, reversed };

/// outer_count × inner_count elements in memory of that layout, and the strides to read them with.
struct Strides {
  index_t first, outer, inner, allocation;
};
Strides strides_of(Layout layout, index_t outer_count, index_t inner_count) {
  switch (layout) {
    case Layout::rows:
      return {0, inner_count, 1, outer_count * inner_count};
    case Layout::columns:
      return {0, 1, outer_count, outer_count * inner_count};
    case Layout::general:
      return {1, 3 * inner_count, 3, 3 * outer_count * inner_count + 1};
    case Layout::reversed:
      return {outer_count * inner_count - 1, -inner_count, -1, outer_count * inner_count};
  }
  return {};
}

template <class Reduction, class T, class Result = typename Reduction::result>
std::vector<Result> run(const std::vector<T>& values, const Strides& strides, index_t outer_count,
                        index_t inner_count) {
  const DeviceArray<T> input(values);
  const DeviceArray<Result> output(outer_count);
  using Source = StridedSource<T, typename Reduction::input>;
  on_cuda::reduce<Reduction>(Source{input.data() + strides.first, strides.outer, strides.inner},
                             StridedSink<Result>{output.data(), 1, 0, 0}, outer_count, inner_count,
                             on_cuda::current_context(0));
  return output.to_vector();
}

template <class Result, class T>
std::vector<Result> sums(const std::vector<T>& values, const Strides& strides, index_t outer_count,
                         index_t inner_count) {
  std::vector<Result> results;
  for (index_t o = 0; o < outer_count; ++o) {
    double sum = 0;
    for (index_t i = 0; i < inner_count; ++i) {
      sum +=
          static_cast<double>(values[static_cast<std::size_t>(strides.first + o * strides.outer + i * strides.inner)]);
    }
    results.push_back(static_cast<Result>(sum));
  }
  return results;
}

class CudaReduce : public testing::TestWithParam<std::tuple<Layout, index_t, index_t>> {};

TEST_P(CudaReduce, SumOfIntegersIsExact) {
  const auto [layout, outer, inner] = GetParam();
  const Strides strides = strides_of(layout, outer, inner);
  const std::vector<float> values = exact_values<float>(strides.allocation, 1);
  EXPECT_TRUE(same_bits(run<Sum<float>>(values, strides, outer, inner), sums<float>(values, strides, outer, inner)));
}

TEST_P(CudaReduce, ArgMaxIsTheFirstOfEquals) {
  const auto [layout, outer, inner] = GetParam();
  if (inner == 0) return;
  const Strides strides = strides_of(layout, outer, inner);
  const std::vector<float> values = exact_values<float>(strides.allocation, 2);
  std::vector<index_t> expected;
  for (index_t o = 0; o < outer; ++o) {
    ArgMax::state best;
    for (index_t i = 0; i < inner; ++i) {
      const float value = values[static_cast<std::size_t>(strides.first + o * strides.outer + i * strides.inner)];
      if (value > best.value) best = {value, i};
    }
    expected.push_back(best.position);
  }
  EXPECT_EQ((run<ArgMax>(values, strides, outer, inner)), expected);
}

constexpr Layout all_layouts[] = {Layout::rows, Layout::columns, Layout::general, Layout::reversed};

INSTANTIATE_TEST_SUITE_P(FewResults, CudaReduce,
                         testing::Combine(testing::ValuesIn(all_layouts), testing::Values<index_t>(1, 2, 3, 17),
                                          testing::Values<index_t>(0, 1, 2, 3, 7, 8, 31, 32, 33, 64, 129, 511, 1000,
                                                                   2049, 8193)));
INSTANTIATE_TEST_SUITE_P(ManyResults, CudaReduce,
                         testing::Combine(testing::ValuesIn(all_layouts),
                                          testing::Values<index_t>(31, 32, 33, 127, 257, 1031),
                                          testing::Values<index_t>(0, 1, 2, 5, 16, 17, 33, 129)));
INSTANTIATE_TEST_SUITE_P(TwoLaunches, CudaReduce,
                         testing::Combine(testing::ValuesIn(all_layouts), testing::Values<index_t>(1, 2, 7, 37, 131),
                                          testing::Values<index_t>(2003, 65537)));

TEST(CudaReduceTypes, DoubleAndInt64AndHalf) {
  const Strides strides = strides_of(Layout::rows, 3, 70001);
  const std::vector<double> doubles = real_values<double>(strides.allocation, 3);
  const std::vector<double> expected = sums<double>(doubles, strides, 3, 70001);
  const std::vector<double> got = run<Sum<double>>(doubles, strides, 3, 70001);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(got[i], expected[i], 1e-10);

  const std::vector<std::int8_t> bytes = exact_values<std::int8_t>(strides.allocation, 4);
  EXPECT_EQ((run<Sum<index_t>>(bytes, strides, 3, 70001)), (sums<index_t>(bytes, strides, 3, 70001)));
  const std::vector<heddle::half> halves = exact_values<heddle::half>(strides.allocation, 5);
  EXPECT_EQ((run<Sum<float>>(halves, strides, 3, 70001)), (sums<float>(halves, strides, 3, 70001)));
}

TEST(CudaReduceFloat, SumKeepsItsPrecision) {
  for (Layout layout : all_layouts) {
    const Strides strides = strides_of(layout, 5, 50021);
    const std::vector<float> values = real_values<float>(strides.allocation, 6);
    const std::vector<double> expected = sums<double>(values, strides, 5, 50021);
    const std::vector<float> got = run<Sum<float>>(values, strides, 5, 50021);
    // c sqrt(K) u sum|x| with sum|x| about K; blocked sums stay far below it.
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(got[i], expected[i], 50021 * 0x1p-24 * 4);
  }
}

/// Ones that need no memory.
struct Ones {
  using value_type = float;
  using Position = index_t;
  bool columns;
  __device__ Position at(index_t outer) const { return outer; }
  __device__ float load(Position, index_t) const { return 1; }
  bool inner_is_contiguous() const { return !columns; }
  bool outer_is_contiguous() const { return columns; }
};

TEST(CudaReduceFloat, OnesAreCounted) {
  const DeviceArray<float> output(1);
  on_cuda::reduce<Sum<float>>(Ones{false}, StridedSink<float>{output.data(), 1, 0, 0}, 1, index_t{1} << 26,
                              on_cuda::current_context(0));
  EXPECT_EQ(output.to_vector()[0], 0x1p26F);
}

// jax, numpy: the mean of many ones stuck at 2^24 / n.
TEST(CudaReduceFloat, R058MeanOfManyOnes) {
  for (index_t outer = 1; outer <= 2; ++outer) {
    const DeviceArray<float> output(outer);
    const StridedSink<float> sink{output.data(), 1, 0, 0};
    on_cuda::reduce<Mean>(Ones{true}, sink, outer, 20000000, on_cuda::current_context(0));
    for (const float mean : output.to_vector()) EXPECT_NEAR(mean, 1, 1e-6);
    on_cuda::reduce<Sum<float>>(Ones{true}, sink, outer, 20000000, on_cuda::current_context(0));
    for (const float sum : output.to_vector()) EXPECT_NEAR(sum, 2e7, 20);
  }
}

// argmax and NaN: the first NaN, always an index of the range.
TEST(CudaReduceNaN, R035ArgMax) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = HUGE_VALF;
  const std::vector<std::pair<std::vector<float>, index_t>> cases = {
      {{0, 1, nan}, 2},   {{3, nan, 1, 5}, 1}, {{nan, 1, 2}, 0},    {{inf, nan, -inf}, 1},
      {{-1, -2, nan}, 2}, {{-inf, -inf}, 0},   {{nan, nan, nan}, 0}};
  for (const auto& [values, expected] : cases) {
    const index_t count = static_cast<index_t>(values.size());
    EXPECT_EQ((run<ArgMax>(values, strides_of(Layout::rows, 1, count), 1, count)[0]), expected);
  }
  for (index_t length : {3, 33, 1000, 5000, 100000}) {
    std::vector<float> values = real_values<float>(length, 7);
    values[static_cast<std::size_t>(length / 2)] = nan;
    values[static_cast<std::size_t>(length - 1)] = nan;
    EXPECT_EQ((run<ArgMax>(values, strides_of(Layout::rows, 1, length), 1, length)[0]), length / 2);
  }
}

TEST(CudaReduceNaN, R039MaxAndSumPropagate) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> small = {1, nan, 3, 4, 5, 6};
  const std::vector<float> rows = run<Max>(small, strides_of(Layout::rows, 2, 3), 2, 3);
  EXPECT_TRUE(std::isnan(rows[0]));
  EXPECT_EQ(rows[1], 6);
  std::vector<float> values = real_values<float>(100000, 8);
  values[77777] = nan;
  EXPECT_TRUE(std::isnan(run<Max>(values, strides_of(Layout::rows, 1, 100000), 1, 100000)[0]));
  EXPECT_TRUE(std::isnan(run<Sum<float>>(values, strides_of(Layout::rows, 1, 100000), 1, 100000)[0]));
}

TEST(CudaReduceFused, PrologueOfTwoOperands) {
  const index_t outer = 9, inner = 1003;
  const std::vector<float> x = exact_values<float>(outer * inner, 9), y = exact_values<float>(outer * inner, 10);
  std::vector<float> expected(static_cast<std::size_t>(outer));
  for (std::size_t i = 0; i < x.size(); ++i) expected[i / 1003] += (x[i] - y[i]) * (x[i] - y[i]);
  const DeviceArray<float> dx(x), dy(y), output(outer);
  on_cuda::reduce<Sum<float>>(SquaredDifference{dx.data(), dy.data(), inner},
                              StridedSink<float>{output.data(), 1, 0, 0}, outer, inner, on_cuda::current_context(0));
  EXPECT_EQ(output.to_vector(), expected);
}

TEST(CudaReduceBits, TwoRunsAgree) {
  for (Layout layout : all_layouts) {
    const Strides strides = strides_of(layout, 3, 70003);
    const std::vector<float> values = real_values<float>(strides.allocation, 11);
    EXPECT_TRUE(same_bits(run<Sum<float>>(values, strides, 3, 70003), run<Sum<float>>(values, strides, 3, 70003)));
  }
}

TEST(CudaReduceEmpty, NoElementsAndNoResults) {
  const std::vector<float> nothing;
  EXPECT_EQ((run<Sum<float>>(nothing, strides_of(Layout::rows, 3, 0), 3, 0)), (std::vector<float>{0, 0, 0}));
  EXPECT_TRUE(std::isnan(run<Mean>(nothing, strides_of(Layout::columns, 1, 0), 1, 0)[0]));
  EXPECT_TRUE((run<Sum<float>>(nothing, strides_of(Layout::rows, 0, 5), 0, 5)).empty());
}

TEST(CudaReduceLimits, MoreResultsThanAGridDimension) {
  const index_t outer = 70000 * 8, inner = 2;
  for (Layout layout : {Layout::rows, Layout::columns}) {
    const Strides strides = strides_of(layout, outer, inner);
    const std::vector<float> values = exact_values<float>(strides.allocation, 12);
    EXPECT_TRUE(same_bits(run<Sum<float>>(values, strides, outer, inner), sums<float>(values, strides, outer, inner)));
  }
}

// What a plan promises, for extents that no test can run.
TEST(CudaReducePlan, CoversEveryElementWithinTheLimits) {
  const index_t counts[] = {
      1, 2, 31, 32, 33, 255, 1000, 65536, 65537, 1 << 20, (1 << 26) + 1, index_t{1} << 31, (index_t{1} << 33) + 5};
  for (const index_t outer : counts) {
    for (const index_t inner : counts) {
      for (const bool inner_fast : {true, false}) {
        const on_cuda::reduce_plan plan = on_cuda::plan_reduce(outer, inner, inner_fast);
        SCOPED_TRACE(testing::Message() << outer << " x " << inner << (inner_fast ? " rows" : " columns"));
        EXPECT_GE(plan.lanes.threads(), 32);
        EXPECT_LE(plan.lanes.threads(), on_cuda::reduce_max_threads);
        EXPECT_LE(plan.segment, index_t{1} << 30);
        EXPECT_GE(plan.splits * plan.segment, inner);
        EXPECT_LT((plan.splits - 1) * plan.segment, inner);
        EXPECT_LE(plan.splits, 65535);
        if (inner <= on_cuda::reduce_one_launch / outer) EXPECT_EQ(plan.splits, 1);
      }
      for (const int width : {2, 4, 8}) {
        if (outer % width != 0) continue;
        const on_cuda::reduce_plan plan = on_cuda::plan_columns(outer, inner, width);
        const int threads = plan.lanes.threads();
        SCOPED_TRACE(testing::Message() << outer << " x " << inner << " by " << width);
        EXPECT_GE(threads, 32);
        EXPECT_LE(threads, on_cuda::reduce_max_threads);
        // What a block's warps keep in shared memory.
        const int states = plan.lanes.outer_lanes() < 32 ? threads / 32 * plan.lanes.outer_lanes() : threads;
        EXPECT_LE(states * width, (on_cuda::reduce_scratch<float, 8>::count) / 8 * width);
        EXPECT_GE(plan.splits * plan.segment, inner);
        EXPECT_LT((plan.splits - 1) * plan.segment, inner);
        EXPECT_LE(plan.segment, index_t{1} << 30);
        EXPECT_LE(plan.splits, 65535);
        if (inner <= on_cuda::reduce_one_launch / outer) EXPECT_EQ(plan.splits, 1);
      }
    }
  }
}

}  // namespace
