// Indices checked before anything is written.
#pragma once

#include "heddle/core/error.hpp"
#include "heddle/kernels/cpu/rearrange.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// Throws IndexError for the first of the indices, in row-major order, that an axis has no place for.
template <class I, int Rank>
void check_indices(const I* data, const Shape<Rank>& shape, const Strides<Rank>& strides, bool negative, index_t extent,
                   int axis, const char* operation) {
  const index_t least = negative ? -extent : 0;
  axis_table<1, Rank> table;
  if constexpr (Rank > 0) {
    for (int i = 0; i < Rank; ++i) {
      table.extent[i] = shape[i];
      table.stride[0][i] = strides[i];
    }
  }
  const auto find = [&](const axis_table<1, Rank>& walked, bool report) {
    const output_axes<Rank, index_t> axes(walked);
    const row_strides<1, Rank, index_t> steps(walked, 0);
    const index_t inner = axes.extent[axis_capacity<Rank> - 1], step = steps.stride[axis_capacity<Rank> - 1][0];
    bool lost = false;
    for (index_t begin = 0; begin < axes.size && !lost; begin += inner) {
      coordinates_of<Rank, index_t> coordinate;
      axes.decode(begin, coordinate);
      index_t offset[1] = {};
      steps.advance(coordinate, offset);
      const I* const row = data + offset[0];
      for (index_t i = 0; i < inner; ++i) {
        const auto index = static_cast<index_t>(row[i * step]);
        lost = lost | (index < least) | (index >= extent);
        if (report && lost)
          throw IndexError(Message{} << operation << ": index " << index << " is out of range for axis " << axis
                                     << " with extent " << extent);
      }
    }
    return lost;
  };
  axis_table<1, Rank> merged = table;
  merged.merge();
  if (find(merged, false)) find(table, true);
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
