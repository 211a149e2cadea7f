// Matrix products of types that are converted on the way to shared memory (half, bfloat16, integers): each block
// computes a tile of C, each thread a part of it in registers, while the next tiles of A and B are on their way from
// global memory. Any strides are served: which index neighbouring threads take is chosen at run time, so that loads
// coalesce.
#pragma once

#include <type_traits>

#include "heddle/config.hpp"
#include "heddle/core/half.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/expr/space.hpp"
#include "heddle/kernels/cuda/gemm_simt.cuh"
#include "heddle/kernels/cuda/lanes.cuh"
#include "heddle/kernels/cuda/launch.cuh"
#include "heddle/kernels/gemm_shape.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// A block computes Rows × Columns of C, a thread ThreadRows × ThreadColumns, in steps of Depth along k. Vector is how
/// many neighbouring elements a thread reads from shared memory at once, and Pad the elements between two k lines
/// there: with Pad ≡ Vector, stores of a transposed operand hit each bank once.
template <int Rows, int Columns, int Depth, int ThreadRows, int ThreadColumns, int Vector, int BlocksPerSm>
struct gemm_tile {
  static constexpr int rows = Rows, columns = Columns, depth = Depth;
  static constexpr int thread_rows = ThreadRows, thread_columns = ThreadColumns, vector = Vector;
  static constexpr int row_threads = Rows / ThreadRows, column_threads = Columns / ThreadColumns;
  static constexpr int threads = row_threads * column_threads;
  static constexpr int blocks_per_sm = BlocksPerSm;
  static_assert(column_threads == 16 && threads % warp_size == 0);
};

/// The type that a value has in shared memory: ready for multiplying, at least 32 bits wide.
template <class T>
using gemm_staged = std::conditional_t<std::is_same_v<T, half> || std::is_same_v<T, bfloat16>, float,
                                       std::conditional_t<(sizeof(T) < 4), std::int32_t, T>>;

/// Brings one operand's tiles from global memory to shared memory, where they lie [k][row]. B is taken as the
/// transposed matrix, whose rows are C's columns.
template <class T, int Width, int Depth, int Pitch, int Threads>
struct tile_loader {
  using Staged = gemm_staged<T>;
  static constexpr int count = Width * Depth / Threads;
  static_assert(Width * Depth % Threads == 0 && Threads % Depth == 0 && Threads % Width == 0);

  const T* next;    // the thread's first element in the next tile
  index_t step;     // from one of its elements to the following one
  index_t advance;  // from a tile to the following one
  int place;        // of the first element in the tile in shared memory
  int place_step;   //
  int k;            // of the first element in the tile
  int k_step;
  unsigned in_rows;  // bit i: element i lies in a row of the matrix
  T held[static_cast<unsigned>(count)];

  /// rows: how many rows of the matrix lie at and after `data`.
  __device__ tile_loader(const T* data, index_t row_stride, index_t k_stride, index_t rows) {
    const int thread = static_cast<int>(threadIdx.x);
    const bool k_fast = (k_stride < 0 ? -k_stride : k_stride) < (row_stride < 0 ? -row_stride : row_stride);
    const int row = k_fast ? thread / Depth : thread % Width;
    const int row_step = k_fast ? Threads / Depth : 0;
    k = k_fast ? thread % Depth : thread / Width;
    k_step = k_fast ? 0 : Threads / Width;
    next = data + row * row_stride + k * k_stride;
    step = row_step * row_stride + k_step * k_stride;
    advance = Depth * k_stride;
    place = k * Pitch + row;
    place_step = k_step * Pitch + row_step;
    in_rows = 0;
#pragma unroll
    for (int i = 0; i < count; ++i) in_rows |= static_cast<unsigned>(row + i * row_step < rows) << i;
  }

  /// Starts the loads of the next tile; k_left: how many k there are from its beginning on.
  __device__ void load(index_t k_left) {
    unsigned valid = in_rows;
    if (k_left < Depth) {
      const int left = static_cast<int>(k_left);
#pragma unroll
      for (int i = 0; i < count; ++i) {
        if (k + i * k_step >= left) valid &= ~(1u << i);
      }
    }
    const T* element = next;
#pragma unroll
    for (int i = 0; i < count; ++i, element += step) {
      held[i] = T{};
      if (valid & (1u << i)) held[i] = *element;
    }
    next += advance;
  }

  __device__ void store(Staged* tile) const {
#pragma unroll
    for (int i = 0; i < count; ++i) tile[place + i * place_step] = static_cast<Staged>(held[i]);
  }
};

