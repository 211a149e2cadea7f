// Scatters on CUDA without atomics: the indices of each line are sorted with their places, stably, and every element of
// the output finds its own among them and takes theirs in the order of the source. The output is written once, in its
// own order, through the epilogue.
#pragma once

#include "heddle/kernels/cuda/sort.cuh"
#include "heddle/kernels/rearrange.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int scatter_block = 256;

/// Indices as items to be sorted; what is out of range is reported, and goes behind all others.
template <class Lines>
struct index_items {
  Lines lines;  ///< row 1: the indices
  index_source indices;
  index_t skipped;
  index_check check;

  __device__ __forceinline__ sort_pair<std::uint32_t> load(index_t line, index_t place, index_t) const {
    index_t offset[Lines::held];
    lines.at(line, offset);
    const index_t index = indices.read(offset[1] + place * lines.along[1]);
    const bool inside = index >= 0 && index < indices.extent;
    if (!inside) check.report(index);
    return {inside && index != skipped ? static_cast<std::uint32_t>(index) : ~std::uint32_t{0},
            static_cast<std::uint32_t>(place)};
  }
};

/// The first of `count` keys that is not less than `wanted`.
template <class Key>
__device__ __forceinline__ std::uint32_t lower_bound(const Key* keys, std::uint32_t count, Key wanted) {
  std::uint32_t low = 0, high = count;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (keys[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// Where each place's indices begin among one line's.
template <class Key>
__global__ void __launch_bounds__(scatter_block)
    find_starts_kernel(const Key* keys, std::uint32_t count, std::uint32_t* starts, Key places) {
  const std::uint32_t place = blockIdx.x * scatter_block + threadIdx.x;
  if (place <= places) starts[place] = lower_bound(keys, count, place);
}

template <int Rows, int Rank, class Base, class Source, class Writer>
struct scatter_arguments {
  output_axes<Rank, index_t> axes;
  row_strides<Rows, Rank, index_t> strides;
  coordinates_of<Rank, index_t> limit;
  Base base;
  Source source;
  Writer writer;
  index_t source_along[static_cast<std::size_t>(Source::rows > 0 ? Source::rows : 1)];
  sort_buffer<true, std::uint32_t> sorted;
  const std::uint32_t* starts;  ///< where there is one line of indices
  std::uint32_t length;         ///< of a line of indices
  scatter_rule rule;
};

template <bool Join, class State, class Stored, int Rows, int Rank, class Base, class Source, class Writer>
__global__ void __launch_bounds__(scatter_block)
    scatter_kernel(const __grid_constant__ scatter_arguments<Rows, Rank, Base, Source, Writer> arguments) {
  constexpr int base_row = Writer::rows;
  constexpr int source_row = base_row + Base::rows;
  constexpr int line_row = source_row + Source::rows;
  const index_t step = static_cast<index_t>(gridDim.x) * scatter_block;
  for (index_t element = static_cast<index_t>(blockIdx.x) * scatter_block + threadIdx.x; element < arguments.axes.size;
       element += step) {
    coordinates_of<Rank, index_t> coordinate;
    arguments.axes.decode(element, coordinate);
    index_t offset[Rows] = {};
    arguments.strides.advance(coordinate, offset);
    bool inside = true;
#pragma unroll
    for (int a = 0; a < axis_capacity<Rank>; ++a) inside = inside & (coordinate[a] < arguments.limit[a]);
    State sum = static_cast<State>(arguments.base.load(offset + base_row, 0));
    if (inside) {
      const index_t line = offset[line_row] * static_cast<index_t>(arguments.length);
      const std::uint32_t* const keys = arguments.sorted.key + line;
      const auto place = static_cast<std::uint32_t>(offset[line_row + 1]);
      std::uint32_t at, end;
      if (arguments.starts != nullptr) {
        at = arguments.starts[place];
        end = arguments.starts[place + 1];
      } else {
        at = lower_bound(keys, arguments.length, place);
        end = at;
        if (Join) {
          while (end < arguments.length && keys[end] == place) ++end;
        } else {
          end = at + lower_bound(keys + at, arguments.length - at, place + 1);
        }
      }
      // Of several that are put to one place the last counts.
      if (!Join && at < end) at = end - 1;
      for (; at < end; ++at) {
        const index_t from = arguments.sorted.index[line + at];
        index_t own[Source::rows > 0 ? Source::rows : 1];
#pragma unroll
        for (int r = 0; r < Source::rows; ++r) own[r] = offset[source_row + r] + from * arguments.source_along[r];
        const State value = static_cast<State>(arguments.source.load(own, 0));
        if constexpr (Join)
          sum = scatter_joined(arguments.rule, sum, value);
        else
          sum = value;
      }
    }
    arguments.writer.store(offset, cast_element<Stored>(sum));
  }
}

/// Rows of the table, which is not merged: the writer's, the base's, the source's, the number of the line of indices,
/// the place along the axis. Rows of `index_table`: that number, the indices.
template <bool Join, class State, class Stored, int Rows, int Rank, class Base, class Source, class Writer>
void scatter(axis_table<Rows, Rank> table, int axis_number, const index_t* limits, const Base& base,
             const Source& source, const Writer& writer, const axis_table<2, Rank>& index_table,
             const index_source& indices, index_t length, index_t skipped, scatter_rule rule, const index_check& check,
             const launch_context& context) {
  using IndexLines = line_axes<2, Rank>;
  constexpr int source_row = Writer::rows + Base::rows;
  const IndexLines index_lines = IndexLines::from(index_table, axis_number);
  const index_t lines = index_lines.count();
  const sort_memory<true, std::uint32_t> sorted(lines * length, context);
  sort_lines<true, std::uint32_t>(index_items<IndexLines>{index_lines, indices, skipped, check},
                                  emit_buffer<std::uint32_t>{sorted.buffer, length}, lines, length, length,
                                  index_lines.crosswise(1, 2), context);
  StorageHandle starts;
  if (lines == 1 && length > 0) {
    const index_t places = indices.extent;
    starts = StorageHandle(
        cuda::allocate(static_cast<std::size_t>(places + 1) * sizeof(std::uint32_t), Cuda{context.device}));
    launch(find_starts_kernel<std::uint32_t>, grid_for(places + 1, scatter_block), scatter_block, 0, context,
           sorted.buffer.key, static_cast<std::uint32_t>(length), static_cast<std::uint32_t*>(starts->data),
           static_cast<std::uint32_t>(places));
  }

  using Arguments = scatter_arguments<Rows, Rank, Base, Source, Writer>;
  static_assert(sizeof(Arguments) <= max_parameter_bytes, "this formula is too large for one kernel");
  index_t along[static_cast<std::size_t>(Source::rows > 0 ? Source::rows : 1)] = {};
  for (int r = 0; r < Source::rows; ++r) {
    along[r] = table.stride[source_row + r][axis_number];
    table.stride[source_row + r][axis_number] = 0;
  }
  table.merge();
  Arguments arguments{output_axes<Rank, index_t>(table),
                      row_strides<Rows, Rank, index_t>(table, 0),
                      {},
                      base,
                      source,
                      writer,
                      {},
                      sorted.buffer,
                      starts ? static_cast<const std::uint32_t*>(starts->data) : nullptr,
                      static_cast<std::uint32_t>(length),
                      rule};
  for (int r = 0; r < Source::rows; ++r) arguments.source_along[r] = along[r];
  for (int a = 0; a < axis_capacity<Rank>; ++a)
    arguments.limit[a] = table.alone[a] ? limits[table.original[a]] : table.extent[a];
  launch(scatter_kernel<Join, State, Stored, Rows, Rank, Base, Source, Writer>,
         grid_for(arguments.axes.size, scatter_block), scatter_block, 0, context, arguments);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
