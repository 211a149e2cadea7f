// The CUDA softmax kernel by itself, against plain loops in double.
#include "heddle/kernels/cuda/softmax.cuh"

#include <cmath>
#include <limits>
#include <tuple>

#include "kernels/cuda_arrays.hpp"

namespace {

using namespace heddle_test;
namespace on_cuda = heddle::on_cuda;

enum class Layout { rows, columns, general };

struct Strides {
  index_t row, column, allocation;
};
Strides strides_of(Layout layout, index_t rows, index_t columns) {
  switch (layout) {
    case Layout::rows:
      return {columns, 1, rows * columns};
    case Layout::columns:
      return {1, rows, rows * columns};
    case Layout::general:
      return {2 * columns, 2, 2 * rows * columns};
  }
  return {};
}

template <bool Log, class T, class Value = T>
std::vector<T> run(const std::vector<T>& values, const Strides& strides, index_t rows, index_t columns) {
  const DeviceArray<T> input(values);
  const DeviceArray<T> output(rows * columns);
  on_cuda::softmax<Log>(StridedSource<T, Value>{input.data(), strides.row, strides.column},
                        StridedSink<T>{output.data(), columns, 0, 1}, rows, columns, on_cuda::current_context(0));
  return output.to_vector();
}

template <class T>
std::vector<double> reference(bool log, const std::vector<T>& values, const Strides& strides, index_t rows,
                              index_t columns) {
  std::vector<double> results;
  for (index_t r = 0; r < rows; ++r) {
    std::vector<double> row;
    double greatest = -HUGE_VAL;
    long double sum = 0;
    for (index_t c = 0; c < columns; ++c) {
      row.push_back(static_cast<double>(values[static_cast<std::size_t>(r * strides.row + c * strides.column)]));
      if (row.back() > greatest) greatest = row.back();
    }
    for (double x : row) sum += std::exp(x - greatest);
    const double total = static_cast<double>(sum);
    for (double x : row) results.push_back(log ? x - greatest - std::log(total) : std::exp(x - greatest) / total);
  }
  return results;
}

/// NaN must meet NaN and infinity infinity; else |x - y| <= rtol |y| + atol.
template <class T>
void expect_close(const std::vector<T>& got, const std::vector<double>& expected, double rtol, double atol) {
  ASSERT_EQ(got.size(), expected.size());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double x = static_cast<double>(got[i]), y = expected[i];
    const bool right = std::isnan(y) ? std::isnan(x) : x == y || std::abs(x - y) <= rtol * std::abs(y) + atol;
    if (!right && wrong++ == 0) ADD_FAILURE() << "at " << i << ": " << x << ", expected " << y;
  }
  EXPECT_EQ(wrong, 0U) << "of " << got.size();
}

class CudaSoftmax : public testing::TestWithParam<std::tuple<Layout, index_t, index_t>> {};

TEST_P(CudaSoftmax, EveryTypeAndLogarithm) {
  const auto [layout, rows, columns] = GetParam();
  const Strides strides = strides_of(layout, rows, columns);
  const std::vector<float> floats = real_values<float>(strides.allocation, 1);
  expect_close(run<false>(floats, strides, rows, columns), reference(false, floats, strides, rows, columns), 2e-6, 0);
  expect_close(run<true>(floats, strides, rows, columns), reference(true, floats, strides, rows, columns), 1e-6, 1e-6);
  const std::vector<double> doubles = real_values<double>(strides.allocation, 2);
  expect_close(run<false>(doubles, strides, rows, columns), reference(false, doubles, strides, rows, columns), 1e-14,
               0);
  const std::vector<heddle::half> halves = real_values<heddle::half>(strides.allocation, 3);
  expect_close(run<true, heddle::half, float>(halves, strides, rows, columns),
               reference(true, halves, strides, rows, columns), 1e-3, 1e-5);
}

constexpr Layout all_layouts[] = {Layout::rows, Layout::columns, Layout::general};

INSTANTIATE_TEST_SUITE_P(Short, CudaSoftmax,
                         testing::Combine(testing::ValuesIn(all_layouts), testing::Values<index_t>(1, 2, 3, 33, 131),
                                          testing::Values<index_t>(1, 2, 3, 5, 7, 8, 31, 32, 33, 64, 65, 100, 127, 129,
                                                                   255, 257)));
