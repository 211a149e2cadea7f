// Matrix product on the CPU, after Goto and van de Geijn ("Anatomy of high-performance matrix multiplication", 2008)
// and BLIS: panels of A and B are packed once into the order in which the innermost loop reads them, a slab of k at a
// time; tiles of C are then computed in parallel, each from panels that stay in the first two levels of cache.
//
// The order in which products are added depends on k alone: neither the tile an element lies in nor the number of
// threads changes a bit. A finished tile goes to the sink, which applies the epilogue: C is written once.
#pragma once

#include <concepts>
#include <cstddef>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cpu/gemm_micro.hpp"
#include "heddle/kernels/cpu/gemm_pack.hpp"
#include "heddle/kernels/cpu/gemv.hpp"
#include "heddle/kernels/cpu/isa.hpp"
#include "heddle/kernels/cpu/pool.hpp"
#include "heddle/kernels/cpu/workspace.hpp"
#include "heddle/kernels/gemm_shape.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

// How far the loops reach before they turn to other memory; in elements of 4 bytes, wider ones get less.
inline constexpr index_t gemm_depth = 192;      // k of a panel: one of B fits the first-level cache
inline constexpr index_t gemm_tile_rows = 288;  // a tile's share of A and of B fits the second-level cache
inline constexpr index_t gemm_tile_columns = 384;
inline constexpr index_t gemm_slab = 21 * gemm_depth;     // k that is packed at a time
inline constexpr index_t gemm_packed = index_t{1} << 21;  // elements of A, and of B, that are packed at a time
inline constexpr index_t gemm_serial_work = 1 << 16;      // products that are not worth a second thread

constexpr index_t gemm_ceil(index_t value, index_t unit) { return (value + unit - 1) / unit; }
constexpr index_t gemm_round_up(index_t value, index_t unit) { return gemm_ceil(value, unit) * unit; }

/// The product of one batch, with operands and sink at hand.
template <class Acc, class Sink, class A, class B>
class matrix_product {
  using E = gemm_element<Acc>;

 public:
  matrix_product(const Sink& sink, index_t batch, index_t m, index_t n, index_t k, const A* a, index_t a_row,
                 index_t a_column, const B* b, index_t b_row, index_t b_column)
      : sink_(sink),
        batch_(batch),
        m_(m),
        n_(n),
        k_(k),
        a_(a),
        a_row_(a_row),
        a_column_(a_column),
        b_(b),
        b_row_(b_row),
        b_column_(b_column),
        kernels_(micro_kernels_for<E>()) {}

  void run() {
    constexpr index_t wide = static_cast<index_t>(sizeof(E)) / 4;
    const index_t share = even_share(k_, gemm_slab / wide, gemm_depth / wide);
    const index_t slab = share < k_ ? share : k_;
    const index_t region = gemm_packed / wide / slab;
    const index_t region_rows = even_share(m_, region, kernels_.rows);
    const index_t region_columns = even_share(n_, region, kernels_.columns);
    const bool several_slabs = slab < k_;
    const index_t packed_a = gemm_round_up(region_rows, kernels_.rows) * slab;
    const index_t packed_b = gemm_round_up(region_columns, kernels_.columns) * slab;
    const index_t sums = several_slabs ? region_rows * region_columns : 0;
    a_panels_ = Workspace::get<E>(Workspace::shared_by_loop, static_cast<std::size_t>(packed_a + packed_b + sums));
    b_panels_ = a_panels_ + packed_a;
    c_ = several_slabs ? b_panels_ + packed_b : nullptr;
    c_stride_ = region_columns;

    for (row_ = 0; row_ < m_; row_ += region_rows) {
      rows_ = m_ - row_ < region_rows ? m_ - row_ : region_rows;
      for (column_ = 0; column_ < n_; column_ += region_columns) {
        columns_ = n_ - column_ < region_columns ? n_ - column_ : region_columns;
        for (depth_begin_ = 0; depth_begin_ < k_; depth_begin_ += slab) {
          depth_ = k_ - depth_begin_ < slab ? k_ - depth_begin_ : slab;
          // A is packed once for all of its row where k is one slab.
          pack(several_slabs || column_ == 0);
          multiply();
        }
      }
    }
  }

 private:
  /// The extent cut into the fewest parts of at most `limit`, all alike, in whole units.
  static index_t even_share(index_t extent, index_t limit, index_t unit) {
    const index_t parts = gemm_ceil(extent, limit);
    return gemm_round_up(gemm_ceil(extent, parts), unit);
  }

