// Where elements are not 0. The results' sizes depend on values, so that these functions wait for the device.
#pragma once

#include "heddle/ops/create.hpp"
#include "heddle/ops/index.hpp"
#include "heddle/ops/scan.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/nonzero.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

/// The indices of all elements that are not 0 (NaN is not), in row-major order: one a row, a column for each axis,
/// int64. Waits for the device. Example: `hd::nonzero(x > 3)`.
template <Expression X>
auto nonzero(X&& x) {
  constexpr int rank = std::remove_cvref_t<X>::rank;
  using Device = typename std::remove_cvref_t<X>::device_type;
  const auto shape = x.shape();
  const auto flags = eval(flatten(cast<bool>(std::forward<X>(x))));
  const Device device = flags.device();
  const index_t size = flags.size();
  if constexpr (runs_here<Device>() && std::is_same_v<Device, Cpu>) {
    index_t count = 0;
    for (index_t i = 0; i < size; ++i) count += flags.data()[i] ? 1 : 0;
    auto result = empty<std::int64_t>(Shape<2>{count, rank}, device);
    axis_table<1, rank> table;
    for (int a = 0; a < rank; ++a) table.extent[a] = shape[a];
    if constexpr (rank > 0) {
      const output_axes<rank, index_t> axes(table);
      std::int64_t* to = result.data();
      for (index_t i = 0; i < size; ++i) {
        if (!flags.data()[i]) continue;
        coordinates_of<rank, index_t> coordinate;
        axes.decode(i, coordinate);
        for (int a = 0; a < rank; ++a) *to++ = coordinate[a];
      }
    }
    return result;
  } else {
    const auto counted = eval(cumsum(flags, axis<0>));
    const index_t count = size > 0 ? counted(size - 1).item() : 0;
    auto result = empty<std::int64_t>(Shape<2>{count, rank}, device);
#if HEDDLE_CUDA_COMPILER
    if constexpr (rank > 0) {
      if (count > 0)
        on_cuda::write_coordinates(counted.data(), shape, result.data(),
                                   on_cuda::current_context(device.index, "nonzero"));
    }
#endif
    return result;
  }
}

/// The elements of x where the mask, broadcast to x's shape, is true, in row-major order. Waits for the device.
/// Example: `hd::masked_select(x, x > 0)`.
template <Expression X, Expression M>
auto masked_select(X&& x, M&& mask) {
  const auto whole = eval(std::forward<X>(x));
  const auto places = nonzero(flatten(eval(std::forward<M>(mask)).expand(whole.shape())));
  return eval(take(whole, places.reshape(Shape<1>{places.size()})));
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
