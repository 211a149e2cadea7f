// The coordinates of the elements that a running count has counted.
#pragma once

#include "heddle/kernels/axis_table.hpp"
#include "heddle/kernels/cuda/launch.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

template <int Rank>
__global__ void __launch_bounds__(256)
    write_coordinates_kernel(const std::int64_t* counted, const __grid_constant__ output_axes<Rank, index_t> axes,
                             std::int64_t* to) {
  const index_t step = static_cast<index_t>(gridDim.x) * 256;
  for (index_t i = static_cast<index_t>(blockIdx.x) * 256 + threadIdx.x; i < axes.size; i += step) {
    const std::int64_t before = i > 0 ? counted[i - 1] : 0;
    if (counted[i] == before) continue;
    coordinates_of<Rank, index_t> coordinate;
    axes.decode(i, coordinate);
#pragma unroll
    for (int a = 0; a < Rank; ++a) to[before * Rank + a] = coordinate[a];
  }
}

/// to[n] = the coordinates of the n-th element at which the count rises, in row-major order of that shape.
template <int Rank>
void write_coordinates(const std::int64_t* counted, const Shape<Rank>& shape, std::int64_t* to,
                       const launch_context& context) {
  axis_table<1, Rank> table;
  for (int i = 0; i < Rank; ++i) table.extent[i] = shape[i];
  const output_axes<Rank, index_t> axes(table);
  launch(write_coordinates_kernel<Rank>, grid_for(axes.size, 256), 256, 0, context, counted, axes, to);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
