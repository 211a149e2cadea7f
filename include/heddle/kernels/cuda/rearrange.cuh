// Elements moved on CUDA: in the output's order, so that stores coalesce, each from where its locator says. A thread
// takes four elements a block apart, so that their loads are under way together.
#pragma once

#include "heddle/kernels/cuda/elements.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int rearrange_block = 256;
inline constexpr int rearrange_unroll = 4;

template <class Locator, class Elements, class Writer, int Rank>
struct rearrange_arguments {
  output_axes<Rank> axes;
  Locator locator;
  leaf_strides<Writer::rows, Rank> out_strides;
  Elements elements;
  Writer writer;
  typename Elements::value_type fill;
  index_check check;
};

/// Reads the element at a place of the output; what an index out of range asks for is 0, and reported.
template <class Arguments, class Coordinates>
__device__ __forceinline__ auto read_element(const Arguments& arguments, const Coordinates& coordinate) {
  using Locator = decltype(arguments.locator);
  typename std::remove_cvref_t<Locator>::offsets offset = {};
  const place found = arguments.locator.locate(coordinate, offset);
  auto value = arguments.fill;
  if (found == place::element) value = arguments.elements.load(offset);
  if constexpr (std::remove_cvref_t<Locator>::reads_indices) {
    if (found == place::out_of_range) arguments.check.report(offset[0]);
  }
  return value;
}

template <class Locator, class Elements, class Writer, int Rank>
__global__ void __launch_bounds__(rearrange_block)
    rearrange_kernel(const __grid_constant__ rearrange_arguments<Locator, Elements, Writer, Rank> arguments) {
  constexpr index_t tile = rearrange_block * rearrange_unroll;
  for (index_t base = static_cast<index_t>(blockIdx.x) * tile + threadIdx.x; base < arguments.axes.size;
       base += static_cast<index_t>(gridDim.x) * tile) {
    typename Elements::value_type value[rearrange_unroll];
    index_t to[rearrange_unroll][Writer::rows];
#pragma unroll
    for (int u = 0; u < rearrange_unroll; ++u) {
      const index_t element = base + u * rearrange_block;
      if (element >= arguments.axes.size) continue;
      index_t coordinate[axis_capacity<Rank>];
      arguments.axes.decode(element, coordinate);
#pragma unroll
      for (int r = 0; r < Writer::rows; ++r) to[u][r] = 0;
      arguments.out_strides.advance(coordinate, to[u]);
      value[u] = read_element(arguments, coordinate);
    }
#pragma unroll
    for (int u = 0; u < rearrange_unroll; ++u)
      if (base + u * rearrange_block < arguments.axes.size) arguments.writer.store(to[u], value[u]);
  }
}

/// Writes every element of the output. The table's first rows are the output's and its epilogue's, as in `bound`.
template <class Table, class Locator, class Elements, class Bound>
void rearrange(const Table& table, const Locator& locator, const Elements& elements,
               typename Elements::value_type fill, const Bound& bound, const index_check& check,
               const launch_context& context) {
  using Writer = writer<Bound>;
  using Arguments = rearrange_arguments<Locator, Elements, Writer, Bound::rank>;
  static_assert(sizeof(Arguments) <= max_parameter_bytes, "this formula is too large for one kernel");
  const Arguments arguments{output_axes<Bound::rank>(table), locator, leaf_strides<Writer::rows, Bound::rank>(table, 0),
                            elements, Writer(bound), fill, check};
  launch(rearrange_kernel<Locator, Elements, Writer, Bound::rank>,
         grid_for(arguments.axes.size, rearrange_block * rearrange_unroll), rearrange_block, 0, context, arguments);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
