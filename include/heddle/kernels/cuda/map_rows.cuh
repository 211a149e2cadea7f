// Maps whose leaves lie as the output does, or row by row: each of a thread's accesses is a vector of 16 bytes (or,
// with one element a thread, whatever the strides are).
#pragma once

#include "heddle/kernels/cuda/vectors.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int map_block = 256;

// ---- everything contiguous ----

/// What map_flat receives: a tile is what a block takes at once.
template <class Form, class Out, int Leaves>
struct flat_arguments {
  Form form;
  Out* out;
  const void* data[static_cast<std::size_t>(Leaves > 0 ? Leaves : 1)];
  index_t size;
  std::uint32_t tiles;  ///< whole ones
};

inline constexpr int flat_block = 128;
template <class Form, int Leaves, int V>
inline constexpr int flat_unroll = vectors_under_way<Form, Leaves, V>(2);

template <int V, class Registers, class Arguments, int... S>
__device__ __forceinline__ void load_flat(Registers& registers, const Arguments& arguments, index_t element,
                                          std::integer_sequence<int, S...>) {
  (load_vector<V>(slot<S>(registers), arguments.data[S], element, 1, V), ...);
}

template <class Form, class Out, int Leaves, int V>
__global__ void __launch_bounds__(flat_block)
    map_flat(const __grid_constant__ flat_arguments<Form, Out, Leaves> arguments) {
  constexpr auto slots = std::make_integer_sequence<int, Leaves>{};
  constexpr int unroll = flat_unroll<Form, Leaves, V>;
  constexpr unsigned vectors = flat_block * unroll;
  unsigned tile = blockIdx.x;
#pragma unroll 1
  for (; tile < arguments.tiles; tile += gridDim.x) {
    const index_t first = static_cast<index_t>((std::uint64_t{tile} * vectors + threadIdx.x) * V);
    registers_t<Form, Leaves, V> registers[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) load_flat<V>(registers[u], arguments, first + u * (flat_block * V), slots);
#pragma unroll
    for (int u = 0; u < unroll; ++u)
      store_value<V>(arguments.form, registers[u], arguments.out + (first + u * (flat_block * V)));
  }
  // What is less than a tile is the block's whose turn it would be.
  if (tile != arguments.tiles) return;
  index_t element = static_cast<index_t>((std::uint64_t{tile} * vectors + threadIdx.x) * V);
#pragma unroll 1
  for (; element + V <= arguments.size; element += flat_block * V) {
    registers_t<Form, Leaves, V> registers;
    load_flat<V>(registers, arguments, element, slots);
    store_value<V>(arguments.form, registers, arguments.out + element);
  }
  if constexpr (V > 1) {
#pragma unroll 1
    for (; element < arguments.size; ++element) {
      registers_t<Form, Leaves, 1> registers;
      load_flat<1>(registers, arguments, element, slots);
      store_value<1>(arguments.form, registers, arguments.out + element);
    }
  }
}

// ---- rows ----

/// What map_rows receives: columns are the innermost axis, rows all others. The output is the last place.
template <class Form, class Out, int Leaves, int Rank>
struct map_arguments {
  static constexpr int places = Leaves + 1;
  static constexpr int outer_rank = Rank > 1 ? Rank - 1 : 1;
  Form form;
  Out* out;
  const void* data[static_cast<std::size_t>(Leaves > 0 ? Leaves : 1)];
  axis_group<places, outer_rank> outer;
  index_t rows = 1, columns = 1;
  index_t step[static_cast<std::size_t>(places)] = {};  ///< along the columns
  index_t jump[static_cast<std::size_t>(places)] = {};  ///< from one of a thread's vectors to the next
  // Threads lie side by side along the columns, in a power of two, and the others below them.
  unsigned log2_lanes = 0, lane_mask = 0;
  unsigned next_row = 0, next_column = 0;      ///< from one of a thread's vectors to the next
  unsigned block_rows = 0, block_columns = 0;  ///< what a block takes
  index_t whole_rows = 0;                      ///< whoever begins below these has all of his vectors
  std::uint64_t whole_columns = 0;
  // Rows that begin anywhere: by how many elements more than a whole number of vectors each begins after the one before
  // it. Threads then begin before the row, where its vectors do.
  unsigned phase = 0;
  bool single[static_cast<std::size_t>(Leaves > 0 ? Leaves : 1)] = {};  ///< leaves that don't begin as the output does
};

template <class Form, int Leaves, int V>
inline constexpr int row_unroll = vectors_under_way<Form, Leaves, V>(has_double<Form, Leaves> ? 2 : 4);
/// The greatest extent of a grid in y and z.
inline constexpr unsigned grid_edge = 65535;

