#include "heddle/kernels/cpu/softmax.hpp"

#include <cmath>
#include <limits>

#include "kernels/cpu_arrays.hpp"

namespace {

using heddle_test::as_size;
using heddle_test::ChunkedSource;
using heddle_test::index_t;
using heddle_test::OutputArray;
using heddle_test::StridedSource;

template <class T>
struct ElementSink {
  using Position = index_t;
  OutputArray<T>* out;
  index_t columns;
  Position at(index_t row) const { return row * columns; }
  void store(Position position, index_t row, index_t column, T value) const {
    ASSERT_EQ(row, 0);
    out->write(position + column, value);
  }
};
template <class T>
struct RowSink : ElementSink<T> {
  void store_row(index_t position, index_t row, index_t column, const T* values, index_t count) const {
    ASSERT_LE(column + count, this->columns);
    for (index_t j = 0; j < count; ++j) this->store(position, row, column + j, values[j]);
  }
};

/// The rows of a matrix, along its rows or its columns.
template <class T>
struct Rows {
  index_t rows, columns;
  std::vector<T> memory;
  StridedSource<T> source;

  Rows(index_t row_count, index_t column_count, bool side_by_side)
      : rows(row_count), columns(column_count), memory(as_size(rows * columns)) {
    source = {memory.data(), side_by_side ? 1 : columns, side_by_side ? rows : 1};
  }
  T& at(index_t row, index_t column) {
    return memory[as_size(row * source.outer_stride + column * source.inner_stride)];
  }
};

template <bool Log, class T>
OutputArray<T> computed(const Rows<T>& rows, bool element_by_element = false) {
  OutputArray<T> out(rows.rows * rows.columns);
  if (element_by_element) {
    heddle::on_cpu::softmax<Log>(rows.source, ElementSink<T>{&out, rows.columns}, rows.rows, rows.columns);
  } else {
    heddle::on_cpu::softmax<Log>(ChunkedSource<T>{rows.source}, RowSink<T>{{&out, rows.columns}}, rows.rows,
                                 rows.columns);
  }
  out.expect_each_written_once();
  return out;
}

template <bool Log, class T>
void expect_right(Rows<T>& rows, const OutputArray<T>& got) {
  const double roundoff = std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24;
  for (index_t row = 0; row < rows.rows; ++row) {
    double greatest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (index_t c = 0; c < rows.columns; ++c) greatest = std::max(greatest, static_cast<double>(rows.at(row, c)));
    for (index_t c = 0; c < rows.columns; ++c) sum += std::exp(static_cast<double>(rows.at(row, c)) - greatest);
    for (index_t c = 0; c < rows.columns; ++c) {
      const double shifted = static_cast<double>(rows.at(row, c)) - greatest;
      const double want = Log ? shifted - std::log(sum) : std::exp(shifted) / sum;
      // The sum's terms are all positive. The shift is rounded, which the exponential magnifies; below the normal
      // numbers nothing relative holds.
      const double of_sum = 4 * std::sqrt(static_cast<double>(rows.columns)) + 2 * std::abs(shifted);
      const double allowed = Log ? roundoff * (of_sum + 2 * std::log(sum) + 4)
                                 : roundoff * (of_sum + 4) * want + static_cast<double>(std::numeric_limits<T>::min());
      ASSERT_NEAR(static_cast<double>(got[row * rows.columns + c]), want, allowed)
          << rows.rows << " x " << rows.columns << " (" << row << ", " << c << ")";
    }
  }
}

template <class T>
class CpuSoftmax : public testing::Test {};
using Elements = testing::Types<float, double>;
TYPED_TEST_SUITE(CpuSoftmax, Elements);

TYPED_TEST(CpuSoftmax, EveryShapeAndLayout) {
  std::mt19937 random(1);
  std::normal_distribution<double> real(0, 4);
  for (const bool side_by_side : {false, true}) {
    for (const index_t columns : {1, 2, 3, 10, 63, 64, 65, 127, 129, 1000, 4095, 4097}) {
      for (const index_t count : {1, 2, 15, 16, 17, 63, 64, 65, 130}) {
        Rows<TypeParam> rows(count, columns, side_by_side);
        for (TypeParam& value : rows.memory) value = static_cast<TypeParam>(real(random));
        expect_right<false>(rows, computed<false>(rows));
        expect_right<true>(rows, computed<true>(rows));
        if (count < 20) expect_right<false>(rows, computed<false>(rows, true));
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(CpuSoftmax, RowsLongerThanTheBuffer) {
  std::mt19937 random(2);
  std::normal_distribution<double> real(0, 4);
  for (const index_t columns : {65535, 65536, 65537, 200001}) {
    Rows<TypeParam> rows(3, columns, false);
    for (TypeParam& value : rows.memory) value = static_cast<TypeParam>(real(random));
    expect_right<false>(rows, computed<false>(rows));
    expect_right<true>(rows, computed<true>(rows));
  }
}

TYPED_TEST(CpuSoftmax, InfinityAndNanFillTheirRowOnly) {
  const TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  for (const bool side_by_side : {false, true}) {
    for (const index_t columns : {3, 64, 100}) {
      Rows<TypeParam> rows(70, columns, side_by_side);
      for (index_t row = 0; row < 70; ++row)
        for (index_t c = 0; c < columns; ++c) rows.at(row, c) = static_cast<TypeParam>(row % 7 + c % 3);
      for (index_t c = 0; c < columns; ++c) rows.at(5, c) = -infinity;
      rows.at(6, columns - 1) = std::numeric_limits<TypeParam>::quiet_NaN();
      rows.at(7, 0) = infinity;
      rows.at(8, 1) = -infinity;
      const auto plain = computed<false>(rows), logarithm = computed<true>(rows);
      for (index_t row = 0; row < 70; ++row) {
        for (index_t c = 0; c < columns; ++c) {
          const bool nan = row == 5 || row == 6 || (row == 7 && c == 0);
          EXPECT_EQ(std::isnan(plain[row * columns + c]), nan || row == 7) << row << ", " << c;
          EXPECT_EQ(std::isnan(logarithm[row * columns + c]), nan || row == 7) << row << ", " << c;
        }
      }
      EXPECT_EQ(plain[8 * columns + 1], TypeParam{0});
      EXPECT_EQ(logarithm[8 * columns + 1], -infinity);
    }
  }
}

TYPED_TEST(CpuSoftmax, LargeAndDistantValuesNeitherOverflowNorVanish) {
  Rows<TypeParam> rows(2, 3, false);
  const TypeParam values[] = {10000, 10000, 9000, -10000, -10001, -20000};
  for (index_t i = 0; i < 6; ++i) rows.memory[as_size(i)] = values[i];
  expect_right<false>(rows, computed<false>(rows));
  expect_right<true>(rows, computed<true>(rows));
}

TEST(CpuSoftmaxEmpty, NothingIsWritten) {
  const Rows<float> none(0, 5, false), empty(5, 0, false);
  computed<false>(none);
  computed<true>(empty);
}

TEST(CpuSoftmaxThreads, DISABLED_Digest) {
  std::mt19937 random(3);
  std::normal_distribution<float> real(0, 4);
  heddle_test::Digest digest;
  for (const bool side_by_side : {false, true}) {
    Rows<float> rows(300, 1000, side_by_side);
    for (float& value : rows.memory) value = real(random);
    digest.add(computed<false>(rows).values());
    digest.add(computed<true>(rows).values());
  }
  digest.print();
}

TEST(CpuSoftmaxThreads, TheirNumberChangesNoBit) {
  const char* const filter = "CpuSoftmaxThreads.DISABLED_Digest";
  const std::string one = heddle_test::digest_under("HEDDLE_NUM_THREADS=1", filter);
  EXPECT_EQ(one.substr(0, 8), "digest: ");
  for (const char* const threads : {"2", "3"})
    EXPECT_EQ(heddle_test::digest_under(std::string("HEDDLE_NUM_THREADS=") + threads, filter), one) << threads;
}

}  // namespace
