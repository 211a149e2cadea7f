// Matrix times vector: reads the matrix once, in the order in which it lies, and multiplies without packing it.
//
// k is cut into parts that threads may share and parts into spans, so that long sums lose no more than short ones; the
// cuts depend on k alone.
#pragma once

#include <cstddef>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cpu/gemm_pack.hpp"
#include "heddle/kernels/cpu/isa.hpp"
#include "heddle/kernels/cpu/pool.hpp"
#include "heddle/kernels/cpu/workspace.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

inline constexpr index_t gemv_part = 16384;
inline constexpr index_t gemv_span = 512;
inline constexpr int gemv_rows = 256;  // results in hand at once: read by columns, a matrix is read in runs of so many

/// Hands a vector of results to a matrix product's sink: as one row of C, or as one column.
template <class Sink, bool Row>
struct vector_sink {
  const Sink& sink;
  index_t batch;

  template <class Acc>
  HEDDLE_ALWAYS_INLINE void store(index_t first, const Acc* values, index_t count) const {
    const auto position = sink.at(batch);
    if constexpr (Row && requires { sink.store_row(position, first, first, values, count); }) {
      sink.store_row(position, 0, first, values, count);
    } else if constexpr (Row) {
      for (index_t i = 0; i < count; ++i) sink.store(position, 0, first + i, values[i]);
    } else {
      for (index_t i = 0; i < count; ++i) sink.store(position, first + i, 0, values[i]);
    }
  }
};

/// sums[r] = sum over `depth` values of k of A(first + r, k) x(k), for up to gemv_rows rows.
template <class E, class T>
struct gemv_block {
  const T* a;  // element (first row, first k)
  index_t row_stride;
  index_t column_stride;
  const E* x;
  int rows;
  index_t depth;
  E* sums;

  HEDDLE_ALWAYS_INLINE void operator()() const {
    if (column_stride == 1) {
      for (int row = 0; row < rows; ++row) sums[row] = dot(a + row * row_stride);
      return;
    }
    for (int row = 0; row < gemv_rows; ++row) sums[row] = E{0};
    for (index_t k = 0; k < depth; k += gemv_span) {
      const index_t end = depth - k < gemv_span ? depth : k + gemv_span;
      E span[gemv_rows] = {};
      for (index_t i = k; i < end; ++i) add_column(a + i * column_stride, x[i], span);
      for (int row = 0; row < gemv_rows; ++row) sums[row] += span[row];
    }
  }

 private:
  HEDDLE_ALWAYS_INLINE E dot(const T* from) const {
    E total{0};
    for (index_t k = 0; k < depth; k += gemv_span * 8) {
      const index_t end = depth - k < gemv_span * 8 ? depth : k + gemv_span * 8;
      E lanes[chunk] = {};
      index_t i = k;
      for (; i + chunk <= end; i += chunk)
        for (int lane = 0; lane < chunk; ++lane) lanes[lane] += to_element<E>(from[i + lane]) * x[i + lane];
      for (int lane = 0; i < end; ++i, ++lane) lanes[lane] += to_element<E>(from[i]) * x[i];
      for (int half = chunk / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
      total += lanes[0];
    }
    return total;
  }

  HEDDLE_ALWAYS_INLINE void add_column(const T* column, E factor, E* span) const {
    int row = 0;
    if (row_stride == 1) {
      for (; row + chunk <= rows; row += chunk)
        for (int lane = 0; lane < chunk; ++lane) span[row + lane] += to_element<E>(column[row + lane]) * factor;
    }
    for (; row < rows; ++row) span[row] += to_element<E>(column[row * row_stride]) * factor;
  }
};

/// y(r) = sum over k of A(r, k) x(k), stored by sink.store(first, values, count).
template <class Acc, class Sink, class A, class X>
void gemv(const Sink& sink, index_t rows, index_t depth, const A* a, index_t row_stride, index_t column_stride,
          const X* x, index_t x_stride) {
  using E = gemm_element<Acc>;
  const index_t parts = depth > gemv_part ? (depth + gemv_part - 1) / gemv_part : 1;
  E* const packed_x =
      Workspace::get<E>(Workspace::shared_by_loop, static_cast<std::size_t>(depth + (parts > 1 ? parts * rows : 0)));
  E* const part_sums = packed_x + depth;
  for (index_t k = 0; k < depth; ++k) packed_x[k] = to_element<E>(x[k * x_stride]);

  // Rows read one after another need not be many to keep memory busy.
  const index_t block = column_stride == 1 ? 16 : gemv_rows;
  const index_t blocks = (rows + block - 1) / block;
  const index_t work = block * (depth / parts + 1);
  parallel_for(blocks * parts, (index_t{1} << 16) / work + 1, [&](index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) {
      const index_t first = i / parts * block;
      const index_t count = rows - first < block ? rows - first : block;
      const index_t k = i % parts * gemv_part;
      alignas(64) E sums[gemv_rows];
      vectorised(gemv_block<E, A>{a + first * row_stride + k * column_stride, row_stride, column_stride, packed_x + k,
                                  static_cast<int>(count), parts == 1 || depth - k < gemv_part ? depth - k : gemv_part,
                                  sums});
      if (parts == 1) {
        sink.store(first, reinterpret_cast<const Acc*>(sums), count);
      } else {
        for (index_t r = 0; r < count; ++r) part_sums[(first + r) * parts + i % parts] = sums[r];
      }
    }
  });
  if (parts == 1) return;
  for (index_t row = 0; row < rows; ++row) {
    E* const sums = part_sums + row * parts;
    for (index_t step = 1; step < parts; step *= 2)
      for (index_t p = 0; p + step < parts; p += 2 * step) sums[p] += sums[p + step];
    sink.store(row, reinterpret_cast<const Acc*>(sums), 1);
  }
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
