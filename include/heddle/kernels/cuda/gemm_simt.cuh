// Matrix products of float and double on the ordinary cores. A block computes a tile of C, each thread a part of it in
// registers, while the next tiles of A and B are on their way to shared memory.
#pragma once

#include <type_traits>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/expr/space.hpp"
#include "heddle/kernels/cuda/gemm_copy.cuh"
#include "heddle/kernels/cuda/gemm_epilogue.cuh"
#include "heddle/kernels/cuda/gemm_thin.cuh"
#include "heddle/kernels/cuda/lanes.cuh"
#include "heddle/kernels/cuda/launch.cuh"
#include "heddle/kernels/gemm_choice.hpp"
#include "heddle/kernels/gemm_shape.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// A block computes Rows × Columns of C, a thread ThreadRows × ThreadColumns, in steps of Depth along k. Guarded tiles
/// serve every problem, the others those of at least a whole tile of C.
template <class T, int Rows, int Columns, int Depth, int ThreadRows, int ThreadColumns, int BlocksPerSm, bool Guarded>
struct simt_tile {
  static constexpr int rows = Rows, columns = Columns, depth = Depth;
  static constexpr int thread_rows = ThreadRows, thread_columns = ThreadColumns;
  static constexpr int vector = 16 / static_cast<int>(sizeof(T));
  static constexpr int row_threads = Rows / ThreadRows, column_threads = Columns / ThreadColumns;
  static constexpr int threads = row_threads * column_threads;
  static constexpr int blocks_per_sm = BlocksPerSm;
  static constexpr bool guarded = Guarded;
  // In shared memory: two stages of A's and B's tiles; then, in the same place, as many rows of the tile as fit.
  static constexpr int a_pitch = Rows + vector, b_pitch = Columns + vector;
  static constexpr int stage = Depth * (a_pitch + b_pitch);
  static constexpr int shared = 2 * stage;
  static constexpr int fitting_rows(int most) { return most * Columns > shared ? fitting_rows(most / 2) : most; }
  static constexpr int slice_rows = fitting_rows(Rows);
  static_assert(column_threads % 8 == 0 && threads % warp_size == 0 && a_pitch % vector == 0);
};

/// How a launch's blocks are numbered: the columns' tiles innermost, then the rows' tiles, then the batches.
struct gemm_tiles {
  fast_divisor along_columns, along_rows;
  index_t first_batch = 0;
  bool a_vectors = false, b_vectors = false;  ///< whether the operands' tiles are moved in vectors
};

/// What a thread multiplies for one k.
template <class Tile, class T>
struct gemm_fragment {
  staged_vector<T, Tile::vector> a[static_cast<unsigned>(Tile::thread_rows / Tile::vector)];
  staged_vector<T, Tile::vector> b[static_cast<unsigned>(Tile::thread_columns / Tile::vector)];

  __device__ __forceinline__ void load(const T* a_line, const T* b_line) {
#pragma unroll
    for (int i = 0; i < Tile::thread_rows / Tile::vector; ++i)
      a[i] = *reinterpret_cast<const staged_vector<T, Tile::vector>*>(a_line + i * Tile::row_threads * Tile::vector);
#pragma unroll
    for (int j = 0; j < Tile::thread_columns / Tile::vector; ++j)
      b[j] = *reinterpret_cast<const staged_vector<T, Tile::vector>*>(b_line + j * Tile::column_threads * Tile::vector);
  }
  /// There and back along the rows: each column's operand stays, and so does a row's at the turn, which spares
  /// registers' reads.
  __device__ __forceinline__ void multiply(T (&sum)[Tile::thread_rows][Tile::thread_columns]) const {
#pragma unroll
    for (int j = 0; j < Tile::thread_columns; ++j) {
#pragma unroll
      for (int ii = 0; ii < Tile::thread_rows; ++ii) {
        const int i = j % 2 == 0 ? ii : Tile::thread_rows - 1 - ii;
        sum[i][j] += a[i / Tile::vector].value[i % Tile::vector] * b[j / Tile::vector].value[j % Tile::vector];
      }
    }
  }
};

/// Waits until the tiles that were started last are in shared memory, for all threads of the block.
template <class A, class B>
__device__ __forceinline__ void finish_copies(A& a, B& b) {
  a.finish();
  b.finish();
  if constexpr (has_async_copies) wait_for_copies();
  __syncthreads();
}