/// A thread's vectors of a leaf; where all of them are one, it is loaded once.
template <int Unroll, class T, int V>
__device__ __forceinline__ void load_jumped(register_lanes<T, V> (&registers)[Unroll], const void* data, index_t offset,
                                            index_t jump, index_t step, bool single) {
  if (V > 1 && step == 0) {
#pragma unroll
    for (int u = 0; u < Unroll; ++u, offset += jump) load_vector<V>(registers[u], data, offset, 0, V);
  } else if (jump == 0) {
    // Nothing, but it keeps the compiler from loading the first vector for both cases and copying it for both.
    asm volatile("");
    load_vector<V>(registers[0], data, offset, V == 1 ? 0 : 1, V, 0, V > 1 && single);
#pragma unroll
    for (int u = 1; u < Unroll; ++u) registers[u] = registers[0];
  } else {
#pragma unroll
    for (int u = 0; u < Unroll; ++u, offset += jump) load_vector<V>(registers[u], data, offset, V == 1 ? 0 : 1, V);
  }
}

/// The registers of a leaf for all of a thread's vectors.
template <class Form, int V, class Slots>
struct jumped_registers;
template <class Form, int V, int... S>
struct jumped_registers<Form, V, std::integer_sequence<int, S...>> {
  template <class T>
  struct several {
    register_lanes<T, V> at[row_unroll<Form, static_cast<int>(sizeof...(S)), V>];
  };
  pack<several<typename leaf_type<S, Form>::type>...> leaves;

  template <class Arguments>
  __device__ __forceinline__ void load([[maybe_unused]] const Arguments& arguments,
                                       [[maybe_unused]] const index_t* offset) {
    (load_jumped(slot<S>(leaves).at, arguments.data[S], offset[S], arguments.jump[S], arguments.step[S],
                 arguments.single[S]),
     ...);
  }
  __device__ __forceinline__ auto vector([[maybe_unused]] int u) const {
    return pack<register_lanes<typename leaf_type<S, Form>::type, V>...>{{slot<S>(leaves).at[u]}...};
  }
};

template <int V, class Registers, class Arguments, int... S>
__device__ __forceinline__ void load_row(Registers& registers, const Arguments& arguments, const index_t* offset,
                                         int first, int valid, std::integer_sequence<int, S...>) {
  (load_vector<V>(slot<S>(registers), arguments.data[S], offset[S], V == 1 ? 0 : arguments.step[S], valid, first,
                  arguments.single[S]),
   ...);
}

template <class Form, class Out, int Leaves, int Rank, int V>
__global__ void __launch_bounds__(map_block)
    map_rows(const __grid_constant__ map_arguments<Form, Out, Leaves, Rank> arguments) {
  constexpr int places = Leaves + 1;
  constexpr int unroll = row_unroll<Form, Leaves, V>;
  constexpr auto slots = std::make_integer_sequence<int, Leaves>{};
  const unsigned own_line = threadIdx.x >> arguments.log2_lanes;
  const index_t row = static_cast<index_t>(std::uint64_t{blockIdx.x} * arguments.block_rows + own_line);
  int own_place = static_cast<int>(threadIdx.x & arguments.lane_mask) * V;
  // A block's rows begin with a phase of 0.
  if constexpr (V > 1) own_place -= static_cast<int>(own_line * arguments.phase & unsigned{V - 1});
  const index_t column =
      static_cast<index_t>(std::uint64_t{blockIdx.y + blockIdx.z * grid_edge} * arguments.block_columns) + own_place;
  // A column before the row's is a great unsigned one.
  if (row < arguments.whole_rows && static_cast<std::uint64_t>(column) < arguments.whole_columns) {
    index_t offset[places];
#pragma unroll
    for (int r = 0; r < places; ++r) offset[r] = V > 1 && r == Leaves ? column : column * arguments.step[r];
    if (arguments.outer.rank <= 1) {
#pragma unroll
      for (int r = 0; r < places; ++r) offset[r] += row * arguments.outer.stride[0][r];
    } else {
      arguments.outer.advance(row, offset);
    }
    jumped_registers<Form, V, std::make_integer_sequence<int, Leaves>> registers;
    registers.load(arguments, offset);
    Out* out = arguments.out + offset[Leaves];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      store_value<V>(arguments.form, registers.vector(u), out);
      out += arguments.jump[Leaves];
    }
    return;
  }
#pragma unroll 1
  for (unsigned u = 0; u < unroll; ++u) {
    const index_t own_row = row + static_cast<index_t>(u * arguments.next_row);
    const index_t own_column = column + static_cast<index_t>(u * arguments.next_column);
    if (own_row >= arguments.rows || own_column >= arguments.columns) break;
    const int valid = arguments.columns - own_column < V ? static_cast<int>(arguments.columns - own_column) : V;
    const int first = V > 1 && own_column < 0 ? static_cast<int>(-own_column) : 0;
    index_t offset[places];
#pragma unroll
    for (int r = 0; r < places; ++r) offset[r] = own_column * arguments.step[r];
    arguments.outer.advance(own_row, offset);
    registers_t<Form, Leaves, V> registers;
    load_row<V>(registers, arguments, offset, first, valid, slots);
    Out* const to = arguments.out + offset[Leaves];
    const vector_of<Out, V> result = vector_value<Out, V>(arguments.form, registers);
    if (valid - first == V) {
      *reinterpret_cast<vector_of<Out, V>*>(to) = result;
    } else {
#pragma unroll
      for (int j = 0; j < V; ++j)
        if (j >= first && j < valid) to[j] = result.lane[j];
    }
  }
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