  /// Panels of A first, then those of B, each a unit of work.
  void pack(bool with_a) {
    const index_t a_count = with_a ? gemm_ceil(rows_, kernels_.rows) : 0;
    const index_t b_first = direct_panels();
    const index_t b_count = gemm_ceil(columns_, kernels_.columns) - b_first;
    if (a_count + b_count == 0) return;
    // Moving an element costs about as much as 8 products.
    const index_t elements = depth_ * (a_count * kernels_.rows + b_count * kernels_.columns);
    const index_t grain = gemm_ceil(gemm_serial_work, elements * 8 / (a_count + b_count));
    parallel_for(a_count + b_count, grain, [&](index_t begin, index_t end) {
      for (index_t i = begin; i < end; ++i) {
        if (i < a_count) {
          const index_t first = i * kernels_.rows;
          vectorised(pack_panel<E, A>{a_panels_ + first * depth_, kernels_.rows,
                                      a_ + (row_ + first) * a_row_ + depth_begin_ * a_column_, a_row_, a_column_,
                                      at_most(rows_ - first, kernels_.rows), kernels_.rows, depth_});
        } else {
          const index_t first = (b_first + i - a_count) * kernels_.columns;
          const int lanes = at_most(columns_ - first, kernels_.columns);
          const int padded = static_cast<int>(gemm_round_up(lanes, kernels_.vector));
          vectorised(pack_panel<E, B>{b_panels_ + first * depth_, kernels_.columns,
                                      b_ + (column_ + first) * b_column_ + depth_begin_ * b_row_, b_column_, b_row_,
                                      lanes, padded, depth_});
        }
      }
    });
  }

  static int at_most(index_t value, int limit) { return value < limit ? static_cast<int>(value) : limit; }

  /// Panels of B, from the first, that are read where they lie: whole ones, where few rows of C would pay for packing.
  index_t direct_panels() const {
    if constexpr (std::same_as<B, E>) {
      if (b_column_ == 1 && m_ <= 3 * kernels_.rows) return columns_ / kernels_.columns;
    }
    return 0;
  }

  void multiply() {
    constexpr index_t wide = static_cast<index_t>(sizeof(E)) / 4;
    index_t tile_rows = even_share(rows_, gemm_tile_rows, kernels_.rows);
    index_t tile_columns =
        even_share(columns_, gemm_round_up(gemm_tile_columns / wide, kernels_.columns), kernels_.columns);
    // Smaller tiles where there would be too few of them to even out threads that are held up.
    const index_t wanted = index_t{3} * thread_count();
    while (gemm_ceil(rows_, tile_rows) * gemm_ceil(columns_, tile_columns) < wanted &&
           tile_rows * tile_columns * depth_ > 2 * gemm_serial_work) {
      if (tile_rows > kernels_.rows && tile_rows * 2 >= tile_columns) {
        tile_rows = gemm_round_up(tile_rows / 2, kernels_.rows);
      } else if (tile_columns > kernels_.columns) {
        tile_columns = gemm_round_up(tile_columns / 2, kernels_.columns);
      } else {
        break;
      }
    }
    const index_t down = gemm_ceil(rows_, tile_rows);
    const index_t across = gemm_ceil(columns_, tile_columns);
    const index_t grain = gemm_ceil(gemm_serial_work, tile_rows * tile_columns * depth_);
    parallel_for(down * across, grain, [&](index_t begin, index_t end) {
      for (index_t i = begin; i < end; ++i) {
        // Down the columns first: the tile's share of B is read again by the next one.
        const index_t row = i % down * tile_rows;
        const index_t column = i / down * tile_columns;
        const index_t height = rows_ - row < tile_rows ? rows_ - row : tile_rows;
        const index_t width = columns_ - column < tile_columns ? columns_ - column : tile_columns;
        multiply_tile(row, column, height, width, tile_rows, tile_columns);
      }
    });
  }

