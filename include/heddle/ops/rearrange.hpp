// What operations share that move elements: the table of the output's axes, and the choice of a kernel.
#pragma once

#include "heddle/expr/producer.hpp"
#include "heddle/kernels/cpu/rearrange.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/copy_runs.cuh"
#include "heddle/kernels/cuda/rearrange.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

/// The rows of a bound output in a table: its own strides, then those of its epilogue's leaves.
template <class Bound>
inline constexpr int output_rows = Bound::leaves + 1;

/// A table of the output's axes with `Extra` more rows, zeros so far; to be merged when they are filled.
template <int Extra, class Bound>
axis_table<output_rows<Bound> + Extra, Bound::rank> output_table(const Bound& bound) {
  axis_table<output_rows<Bound> + Extra, Bound::rank> table;
  table.rank = Bound::rank;
  if constexpr (Bound::rank > 0) {
    for (int i = 0; i < Bound::rank; ++i) {
      table.extent[i] = bound.shape[i];
      table.stride[0][i] = bound.out_stride[i];
      for (int r = 0; r < Bound::leaves; ++r) table.stride[1 + r][i] = bound.table.stride[r][i];
    }
  }
  return table;
}

/// A leaf's stride along an axis of the operand that stands `lead` axes further on in the output; 0 for axes before it.
template <class From>
index_t operand_stride(const From& from, int row, int output_axis, int lead) {
  if constexpr (From::rank > 0) {
    if (output_axis >= lead && output_axis - lead < From::rank) return from.table.stride[row][output_axis - lead];
  }
  return 0;
}

/// Whether elements go from a tensor to the output as they are.
template <class From, class Bound>
inline constexpr bool is_plain_move_v =
    std::is_same_v<typename Bound::form_type, hole_form> && From::leaves == 1 &&
    std::is_same_v<typename From::form_type, leaf_form<typename Bound::out_type, 0>>;

/// The strides of a bound operand's only leaf.
template <class From>
OffsetSpan leaf_span(const From& from) {
  Strides<From::rank> strides;
  for (int i = 0; i < From::rank; ++i) strides[i] = from.table.stride[0][i];
  return from.shape.size() == 0 ? OffsetSpan{0, -1} : offset_span(from.shape, strides);
}

/// The axis that indices are for, for messages about them.
struct indexed_axis {
  int axis = 0;
  index_t extent = 0;
};

#if HEDDLE_CUDA_COMPILER
/// 16 bytes of one value.
template <class T>
uint4 repeated_bytes(T value) {
  unsigned char bytes[16];
  for (std::size_t i = 0; i < 16 / sizeof(T); ++i) std::memcpy(bytes + i * sizeof(T), &value, sizeof(T));
  uint4 pattern;
  std::memcpy(&pattern, bytes, 16);
  return pattern;
}
#endif

/// Computes the output by a locator. The table is merged; its first rows are the output's, then come the operand's.
/// `source` gives the memory of a plain move; `in_runs` tells whether places along the innermost axis are mostly
/// neighbours in the operand.
template <class Table, class Locator, class From, class Bound, class Device>
void move_elements(const Table& table, const Locator& locator, const From& from, [[maybe_unused]] bool in_runs,
                   compute_type<typename From::out_type> fill, const Bound& bound, [[maybe_unused]] Device device,
                   [[maybe_unused]] const indexed_axis& indexed, [[maybe_unused]] const char* operation) {
  using T = typename Bound::out_type;
  if constexpr (runs_here<Device>() && std::is_same_v<Device, Cpu>) {
    if constexpr (is_plain_move_v<From, Bound>)
      on_cpu::copy_runs(table, locator, static_cast<const T*>(from.table.data[0]), bound.out, static_cast<T>(fill));
    else
      on_cpu::rearrange(table, locator, on_cpu::elements<From>(from), fill, bound);
  } else {
#if HEDDLE_CUDA_COMPILER
    const on_cuda::launch_context context = on_cuda::current_context(device.index, operation);
    on_cuda::index_check check;
    if constexpr (Locator::reads_indices) check = on_cuda::index_check(indexed.axis, indexed.extent, context);
    if constexpr (is_plain_move_v<From, Bound>) {
      if (in_runs && on_cuda::has_long_runs(table) && on_cuda::is_dense_output(table, bound.out) &&
          table.stride[output_rows<Bound>][table.rank - 1] == 1) {
        constexpr int bytes = static_cast<int>(sizeof(T));
        const on_cuda::copy_source source(from.table.data[0], leaf_span(from), bytes);
        on_cuda::copy_runs<bytes>(table, locator, source, bound.out, repeated_bytes(static_cast<T>(fill)), check,
                                  context);
        return;
      }
    }
    on_cuda::rearrange(table, locator, on_cuda::elements<From>(from), fill, bound, check, context);
#endif
  }
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