template <class Tile, class T, class Sink>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_sm)
    simt_gemm_kernel(const __grid_constant__ Sink sink, const __grid_constant__ gemm_shape shape,
                     const __grid_constant__ gemm_operand<T> a, const __grid_constant__ gemm_operand<T> b,
                     const __grid_constant__ gemm_tiles tiles) {
  constexpr int vector = Tile::vector, stage_size = Tile::stage;
  __shared__ alignas(16) T shared[static_cast<unsigned>(Tile::shared)];
  __shared__ gemm_place shared_place;  // no register holds over the k loop what only the epilogue needs
  // A warp covers 4 × 8 of the block's threads, so that its reads from shared memory take one wavefront each.
  const int thread = static_cast<int>(threadIdx.x);
  constexpr int warp_columns = Tile::column_threads / 8;
  const int thread_column = thread % 8 + thread / warp_size % warp_columns * 8;
  const int thread_row = thread % warp_size / 8 + thread / warp_size / warp_columns * 4;
  T sum[Tile::thread_rows][Tile::thread_columns] = {};
  {
    gemm_place place{};
    const std::uint32_t line = tiles.along_columns.divide(blockIdx.x);
    const std::uint32_t batch = tiles.along_rows.divide(line);
    place.batch = tiles.first_batch + batch;
    place.first_column = static_cast<index_t>(blockIdx.x - line * tiles.along_columns.divisor) * Tile::columns;
    place.first_row = static_cast<index_t>(line - batch * tiles.along_rows.divisor) * Tile::rows;
    if constexpr (!Tile::guarded) {
      if (place.first_row > shape.m - Tile::rows) {
        place.row_begin = static_cast<int>(place.first_row - (shape.m - Tile::rows));
        place.first_row = shape.m - Tile::rows;
      }
      if (place.first_column > shape.n - Tile::columns) {
        place.column_begin = static_cast<int>(place.first_column - (shape.n - Tile::columns));
        place.first_column = shape.n - Tile::columns;
      }
    }
    if (thread == 0) shared_place = place;

    if (shape.k > 0) {
      index_t a_offset = place.first_row * a.row_stride, b_offset = place.first_column * b.column_stride;
      gemm_batch_offsets(shape, a.batch_stride, b.batch_stride, place.batch, a_offset, b_offset);
      tile_copier<T, Tile::rows, Tile::depth, Tile::a_pitch, Tile::threads, Tile::guarded> a_tiles(
          a.data + a_offset, a.row_stride, a.column_stride, shape.m - place.first_row, tiles.a_vectors, shared);
      tile_copier<T, Tile::columns, Tile::depth, Tile::b_pitch, Tile::threads, Tile::guarded> b_tiles(
          b.data + b_offset, b.column_stride, b.row_stride, shape.n - place.first_column, tiles.b_vectors,
          shared + Tile::depth * Tile::a_pitch);
      // What is left over of k comes first, so that the loop has whole tiles only.
      const index_t whole = (shape.k - 1) / Tile::depth;
      const int first_k = static_cast<int>(shape.k - whole * Tile::depth);
      auto left = static_cast<std::conditional_t<Tile::guarded, index_t, int>>(whole);
      a_tiles.start_some(first_k);
      b_tiles.start_some(first_k);
      finish_copies(a_tiles, b_tiles);
      const T* a_line = shared + thread_row * vector;
      const T* b_line = shared + Tile::depth * Tile::a_pitch + thread_column * vector;
      int other = stage_size;  // from the stage that is multiplied to the one that is filled meanwhile
      a_tiles.move(other);
      b_tiles.move(other);
      gemm_fragment<Tile, T> fragment[2];
      const auto next_stage = [&] {
        finish_copies(a_tiles, b_tiles);
        a_line += other;
        b_line += other;
        other = -other;
        a_tiles.move(other);
        b_tiles.move(other);
      };
      // Warps of a tile at the end of C may have nothing to multiply: they only copy.
      if (Tile::guarded && (place.first_row + thread / warp_size / warp_columns * (4 * vector) >= shape.m ||
                            place.first_column + thread / warp_size % warp_columns * (8 * vector) >= shape.n)) {
#pragma unroll 1
        for (; left > 0; --left) {
          a_tiles.start();
          b_tiles.start();
          next_stage();
        }
        left = -1;
      } else {
        fragment[0].load(a_line, b_line);
      }
#pragma unroll 1
      for (; left >= 0; --left) {
#pragma unroll
        for (int k = 0; k < Tile::depth; ++k) {
          if (k + 1 < Tile::depth) {
            fragment[(k + 1) % 2].load(a_line + (k + 1) * Tile::a_pitch, b_line + (k + 1) * Tile::b_pitch);
          } else if (left > 0) {
            next_stage();
            fragment[0].load(a_line, b_line);
          }
          if (k == 0 && left > 0) {
            a_tiles.start();
            b_tiles.start();
          }
          fragment[k % 2].multiply(sum);
        }
      }
    }
  }
  __syncthreads();
  gemm_epilogue<Tile>(sink, shape, shared_place, shared, thread_row, thread_column, sum);
}