template <class Tile, class Acc, class A, class B>
struct gemm_shared {
  static constexpr int pad = Tile::vector;
  static constexpr int a_pitch = Tile::rows + pad, b_pitch = Tile::columns + pad;
  struct operands {
    alignas(16) gemm_staged<A> a[2][Tile::depth * a_pitch];
    alignas(16) gemm_staged<B> b[2][Tile::depth * b_pitch];
  };
  // The epilogue passes results through here, so that its accesses coalesce: as many lines of each row of threads as
  // fit where the operands were.
  static constexpr int line_size = Tile::row_threads * Tile::columns;
  static constexpr int fitting_lines(int most) {
    return most > 1 && most * line_size * static_cast<int>(sizeof(Acc)) > static_cast<int>(sizeof(operands))
               ? fitting_lines(most / 2)
               : most;
  }
  static constexpr int lines = fitting_lines(Tile::thread_rows);
  struct results {
    alignas(16) Acc value[lines * line_size];
  };
  union {
    operands in;
    results out;
  };
  // Which tile this is: the loop over k has no register left for what only the epilogue needs.
  index_t batch, first_row, first_column;
};

/// The thread's own place among the tile's threads: a warp covers 4 × 8 of them, so that a warp's vector reads from
/// shared memory take one wavefront each.
__device__ inline int gemm_thread_column() {
  return static_cast<int>(threadIdx.x) % 8 + static_cast<int>(threadIdx.x) / warp_size % 2 * 8;
}
__device__ inline int gemm_thread_row() {
  return static_cast<int>(threadIdx.x) % warp_size / 8 + static_cast<int>(threadIdx.x) / (2 * warp_size) * 4;
}

template <class Tile, class Acc, class A, class B, class Sink>
__device__ inline void gemm_block(const Sink& sink, const gemm_shape& shape, const gemm_operand<A>& a,
                                  const gemm_operand<B>& b, gemm_shared<Tile, Acc, A, B>& shared, index_t batch,
                                  index_t first_row, index_t first_column) {
  constexpr int vector = Tile::vector;
  constexpr int a_pitch = gemm_shared<Tile, Acc, A, B>::a_pitch, b_pitch = gemm_shared<Tile, Acc, A, B>::b_pitch;
  const int thread_row = gemm_thread_row(), thread_column = gemm_thread_column();
  Acc sum[Tile::thread_rows][Tile::thread_columns] = {};
  if (threadIdx.x == 0) shared.batch = batch, shared.first_row = first_row, shared.first_column = first_column;

  if (shape.k > 0) {
    index_t a_offset = first_row * a.row_stride, b_offset = first_column * b.column_stride;
    gemm_batch_offsets(shape, a.batch_stride, b.batch_stride, batch, a_offset, b_offset);
    tile_loader<A, Tile::rows, Tile::depth, a_pitch, Tile::threads> a_tile(a.data + a_offset, a.row_stride,
                                                                           a.column_stride, shape.m - first_row);
    tile_loader<B, Tile::columns, Tile::depth, b_pitch, Tile::threads> b_tile(b.data + b_offset, b.column_stride,
                                                                              b.row_stride, shape.n - first_column);
    index_t k_left = shape.k;
    a_tile.load(k_left);
    b_tile.load(k_left);
    a_tile.store(shared.in.a[0]);
    b_tile.store(shared.in.b[0]);
    __syncthreads();
    for (int stage = 0;; stage ^= 1) {
      k_left -= Tile::depth;
      if (k_left > 0) {
        a_tile.load(k_left);
        b_tile.load(k_left);
      }
      const gemm_staged<A>* a_line = shared.in.a[stage] + thread_row * vector;
      const gemm_staged<B>* b_line = shared.in.b[stage] + thread_column * vector;
#pragma unroll
      for (int k = 0; k < Tile::depth; ++k) {
        staged_vector<gemm_staged<A>, vector> left[Tile::thread_rows / vector];
        staged_vector<gemm_staged<B>, vector> right[Tile::thread_columns / vector];
#pragma unroll
        for (int i = 0; i < Tile::thread_rows / vector; ++i) {
          left[i] = *reinterpret_cast<const staged_vector<gemm_staged<A>, vector>*>(a_line + k * a_pitch +
                                                                                    i * Tile::row_threads * vector);
        }
#pragma unroll
        for (int i = 0; i < Tile::thread_columns / vector; ++i) {
          right[i] = *reinterpret_cast<const staged_vector<gemm_staged<B>, vector>*>(b_line + k * b_pitch +
                                                                                     i * Tile::column_threads * vector);
        }
#pragma unroll
        for (int i = 0; i < Tile::thread_rows; ++i) {
#pragma unroll
          for (int j = 0; j < Tile::thread_columns; ++j) {
            sum[i][j] += static_cast<Acc>(left[i / vector].value[i % vector]) *
                         static_cast<Acc>(right[j / vector].value[j % vector]);
          }
        }
      }
      if (k_left <= 0) break;
      a_tile.store(shared.in.a[stage ^ 1]);
      b_tile.store(shared.in.b[stage ^ 1]);
      __syncthreads();
    }
  }

  // A loop over slices whose body picks its accumulators by branches: they are never indexed, never move, and the
  // sink's code stands here once.
  constexpr int lines = gemm_shared<Tile, Acc, A, B>::lines, line_size = gemm_shared<Tile, Acc, A, B>::line_size;
  __syncthreads();
  const typename Sink::Position position = sink.at(shared.batch);
#pragma unroll 1
  for (int first_line = 0; first_line < Tile::thread_rows; first_line += lines) {
    if (first_line > 0) __syncthreads();
#pragma unroll
    for (int line = 0; line < Tile::thread_rows; ++line) {
      if (line / lines * lines != first_line) continue;
#pragma unroll
      for (int j = 0; j < Tile::thread_columns / vector; ++j) {
        staged_vector<Acc, vector> out;
#pragma unroll
        for (int v = 0; v < vector; ++v) out.value[v] = sum[line][j * vector + v];
        const int column = (j * Tile::column_threads + thread_column) * vector;
        *reinterpret_cast<staged_vector<Acc, vector>*>(
            &shared.out.value[line % lines * line_size + thread_row * Tile::columns + column]) = out;
      }
    }
    __syncthreads();
#pragma unroll 1
    for (int e = static_cast<int>(threadIdx.x); e < lines * line_size; e += Tile::threads) {
      const int line = first_line + e / line_size;
      const int tile_row = (line / vector * Tile::row_threads + e % line_size / Tile::columns) * vector + line % vector;
      const index_t row = shared.first_row + tile_row;
      const index_t column = shared.first_column + e % Tile::columns;
      if (row < shape.m && column < shape.n) sink.store(position, row, column, shared.out.value[e]);
    }
  }
}