INSTANTIATE_TEST_SUITE_P(ManyRows, CudaSoftmax,
                         testing::Combine(testing::ValuesIn(all_layouts), testing::Values<index_t>(5003),
                                          testing::Values<index_t>(1, 3, 10, 33)));
INSTANTIATE_TEST_SUITE_P(Long, CudaSoftmax,
                         testing::Combine(testing::ValuesIn(all_layouts), testing::Values<index_t>(1, 5, 300),
                                          testing::Values<index_t>(511, 513, 1000, 1025, 2047)));
INSTANTIATE_TEST_SUITE_P(VeryLong, CudaSoftmax,
                         testing::Combine(testing::ValuesIn(all_layouts), testing::Values<index_t>(1, 3),
                                          testing::Values<index_t>(8191, 8192, 8193, 10007, 40009)));

TEST(CudaSoftmaxLimits, MoreRowsThanAGridDimension) {
  const index_t rows = 70000 * 16, columns = 2;
  const Strides strides = strides_of(Layout::rows, rows, columns);
  const std::vector<float> values = real_values<float>(strides.allocation, 4);
  expect_close(run<false>(values, strides, rows, columns), reference(false, values, strides, rows, columns), 2e-6, 0);
}

// Rows, one a kind: nothing but -inf, some -inf (at the beginning too), a NaN, +inf, great and small values.
TEST(CudaSoftmaxSpecial, InfinitiesNaNAndGreatValues) {
  const float inf = HUGE_VALF, nan = std::numeric_limits<float>::quiet_NaN();
  for (const index_t columns : {4, 33, 300, 1000, 8192, 20011}) {
    for (const Layout layout : all_layouts) {
      constexpr index_t rows = 7;
      const Strides strides = strides_of(layout, rows, columns);
      std::vector<float> values = real_values<float>(strides.allocation, 5);
      const auto at = [&](index_t row, index_t column) -> float& {
        return values[static_cast<std::size_t>(row * strides.row + column * strides.column)];
      };
      for (index_t c = 0; c < columns; ++c) {
        at(0, c) = -inf;
        if (c < columns - 1) at(1, c) = -inf;
        if (c > 0) at(2, c) = -inf;
        at(5, c) += 1e30F * static_cast<float>(c % 2);
        at(6, c) -= 1e4F;
      }
      at(3, columns / 2) = nan;
      at(4, columns - 1) = inf;
      expect_close(run<false>(values, strides, rows, columns), reference(false, values, strides, rows, columns), 2e-6,
                   0);
      expect_close(run<true>(values, strides, rows, columns), reference(true, values, strides, rows, columns), 1e-6,
                   1e-6);
    }
  }
}

TEST(CudaSoftmaxSpecial, RowOfNaNAndMinusInfinity) {
  const float inf = HUGE_VALF, nan = std::numeric_limits<float>::quiet_NaN();
  for (const index_t columns : {3, 100, 9000}) {
    std::vector<float> values(static_cast<std::size_t>(columns), -inf);
    values.back() = nan;
    const Strides strides = strides_of(Layout::rows, 1, columns);
    for (const float y : run<false>(values, strides, 1, columns)) EXPECT_TRUE(std::isnan(y));
    for (const float y : run<true>(values, strides, 1, columns)) EXPECT_TRUE(std::isnan(y));
  }
}

TEST(CudaSoftmaxEmpty, NothingIsLaunched) {
  EXPECT_TRUE(run<false>(std::vector<float>{}, strides_of(Layout::rows, 0, 5), 0, 5).empty());
  EXPECT_TRUE(run<false>(std::vector<float>{}, strides_of(Layout::rows, 5, 0), 5, 0).empty());
}

TEST(CudaSoftmaxPlan, AWarpAtLeastAndABlockAtMost) {
  for (const index_t rows : {1, 2, 31, 1000, 1 << 20}) {
    for (const index_t columns : {1, 2, 33, 512, 513, 1000, 8192, 8193, 1 << 20}) {
      for (const bool inner_fast : {true, false}) {
        const on_cuda::row_plan plan = on_cuda::plan_rows(rows, columns, 32, 4, 4, 1024, inner_fast, false);
        EXPECT_GE(plan.lanes.threads(), 32) << rows << " x " << columns;
        EXPECT_LE(plan.lanes.threads(), inner_fast ? 1024 : 512) << rows << " x " << columns;
      }
    }
  }
}

}  // namespace