/// The tile for products that fill the device, and the one for those that would leave much of it idle.
template <class T>
using simt_large = std::conditional_t<sizeof(T) == 4, simt_tile<T, 128, 128, 8, 16, 8, 2, false>,
                                      simt_tile<T, 128, 64, 8, 8, 8, 2, false>>;
template <class T>
using simt_small = simt_tile<T, 32, 64, 16, 4, 4, 4, true>;

/// What the kernels cost: clocks are multiplications over what a multiprocessor does in a clock, and what else is
/// issued; of thin products, bytes over what it gets from memory in a clock.
template <class T>
inline constexpr gemm_row simt_rows[] = {
    {"simt_large", simt_large<T>::rows, simt_large<T>::columns, simt_large<T>::depth, false, 0, 2, 1160, 1350, 3000},
    {"simt_small", simt_small<T>::rows, simt_small<T>::columns, simt_small<T>::depth, true, 0, 6,
     sizeof(T) == 4 ? 400 : 640, 900, 1500},
    {"thin", thin_limit, 64 / static_cast<int>(sizeof(T)), thin_threads / 4, true, thin_limit, 8, 110, 250, 1500}};

/// block_limit: the most blocks of a launch; batches beyond are further launches.
template <class Tile, class T, class Sink>
inline void launch_simt_gemm(const Sink& sink, const gemm_shape& shape, const gemm_operand<T>& a,
                             const gemm_operand<T>& b, const launch_context& context,
                             index_t block_limit = max_grid_x) {
  const index_t column_tiles = ceil_div(shape.n, Tile::columns), row_tiles = ceil_div(shape.m, Tile::rows);
  const index_t fitting = block_limit / (column_tiles * row_tiles);
  const index_t step = fitting > 1 ? fitting : 1;
  gemm_tiles tiles{fast_divisor(static_cast<std::uint32_t>(column_tiles)),
                   fast_divisor(static_cast<std::uint32_t>(row_tiles)), 0,
                   moves_in_vectors(a, a.row_stride, a.column_stride, shape.m, shape.k, shape),
                   moves_in_vectors(b, b.column_stride, b.row_stride, shape.n, shape.k, shape)};
  for (; tiles.first_batch < shape.batches; tiles.first_batch += step) {
    const index_t batches = step < shape.batches - tiles.first_batch ? step : shape.batches - tiles.first_batch;
    launch(simt_gemm_kernel<Tile, T, Sink>, grid_for(batches * column_tiles * row_tiles, 1), dim3(Tile::threads), 0,
           context, sink, shape, a, b, tiles);
  }
}

/// See `gemm`.
template <class T, class Sink>
inline void simt_gemm(const Sink& sink, const gemm_shape& shape, const gemm_operand<T>& a, const gemm_operand<T>& b,
                      const launch_context& context) {
  const int rows = plan_thin_gemm(shape, a, b).scattered ? 2 : 3;
  switch (select_gemm(simt_rows<T>, rows, shape, cuda::attributes(context.device).multiprocessors)) {
    case 0:
      return launch_simt_gemm<simt_large<T>>(sink, shape, a, b, context);
    case 1:
      return launch_simt_gemm<simt_small<T>>(sink, shape, a, b, context);
    default:
      return launch_thin_gemm(sink, shape, a, b, context);
  }
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