  void multiply_tile(index_t row, index_t column, index_t height, index_t width, index_t tile_rows,
                     index_t tile_columns) {
    E* c = c_ != nullptr
               ? c_ + row * c_stride_ + column
               : Workspace::get<E>(Workspace::within_range, static_cast<std::size_t>(tile_rows * tile_columns));
    const index_t c_stride = c_ != nullptr ? c_stride_ : tile_columns;
    constexpr index_t wide = static_cast<index_t>(sizeof(E)) / 4;
    const index_t step = even_share(depth_, gemm_depth / wide, 8);
    [[maybe_unused]] const index_t direct = direct_panels();
    for (index_t k = 0; k < depth_; k += step) {
      const index_t depth = depth_ - k < step ? depth_ - k : step;
      const bool add = depth_begin_ + k > 0;
      for (index_t j = 0; j < width; j += kernels_.columns) {
        const index_t vectors = gemm_ceil(width - j < kernels_.columns ? width - j : kernels_.columns, kernels_.vector);
        const E* b = b_panels_ + (column + j) * depth_ + k * kernels_.columns;
        index_t b_stride = kernels_.columns;
        if constexpr (std::same_as<B, E>) {
          if ((column + j) / kernels_.columns < direct) {
            b = b_ + (depth_begin_ + k) * b_row_ + column_ + column + j;
            b_stride = b_row_;
          }
        }
        for (index_t i = 0; i < height; i += kernels_.rows) {
          const index_t quads = gemm_ceil(height - i < kernels_.rows ? height - i : kernels_.rows, 4);
          const E* const a = a_panels_ + (row + i) * depth_ + k * kernels_.rows;
          kernels_.kernel[quads - 1][vectors - 1](depth, a, b, b_stride, c + i * c_stride + j, c_stride, add);
        }
      }
    }
    if (depth_begin_ + depth_ == k_)
      vectorised(store_tile_body{sink_, batch_, row_ + row, column_ + column, height, width,
                                 reinterpret_cast<const Acc*>(c), c_stride});
  }

  struct store_tile_body {
    const Sink& sink;
    index_t batch, row, column, height, width;
    const Acc* c;
    index_t c_stride;

    HEDDLE_ALWAYS_INLINE void operator()() const {
      const auto position = sink.at(batch);
      for (index_t i = 0; i < height; ++i) {
        const Acc* const values = c + i * c_stride;
        if constexpr (requires { sink.store_row(position, row, column, values, width); }) {
          sink.store_row(position, row + i, column, values, width);
        } else {
          for (index_t j = 0; j < width; ++j) sink.store(position, row + i, column + j, values[j]);
        }
      }
    }
  };

  const Sink& sink_;
  const index_t batch_, m_, n_, k_;
  const A* const a_;
  const index_t a_row_, a_column_;
  const B* const b_;
  const index_t b_row_, b_column_;
  const micro_kernels<E>& kernels_;

  // The region of C in hand, and the slab of k packed.
  index_t row_ = 0, column_ = 0, rows_ = 0, columns_ = 0;
  index_t depth_begin_ = 0, depth_ = 0;
  E* a_panels_ = nullptr;
  E* b_panels_ = nullptr;
  E* c_ = nullptr;  // sums of the slabs so far; null where one slab is all of k
  index_t c_stride_ = 0;
};

/// C(m, n) = sum over k of A(m, k) B(k, n) for every batch; sink.store(position, row, column, value) gets each element
/// once, as Acc, or sink.store_row(position, row, column, values, count) `count` adjacent ones of a row. k = 0 gives
/// zeros. Acc is float, double or int64 (which wraps); float serves half and bfloat16, int64 every integer and bool.
///
/// Example: `on_cpu::gemm<float>(sink, {.m = 64, .n = 128, .k = 784}, a, b);`
template <class Acc, class Sink, class A, class B>
void gemm(const Sink& sink, const gemm_shape& shape, const gemm_operand<A>& a, const gemm_operand<B>& b) {
  const index_t m = shape.m, n = shape.n, k = shape.k;
  if (m <= 0 || n <= 0 || shape.batches <= 0) return;
  const double work = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k < 1 ? 1 : k);
  const index_t grain = work < static_cast<double>(gemm_serial_work)
                            ? gemm_ceil(gemm_serial_work, static_cast<index_t>(work))
                            : index_t{1};
  // Few large batches run one after another, each on all threads.
  const bool batches_in_parallel = shape.batches >= 2 * thread_count();
  parallel_for(shape.batches, batches_in_parallel ? grain : shape.batches, [&](index_t begin, index_t end) {
    for (index_t batch = begin; batch < end; ++batch) {
      const A* const a_data = batch_data(a, shape, batch);
      const B* const b_data = batch_data(b, shape, batch);
      if (n == 1) {
        gemv<Acc>(vector_sink<Sink, false>{sink, batch}, m, k, a_data, a.row_stride, a.column_stride, b_data,
                  b.row_stride);
      } else if (m == 1) {
        gemv<Acc>(vector_sink<Sink, true>{sink, batch}, n, k, b_data, b.column_stride, b.row_stride, a_data,
                  a.column_stride);
      } else if (k > 0) {
        matrix_product<Acc, Sink, A, B>(sink, batch, m, n, k, a_data, a.row_stride, a.column_stride, b_data,
                                        b.row_stride, b.column_stride)
            .run();
      } else {
        const auto position = sink.at(batch);
        for (index_t row = 0; row < m; ++row)
          for (index_t column = 0; column < n; ++column) sink.store(position, row, column, Acc{0});
      }
    }
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
