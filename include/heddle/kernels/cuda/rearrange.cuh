// Elements moved on CUDA: in the output's order, so that stores coalesce, each from where its locator says. A thread
// takes four elements a block apart, so that their loads are under way together.
#pragma once

#include "heddle/kernels/cuda/elements.cuh"
#include "heddle/kernels/rearrange.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int rearrange_block = 256;
inline constexpr int rearrange_unroll = 4;

template <class Locator, class Elements, class Writer, int Rank, class Index>
struct rearrange_arguments {
  output_axes<Rank, Index> axes;
  Locator locator;
  row_strides<Writer::rows, Rank, Index> out_strides;
  Elements elements;
  Writer writer;
  typename Elements::value_type fill;
  index_check check;
};

template <class Locator, class Elements, class Writer, int Rank, class Index>
__global__ void __launch_bounds__(rearrange_block)
    rearrange_kernel(const __grid_constant__ rearrange_arguments<Locator, Elements, Writer, Rank, Index> arguments) {
  constexpr Index tile = rearrange_block * rearrange_unroll;
  const Index base = static_cast<Index>(blockIdx.x) * tile + static_cast<Index>(threadIdx.x);
  const Index size = arguments.axes.size;
  typename Elements::value_type value[rearrange_unroll];
  Index to[rearrange_unroll][Writer::rows] = {};
  bool lost[rearrange_unroll];
  index_t index[rearrange_unroll];
#pragma unroll
  for (int u = 0; u < rearrange_unroll; ++u) {
    // Threads beyond the end read the last element: no branch parts the loads.
    const Index element = base + u * rearrange_block < size ? base + u * rearrange_block : size - 1;
    coordinates_of<Rank, Index> coordinate;
    arguments.axes.decode(element, coordinate);
    arguments.out_strides.advance(coordinate, to[u]);
    location<Locator::rows, Index> found;
    const place where = arguments.locator.locate(coordinate, found);
    value[u] = arguments.fill;
    if (where == place::element) value[u] = arguments.elements.load(found.offset, found.piece);
    lost[u] = where == place::out_of_range;
    index[u] = found.index;
  }
#pragma unroll
  for (int u = 0; u < rearrange_unroll; ++u) {
    if (base + u * rearrange_block >= size) continue;
    arguments.writer.store(to[u], value[u]);
    if constexpr (Locator::reads_indices) {
      if (lost[u]) arguments.check.report(index[u]);
    }
  }
}

/// Writes every element of the output. The table's first rows are the output's and its epilogue's, as in `bound`.
template <class Index, class Table, class Locator, class Elements, class Bound>
void rearrange(const Table& table, const Locator& locator, const Elements& elements, typename Elements::value_type fill,
               const Bound& bound, const index_check& check, const launch_context& context) {
  using Writer = writer<Bound>;
  using Arguments = rearrange_arguments<Locator, Elements, Writer, Bound::rank, Index>;
  static_assert(sizeof(Arguments) <= max_parameter_bytes, "this formula is too large for one kernel");
  const Arguments arguments{output_axes<Bound::rank, Index>(table),
                            locator,
                            row_strides<Writer::rows, Bound::rank, Index>(table, 0),
                            elements,
                            Writer(bound),
                            fill,
                            check};
  launch(rearrange_kernel<Locator, Elements, Writer, Bound::rank, Index>,
         grid_for(arguments.axes.size, rearrange_block * rearrange_unroll), rearrange_block, 0, context, arguments);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
