#include "heddle/kernels/cpu/gemm.hpp"

#include <cmath>
#include <limits>

#include "kernels/cpu_arrays.hpp"

namespace {

using heddle::bfloat16;
using heddle::gemm_operand;
using heddle::gemm_shape;
using heddle::half;
using heddle_test::as_size;
using heddle_test::index_t;
using heddle_test::OutputArray;
using heddle_test::Random;
using heddle_test::small_integer;

template <class T>
using accumulator = std::conditional_t<std::is_integral_v<T>, std::int64_t,
                                       std::conditional_t<std::is_same_v<T, double>, double, float>>;

enum class Layout { rows, columns, stepped, reversed, repeated_row, repeated_column };
constexpr Layout layouts[] = {Layout::rows,     Layout::columns,      Layout::stepped,
                              Layout::reversed, Layout::repeated_row, Layout::repeated_column};

/// A matrix of any layout, for each of a number of batches.
template <class T>
struct Matrix {
  index_t rows, columns;
  std::vector<T> memory;
  gemm_operand<T> operand;

  Matrix(index_t rows_wanted, index_t columns_wanted, Layout layout, Random& random, index_t batches = 1,
         bool exact = true)
      : rows(rows_wanted), columns(columns_wanted), memory(as_size(rows * columns * 3 * batches + 1)) {
    std::uniform_real_distribution<float> real(-1, 1);
    for (auto&& value : memory) value = exact ? small_integer<T>(random) : static_cast<T>(real(random));
    index_t first = 0;
    switch (layout) {
      case Layout::rows:
        operand.row_stride = columns;
        operand.column_stride = 1;
        break;
      case Layout::columns:
        operand.row_stride = 1;
        operand.column_stride = rows;
        break;
      case Layout::stepped:
        operand.row_stride = 3 * columns;
        operand.column_stride = 2;
        break;
      case Layout::reversed:
        operand.row_stride = -columns;
        operand.column_stride = -1;
        first = rows * columns - 1;
        break;
      case Layout::repeated_row:
        operand.row_stride = 0;
        operand.column_stride = 1;
        break;
      case Layout::repeated_column:
        operand.row_stride = 1;
        operand.column_stride = 0;
        break;
    }
    operand.data = memory.data() + (rows * columns > 0 ? first : 0);
    operand.batch_stride[0] = batches > 1 ? rows * columns * 3 : 0;
  }
  T at(index_t batch, index_t row, index_t column) const {
    return operand.data[batch * operand.batch_stride[0] + row * operand.row_stride + column * operand.column_stride];
  }
};
// vector<bool> has no data(): bool's values live in a struct of the same layout.
template <>
struct Matrix<bool> {
  index_t rows, columns;
  std::vector<char> memory;
  gemm_operand<bool> operand;
  Matrix(index_t rows_wanted, index_t columns_wanted, Layout, Random& random, index_t = 1, bool = true)
      : rows(rows_wanted), columns(columns_wanted), memory(as_size(rows * columns + 1)) {
    for (char& value : memory) value = static_cast<char>(random() % 2);
    operand.data = reinterpret_cast<const bool*>(memory.data());
    operand.row_stride = columns;
    operand.column_stride = 1;
  }
  bool at(index_t, index_t row, index_t column) const { return operand.data[row * columns + column]; }
};

template <class Acc>
struct ElementSink {
  using Position = index_t;
  OutputArray<Acc>* out;
  index_t m, n;
  Position at(index_t batch) const { return batch * m * n; }
  void store(Position position, index_t row, index_t column, Acc value) const {
    out->write(position + row * n + column, value);
  }
};
template <class Acc>
struct RowSink : ElementSink<Acc> {
  void store_row(index_t position, index_t row, index_t column, const Acc* values, index_t count) const {
    ASSERT_LE(column + count, this->n);
    for (index_t j = 0; j < count; ++j) this->store(position, row, column + j, values[j]);
  }
};

template <class T>
void check(const Matrix<T>& a, const Matrix<T>& b, index_t batches, bool by_rows, bool exact) {
  using Acc = accumulator<T>;
  const index_t m = a.rows, k = a.columns, n = b.columns;
  OutputArray<Acc> out(batches * m * n);
  gemm_shape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  shape.batches = batches;
  shape.batch_rank = 1;
  shape.batch_extent[0] = batches;
  // One of the two ways to store for each type but float: they cost compile time.
  if constexpr (std::is_same_v<T, float>) {
    if (!by_rows) heddle::on_cpu::gemm<Acc>(ElementSink<Acc>{&out, m, n}, shape, a.operand, b.operand);
  }
  if (by_rows || !std::is_same_v<T, float>)
    heddle::on_cpu::gemm<Acc>(RowSink<Acc>{{&out, m, n}}, shape, a.operand, b.operand);
  out.expect_each_written_once();
  const double roundoff = std::is_same_v<Acc, double> ? 0x1p-53 : 0x1p-24;
  for (index_t batch = 0; batch < batches; ++batch) {
    for (index_t row = 0; row < m; ++row) {
      for (index_t column = 0; column < n; ++column) {
        double want = 0, magnitude = 0;
        for (index_t i = 0; i < k; ++i) {
          const double product = static_cast<double>(a.at(batch, row, i)) * static_cast<double>(b.at(batch, i, column));
          want += product;
          magnitude += std::abs(product);
        }
        const double got = static_cast<double>(out[(batch * m + row) * n + column]);
        const double allowed =
            exact ? 0 : 4 * std::sqrt(static_cast<double>(k)) * roundoff * magnitude + roundoff * std::abs(want);
        ASSERT_TRUE(std::abs(got - want) <= allowed)
            << "m " << m << " n " << n << " k " << k << " batch " << batch << " (" << row << ", " << column << "): got "
            << got << ", want " << want << ", allowed " << allowed;
      }
    }
  }
}

template <class T>
class CpuGemm : public testing::Test {};
using Elements = testing::Types<float, double, half, bfloat16, std::int8_t, std::uint16_t, std::int64_t, bool>;
TYPED_TEST_SUITE(CpuGemm, Elements);

// Around every width of a vector, of a panel and of a tile.
constexpr index_t extents[] = {1,  2,  3,  4,  5,  7,  8,  9,  12, 13, 15, 16, 17,
                               23, 24, 25, 31, 32, 33, 47, 48, 49, 63, 64, 65};
constexpr index_t depths[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 64, 95, 96, 97, 191, 192, 193, 400};

TYPED_TEST(CpuGemm, SmallIntegersAreExactForEveryShapeAndLayout) {
  Random random(1);
  int count = 0;
  for (const index_t m : extents) {
    for (int repeat = 0; repeat < 10; ++repeat, ++count) {
      const index_t n = extents[random() % std::size(extents)];
      const index_t k = depths[random() % std::size(depths)];
      const Matrix<TypeParam> a(m, k, layouts[random() % std::size(layouts)], random);
      const Matrix<TypeParam> b(k, n, layouts[random() % std::size(layouts)], random);
      check(a, b, 1, count % 2 == 0, true);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(CpuGemm, SeveralTiles) {
  Random random(2);
  const index_t shapes[][3] = {{289, 385, 70}, {97, 400, 97}, {300, 10, 193}, {10, 800, 50}};
  for (const auto& shape : shapes) {
    const Matrix<TypeParam> a(shape[0], shape[2], Layout::rows, random);
    const Matrix<TypeParam> b(shape[2], shape[1], Layout::columns, random);
    check(a, b, 1, true, true);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TYPED_TEST(CpuGemm, MatrixTimesVectorAndVectorTimesMatrix) {
  Random random(3);
  for (const index_t m : {1, 2, 15, 16, 17, 63, 64, 65, 255, 256, 257, 600}) {
    for (const index_t k : {1, 3, 63, 64, 65, 511, 512, 513, 700}) {
      const Layout layout = layouts[random() % std::size(layouts)];
      check(Matrix<TypeParam>(m, k, layout, random), Matrix<TypeParam>(k, 1, Layout::rows, random), 1, true, true);
      check(Matrix<TypeParam>(1, k, Layout::rows, random), Matrix<TypeParam>(k, m, layout, random), 1, m % 2 == 0,
            true);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(CpuGemm, LongVectorsAreSharedInParts) {
  Random random(4);
  for (const index_t k : {16383, 16384, 16385, 70001}) {
    for (const Layout layout : {Layout::rows, Layout::columns}) {
      check(Matrix<TypeParam>(3, k, layout, random), Matrix<TypeParam>(k, 1, Layout::rows, random), 1, true, true);
      check(Matrix<TypeParam>(1, k, layout, random), Matrix<TypeParam>(k, 5, layout, random), 1, true, true);
    }
  }
}

TYPED_TEST(CpuGemm, NoElementsAndNoProducts) {
  Random random(5);
  for (const index_t m : {0, 1, 3, 20})
    for (const index_t n : {0, 1, 3, 20})
      for (const index_t k : {0, 2}) {
        if (m > 0 && n > 0 && k > 0) continue;
        check(Matrix<TypeParam>(m, k, Layout::rows, random), Matrix<TypeParam>(k, n, Layout::rows, random), 1, true,
              true);
        check(Matrix<TypeParam>(m, k, Layout::rows, random), Matrix<TypeParam>(k, n, Layout::rows, random), 0, true,
              true);
      }
}

template <class T>
class CpuGemmReal : public testing::Test {};
using Floats = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(CpuGemmReal, Floats);

TYPED_TEST(CpuGemmReal, RealValuesWithinTheBound) {
  Random random(6);
  const index_t shapes[][3] = {{65, 130, 784}, {33, 49, 2000}, {17, 1, 3000},
                               {1, 17, 3000},  {3, 2, 20000},  {5, 60, 4500}};
  for (const auto& shape : shapes) {
    for (const Layout layout : {Layout::rows, Layout::columns, Layout::stepped}) {
      const Matrix<TypeParam> a(shape[0], shape[2], layout, random, 1, false);
      const Matrix<TypeParam> b(shape[2], shape[1], layout, random, 1, false);
      check(a, b, 1, true, false);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(CpuGemmReal, ManyBatches) {
  Random random(7);
  for (const index_t batches : {2, 3, 40}) {
    const Matrix<TypeParam> a(13, 21, Layout::columns, random, batches);
    const Matrix<TypeParam> b(21, 34, Layout::rows, random, batches);
    check(a, b, batches, true, true);
    const Matrix<TypeParam> shared(21, 34, Layout::rows, random);
    check(a, shared, batches, false, true);
    check(Matrix<TypeParam>(13, 21, Layout::columns, random, batches), Matrix<TypeParam>(21, 1, Layout::rows, random),
          batches, true, true);
  }
}

TEST(CpuGemmBatches, AreNumberedRowMajorOverTheirExtents) {
  gemm_shape shape;
  shape.batch_rank = 3;
  const index_t batch_extents[] = {2, 3, 4};
  for (int d = 0; d < 3; ++d) shape.batch_extent[d] = batch_extents[d];
  const std::vector<float> memory(1100);
  gemm_operand<float> operand;
  operand.data = memory.data() + 50;
  operand.batch_stride[0] = 1000;
  operand.batch_stride[1] = 0;
  operand.batch_stride[2] = -7;
  index_t batch = 0;
  for (index_t i = 0; i < 2; ++i)
    for (index_t j = 0; j < 3; ++j)
      for (index_t l = 0; l < 4; ++l, ++batch) {
        EXPECT_EQ(heddle::batch_data(operand, shape, batch) - operand.data, i * 1000 - l * 7);
      }
}

// More rows and columns than are packed at once; with the greater k, several slabs of it too. Sample elements, where
// the whole reference would take too long.
TEST(CpuGemmLarge, SeveralRegionsAndSlabs) {
  Random random(8);
  const index_t sizes[][3] = {{1003, 1005, 4101}, {1103, 1105, 2000}};
  for (const auto& size : sizes) {
    const index_t m = size[0], n = size[1], k = size[2];
    const Matrix<float> a(m, k, Layout::rows, random);
    const Matrix<float> b(k, n, Layout::rows, random);
    OutputArray<float> out(m * n);
    gemm_shape shape;
    shape.m = m;
    shape.n = n;
    shape.k = k;
    heddle::on_cpu::gemm<float>(RowSink<float>{{&out, m, n}}, shape, a.operand, b.operand);
    out.expect_each_written_once();
    for (int sample = 0; sample < 3000; ++sample) {
      const index_t row = static_cast<index_t>(random()) % m, column = static_cast<index_t>(random()) % n;
      double want = 0;
      for (index_t i = 0; i < k; ++i)
        want += static_cast<double>(a.at(0, row, i)) * static_cast<double>(b.at(0, i, column));
      ASSERT_EQ(static_cast<double>(out[row * n + column]), want) << row << ", " << column;
    }
  }
}

TEST(CpuGemmIntegers, Wrap) {
  const std::int64_t great = std::numeric_limits<std::int64_t>::max();
  const std::int64_t a[] = {great, great, 3, 5}, b[] = {2, 7, great, 11};
  OutputArray<std::int64_t> out(4);
  gemm_shape shape;
  shape.m = shape.n = shape.k = 2;
  gemm_operand<std::int64_t> left{a, 2, 1, {}}, right{b, 2, 1, {}};
  heddle::on_cpu::gemm<std::int64_t>(RowSink<std::int64_t>{{&out, 2, 2}}, shape, left, right);
  const auto product = [](std::int64_t x, std::int64_t y) {
    return static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y);
  };
  for (int row = 0; row < 2; ++row)
    for (int column = 0; column < 2; ++column)
      EXPECT_EQ(static_cast<std::uint64_t>(out[row * 2 + column]),
                product(a[row * 2], b[column]) + product(a[row * 2 + 1], b[2 + column]));
}

TEST(CpuGemmNan, StaysInItsRowAndColumn) {
  Random random(9);
  constexpr index_t m = 11, n = 50, k = 19;
  Matrix<float> a(m, k, Layout::rows, random), b(k, n, Layout::rows, random);
  a.memory[as_size(2 * k + 3)] = std::numeric_limits<float>::quiet_NaN();
  b.memory[as_size(4 * n + 49)] = std::numeric_limits<float>::infinity();
  OutputArray<float> out(m * n);
  gemm_shape shape;
  shape.m = m;
  shape.n = n;
  shape.k = k;
  heddle::on_cpu::gemm<float>(RowSink<float>{{&out, m, n}}, shape, a.operand, b.operand);
  for (index_t row = 0; row < m; ++row)
    for (index_t column = 0; column < n; ++column)
      EXPECT_EQ(std::isfinite(out[row * n + column]), row != 2 && column != 49) << row << ", " << column;
}

TEST(CpuGemmThreads, DISABLED_Digest) {
  Random random(10);
  heddle_test::Digest digest;
  const index_t shapes[][3] = {{64, 128, 784}, {300, 500, 700}, {1, 300, 40000}, {300, 1, 5000}, {1, 1, 100000}};
  for (const auto& size : shapes) {
    const Matrix<float> a(size[0], size[2], Layout::rows, random, 1, false);
    const Matrix<float> b(size[2], size[1], Layout::rows, random, 1, false);
    OutputArray<float> out(size[0] * size[1]);
    gemm_shape shape;
    shape.m = size[0];
    shape.n = size[1];
    shape.k = size[2];
    heddle::on_cpu::gemm<float>(ElementSink<float>{&out, shape.m, shape.n}, shape, a.operand, b.operand);
    digest.add(out.values());
  }
  digest.print();
}

TEST(CpuGemmThreads, TheirNumberChangesNoBit) {
  const char* const filter = "CpuGemmThreads.DISABLED_Digest";
  const std::string one = heddle_test::digest_under("HEDDLE_NUM_THREADS=1", filter);
  EXPECT_EQ(one.substr(0, 8), "digest: ");
  for (const char* const threads : {"2", "3", "7"})
    EXPECT_EQ(heddle_test::digest_under(std::string("HEDDLE_NUM_THREADS=") + threads, filter), one) << threads;
}

}  // namespace
