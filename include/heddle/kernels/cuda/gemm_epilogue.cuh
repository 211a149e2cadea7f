// The end of a matrix product: results pass from the threads' registers through shared memory, so that every access of
// the epilogue coalesces, and the formula's code stands once whatever a thread has computed.
#pragma once

#include <type_traits>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cuda/gemm_copy.cuh"
#include "heddle/kernels/gemm_shape.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// Where a thread writes, Lanes columns of a row at once and then further rows: by the sink's lines if it has them,
/// else by its `store`. Lane l is `step` l columns further, where bit l of `wanted` is set.
template <class Sink, int Lanes>
class sink_cursor {
 public:
  __device__ __forceinline__ sink_cursor(const Sink& sink, index_t batch, index_t row, index_t column, int step,
                                         unsigned wanted)
      : position_(sink.at(batch)), row_(row), column_(column), step_(step), wanted_(wanted) {}
  static __device__ __forceinline__ bool in_vectors(const Sink&) { return false; }
  __device__ __forceinline__ void next_rows(int) {}
  template <class V>
  __device__ __forceinline__ void store(const Sink& sink, const V (&value)[Lanes], int row) const {
#pragma unroll
    for (int l = 0; l < Lanes; ++l) {
      if (wanted_ >> l & 1U) sink.store(position_, row_ + row, column_ + l * step_, value[l]);
    }
  }

 private:
  typename Sink::Position position_;
  index_t row_, column_;
  int step_;
  unsigned wanted_;
};
template <class Sink, int Lanes>
requires requires { typename Sink::template Lines<Lanes>; }
class sink_cursor<Sink, Lanes> {
 public:
  __device__ __forceinline__ sink_cursor(const Sink& sink, index_t batch, index_t row, index_t column, int step,
                                         unsigned wanted)
      : lines_(sink.template lines<Lanes>(batch, row, column, step, wanted)), step_(step), wanted_(wanted) {}
  static __device__ __forceinline__ bool in_vectors(const Sink& sink) { return sink.in_vectors(); }
  __device__ __forceinline__ void next_rows(int count) { lines_.out += count * lines_.out_step; }
  template <class V>
  __device__ __forceinline__ void store(const Sink& sink, const V (&value)[Lanes], int row) {
    sink.store_lanes(lines_, value, row, step_, wanted_);
  }

 private:
  typename Sink::template Lines<Lanes> lines_;
  int step_;
  unsigned wanted_;
};

/// Which part of C a block has: its tile begins at first_row, first_column and is stored from row_begin, column_begin
/// on, since a tile at the end of C is moved back rather than cut.
struct gemm_place {
  index_t batch, first_row, first_column;
  int row_begin, column_begin;
};

/// Hands a block's results to the sink. `staged`: shared memory for Tile::slice_rows rows of the tile, which no thread
/// reads any more after the next barrier.
template <class Tile, class T, class Sink>
__device__ __forceinline__ void gemm_epilogue(const Sink& sink, const gemm_shape& shape, const gemm_place& place,
                                              T* staged, int thread_row, int thread_column,
                                              const T (&sum)[Tile::thread_rows][Tile::thread_columns]) {
  constexpr int vector = Tile::vector, groups = Tile::columns / vector, rows_at_once = Tile::threads / groups;
  constexpr int slice_vectors = Tile::slice_rows / (Tile::row_threads * vector);
  static_assert(Tile::slice_rows % rows_at_once == 0 && slice_vectors * Tile::row_threads * vector == Tile::slice_rows);
  const int thread = static_cast<int>(threadIdx.x);
  const bool in_vectors = sink_cursor<Sink, vector>::in_vectors(sink);
  const int column = in_vectors ? thread % groups * vector : thread % groups;
  const int step = in_vectors ? 1 : groups;
  unsigned wanted = 0;
#pragma unroll
  for (int l = 0; l < vector; ++l) {
    const int here = column + l * step;
    wanted |= static_cast<unsigned>(here >= place.column_begin && place.first_column + here < shape.n) << l;
  }
  const index_t rows_left = shape.m - place.first_row;
  const int row_end = rows_left < Tile::rows ? static_cast<int>(rows_left) : Tile::rows;
  int row = thread / groups;
  sink_cursor<Sink, vector> cursor(sink, place.batch, place.first_row, place.first_column + column, step, wanted);
  cursor.next_rows(row);
  const unsigned staged_address = shared_address(staged);
  // A loop over slices whose body picks its accumulators by branches: they are never indexed and never move.
#pragma unroll 1
  for (int first = 0; first < Tile::thread_rows / vector; first += slice_vectors) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Tile::thread_rows / vector; ++i) {
      if (i / slice_vectors * slice_vectors != first) continue;
#pragma unroll
      for (int r = 0; r < vector; ++r) {
        const int line = (i % slice_vectors * Tile::row_threads + thread_row) * vector + r;
#pragma unroll
        for (int j = 0; j < Tile::thread_columns / vector; ++j)
          store_16_bytes(staged_address + static_cast<unsigned>((line * Tile::columns +
                                                                 (j * Tile::column_threads + thread_column) * vector) *
                                                                static_cast<int>(sizeof(T))),
                         sum[i * vector + r] + j * vector);
      }
    }
    __syncthreads();
    const T* from = staged + thread / groups * Tile::columns + column;
#pragma unroll 1
    for (int pass = 0; pass < Tile::slice_rows / rows_at_once; ++pass) {
      if (wanted != 0 && row >= place.row_begin && row < row_end) {
        T value[vector];
        if (in_vectors) {
          const auto held = *reinterpret_cast<const staged_vector<T, vector>*>(from);
#pragma unroll
          for (int l = 0; l < vector; ++l) value[l] = held.value[l];
        } else {
#pragma unroll
          for (int l = 0; l < vector; ++l) value[l] = from[l * groups];
        }
        cursor.store(sink, value, row);
      }
      row += rows_at_once;
      from += rows_at_once * Tile::columns;
      cursor.next_rows(rows_at_once);
    }
  }
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