template <class Tile, class Acc, class A, class B, class Sink>
__global__ void __launch_bounds__(Tile::threads, Tile::blocks_per_sm)
    gemm_kernel(const __grid_constant__ Sink sink, const __grid_constant__ gemm_shape shape,
                const __grid_constant__ gemm_operand<A> a, const __grid_constant__ gemm_operand<B> b,
                const __grid_constant__ gemm_tiles tiles) {
  __shared__ gemm_shared<Tile, Acc, A, B> shared;
  const std::uint32_t line = tiles.along_columns.divide(blockIdx.x);
  const std::uint32_t batch = tiles.along_rows.divide(line);
  const index_t first_column = static_cast<index_t>(blockIdx.x - line * tiles.along_columns.divisor) * Tile::columns;
  const index_t first_row = static_cast<index_t>(line - batch * tiles.along_rows.divisor) * Tile::rows;
  gemm_block<Tile, Acc>(sink, shape, a, b, shared, tiles.first_batch + batch, first_row, first_column);
}

/// Elements that a thread reads from shared memory at once where k is 16 deep: 8 bytes, and what Vector's rule allows.
template <class A, class B>
inline constexpr int gemm_pair = sizeof(gemm_staged<A>) > 4 || sizeof(gemm_staged<B>) > 4 ? 1 : 2;

/// The tile for products that fill the device, and the one for those that would leave much of it idle.
template <class Acc, class A, class B>
using gemm_large = std::conditional_t<(sizeof(Acc) > 4), gemm_tile<64, 64, 16, 4, 4, gemm_pair<A, B>, 1>,
                                      gemm_tile<128, 128, 8, 8, 8, 4, 2>>;
template <class Acc, class A, class B>
using gemm_small = gemm_tile<32, 32, 16, 4, 2, gemm_pair<A, B>, 4>;

/// block_limit: the most blocks of a launch; batches beyond are further launches.
template <class Tile, class Acc, class A, class B, class Sink>
inline void launch_gemm(const Sink& sink, const gemm_shape& shape, const gemm_operand<A>& a, const gemm_operand<B>& b,
                        const launch_context& context, index_t block_limit = max_grid_x) {
  const index_t column_tiles = ceil_div(shape.n, Tile::columns), row_tiles = ceil_div(shape.m, Tile::rows);
  const index_t fitting = block_limit / (column_tiles * row_tiles);
  const index_t step = fitting > 1 ? fitting : 1;
  gemm_tiles tiles{fast_divisor(static_cast<std::uint32_t>(column_tiles)),
                   fast_divisor(static_cast<std::uint32_t>(row_tiles))};
  for (; tiles.first_batch < shape.batches; tiles.first_batch += step) {
    const index_t batches = ::min(step, shape.batches - tiles.first_batch);
    launch(gemm_kernel<Tile, Acc, A, B, Sink>, grid_for(batches * column_tiles * row_tiles, 1), dim3(Tile::threads), 0,
           context, sink, shape, a, b, tiles);
  }
}

/// See `gemm`.
template <class Acc, class Sink, class A, class B>
inline void general_gemm(const Sink& sink, const gemm_shape& shape, const gemm_operand<A>& a, const gemm_operand<B>& b,
                         const launch_context& context) {
  using Large = gemm_large<Acc, A, B>;
  using Small = gemm_small<Acc, A, B>;
  // A large tile needs the fewest loads a multiplication; a small one spreads a small product over the device.
  const index_t large_tiles = ceil_div(shape.m, Large::rows) * ceil_div(shape.n, Large::columns) * shape.batches;
  if (large_tiles >= 66 && 2 * shape.m > Large::rows && 2 * shape.n > Large::columns) {
    launch_gemm<Large, Acc>(sink, shape, a, b, context);
  } else {
    launch_gemm<Small, Acc>(sink, shape, a, b, context);
  }
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
