// Maps with a leaf that is contiguous along another axis than the output: tiles of 32 by 32 elements of it go through
// shared memory, so that each sector is read once and no two threads meet in a bank.
#pragma once

#include "heddle/kernels/cuda/map_rows.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int tile_edge = 32;
inline constexpr int tile_pitch = tile_edge + 1;

/// What map_tiles receives: row is the axis along which the staged leaves are contiguous, column the innermost one of
/// the output, a batch the rest.
template <class Form, class Out, int Leaves, int Rank>
struct tile_arguments {
  static constexpr int places = Leaves + 1;
  static constexpr int batch_rank = Rank > 2 ? Rank - 2 : 1;
  Form form;
  Out* out;
  const void* data[static_cast<std::size_t>(Leaves > 0 ? Leaves : 1)];
  axis_group<places, batch_rank> batch;
  index_t rows, columns;
  fast_divisor row_tiles, column_tiles;
  index_t row_step[static_cast<std::size_t>(places)];
  index_t column_step[static_cast<std::size_t>(places)];
  int staged[static_cast<std::size_t>(Leaves > 0 ? Leaves : 1)];  ///< where in shared memory, in bytes; -1: not there
};

/// Rows of threads in a block.
inline constexpr int tile_height = map_block / tile_edge;

/// Brings a leaf's tile to shared memory: neighbouring threads read neighbouring rows.
template <class T, class Arguments>
__device__ __forceinline__ void stage_tile(const Arguments& arguments, int s, char* shared, index_t offset, int i,
                                           int j, bool inside, int columns) {
  if constexpr (!is_number_v<T>) {
    if (arguments.staged[s] < 0 || !inside) return;
    T* const tile = reinterpret_cast<T*>(shared + arguments.staged[s]) + j * tile_pitch + i;
    const index_t step = arguments.column_step[s];
    const T* from = static_cast<const T*>(arguments.data[s]) + (offset + i + j * step);
#pragma unroll
    for (int k = 0; k < tile_edge; k += tile_height, from += tile_height * step)
      if (j + k < columns) tile[k * tile_pitch] = *from;
  }
}
template <class Form, class Arguments, int... S>
__device__ __forceinline__ void stage_tiles(const Arguments& arguments, char* shared, const index_t* offset, int i,
                                            int j, bool inside, int columns, std::integer_sequence<int, S...>) {
  (stage_tile<typename leaf_type<S, Form>::type>(arguments, S, shared, offset[S], i, j, inside, columns), ...);
}
template <class T, class Arguments>
__device__ __forceinline__ T tile_element(const Arguments& arguments, int s, const char* shared, index_t offset,
                                          int place) {
  if constexpr (!is_number_v<T>) {
    if (arguments.staged[s] >= 0) return reinterpret_cast<const T*>(shared + arguments.staged[s])[place];
  }
  return load_leaf<T>(arguments.data[s], offset);
}
template <class Form, class Registers, class Arguments, int... S>
__device__ __forceinline__ void load_tile(Registers& registers, const Arguments& arguments, const char* shared,
                                          const index_t* offset, int place, std::integer_sequence<int, S...>) {
  ((slot<S>(registers).lane[0] =
        tile_element<typename leaf_type<S, Form>::type>(arguments, S, shared, offset[S], place)),
   ...);
}

template <class Form, class Out, int Leaves, int Rank>
__global__ void __launch_bounds__(map_block)
    map_tiles(const __grid_constant__ tile_arguments<Form, Out, Leaves, Rank> arguments) {
  constexpr int places = Leaves + 1;
  constexpr auto slots = std::make_integer_sequence<int, Leaves>{};
  extern __shared__ __align__(16) char tile_memory[];
  const std::uint32_t across = arguments.column_tiles.divide(blockIdx.x);
  const index_t first_column = index_t{blockIdx.x - across * arguments.column_tiles.divisor} * tile_edge;
  const std::uint32_t batch = arguments.row_tiles.divide(across);
  const index_t first_row = index_t{across - batch * arguments.row_tiles.divisor} * tile_edge;
  index_t offset[places];
#pragma unroll
  for (int r = 0; r < places; ++r)
    offset[r] = first_row * arguments.row_step[r] + first_column * arguments.column_step[r];
  arguments.batch.advance(batch, offset);
  const int rows = static_cast<int>(::min(arguments.rows - first_row, index_t{tile_edge}));
  const int columns = static_cast<int>(::min(arguments.columns - first_column, index_t{tile_edge}));
  const int fast = static_cast<int>(threadIdx.x % tile_edge), slow = static_cast<int>(threadIdx.x / tile_edge);
  stage_tiles<Form>(arguments, tile_memory, offset, fast, slow, fast < rows, columns, slots);
  const auto value = [&](const index_t(&at)[places], int place) {
    registers_t<Form, Leaves, 1> registers;
    load_tile<Form>(registers, arguments, tile_memory, at, place, slots);
    return cast_element<Out>(lane_value<Form>::at(arguments.form, registers, 0, 0));
  };
  if constexpr (has_double<Form, Leaves>) {
    // Where the tile lies is kept in shared memory, so that it need not be in registers.
    __shared__ volatile index_t origin[places];
    __shared__ volatile int end;
    if (threadIdx.x == 0) {
      for (int r = 0; r < places; ++r) origin[r] = offset[r];
      end = rows;
    }
    __syncthreads();
    if (fast >= columns) return;
#pragma unroll 1
    for (int i = slow; i < end; i += tile_height) {
      index_t at[places];
#pragma unroll
      for (int r = 0; r < Leaves; ++r) at[r] = origin[r] + i * arguments.row_step[r] + fast * arguments.column_step[r];
      const Out result = value(at, fast * tile_pitch + i);
      arguments.out[origin[Leaves] + i * arguments.row_step[Leaves] + fast * arguments.column_step[Leaves]] = result;
    }
  } else {
    __syncthreads();
    if (fast >= columns) return;
#pragma unroll
    for (int r = 0; r < places; ++r) offset[r] += slow * arguments.row_step[r] + fast * arguments.column_step[r];
    int place = fast * tile_pitch + slow;
#pragma unroll 2
    for (int i = slow; i < rows; i += tile_height, place += tile_height) {
      arguments.out[offset[Leaves]] = value(offset, place);
#pragma unroll
      for (int r = 0; r < places; ++r) offset[r] += tile_height * arguments.row_step[r];
    }
  }
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
