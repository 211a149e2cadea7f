// Elementwise on the CPU: one pass over memory, whatever the formula. The innermost axis goes through chunks of lanes.
#pragma once

#include <cstdint>

#include "heddle/kernels/cpu/form.hpp"
#include "heddle/kernels/cpu/pool.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// Elements that are not worth a second thread.
inline constexpr index_t map_grain = 16384;

/// Computes a bound formula of maps into its output.
template <class Form, class Out, int Leaves, int Rank>
void map(const bound_formula<Form, Out, Leaves, Rank>& bound) {
  constexpr int capacity = Rank > 0 ? Rank : 1;
  constexpr int rows = Leaves + 1;
  // Row 0 is the output's, since its strides decide the order of the axes.
  index_t extent[static_cast<std::size_t>(capacity)] = {};
  index_t stride[static_cast<std::size_t>(rows)][static_cast<std::size_t>(capacity)] = {};
  index_t size = 1;
  if constexpr (Rank > 0) {
    for (int i = 0; i < Rank; ++i) {
      extent[i] = bound.shape[i];
      size *= extent[i];
      stride[0][i] = bound.out_stride[i];
      for (int r = 0; r < Leaves; ++r) stride[r + 1][i] = bound.table.stride[r][i];
    }
  }
  const int rank = collapse_axes(Rank, extent, &stride[0][0], rows, capacity, true);
  const index_t inner = rank > 0 ? extent[rank - 1] : 1;
  index_t inner_stride[static_cast<std::size_t>(rows)] = {};
  for (int r = 0; r < rows; ++r) inner_stride[r] = rank > 0 ? stride[r][rank - 1] : 0;

  // An operand in the output's place has its lines in the caches already.
  bool streams = rank == 1 && inner_stride[0] == 1 && size * static_cast<index_t>(sizeof(Out)) >= stream_least_bytes &&
                 reinterpret_cast<std::uintptr_t>(bound.out) % stream_alignment == 0;
  for (int r = 0; r < Leaves; ++r) streams = streams && bound.table.data[r] != static_cast<const void*>(bound.out);

  parallel_for(size, map_grain, [&](index_t begin, index_t end) {
    while (begin < end) {
      // Offsets of `begin`, then a run to the end of its innermost axis.
      index_t offset[static_cast<std::size_t>(rows)] = {};
      index_t linear = begin;
      for (int a = capacity - 1; a >= 0; --a) {
        if (a >= rank) continue;
        const index_t coordinate = a == 0 ? linear : linear % extent[a];
        linear = a == 0 ? 0 : linear / extent[a];
        for (int r = 0; r < rows; ++r) offset[r] += coordinate * stride[r][a];
      }
      const index_t left = rank > 1 ? inner - begin % inner : inner - begin;
      const index_t count = left < end - begin ? left : end - begin;
      vectorised(form_run<Form, Out, Leaves, void>{bound.form, bound.out + offset[0], inner_stride[0], bound.table.data,
                                                   offset + 1, inner_stride + 1, count, nullptr, streams});
      begin += count;
    }
    if (streams) stream_end();
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
