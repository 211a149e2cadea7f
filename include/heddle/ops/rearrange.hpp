// What operations share that move elements: the table of the output's axes, what the elements come from, and the choice
// of a kernel.
#pragma once

#include "heddle/expr/producer.hpp"
#include "heddle/kernels/cpu/rearrange.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/copy_runs.cuh"
#include "heddle/kernels/cuda/copy_staged.cuh"
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

/// The memory of a tensor whose elements are moved.
struct moved_memory {
  const void* origin = nullptr;  ///< what a locator's offsets count from
  const void* first = nullptr;   ///< the first element
  OffsetSpan span{0, -1};
  index_t size = 0;

  moved_memory() = default;
  template <int Rank>
  moved_memory(const void* data, const Shape<Rank>& shape, const Strides<Rank>& strides)
      : origin(data), first(data), size(shape.size()) {
    if (size > 0) span = offset_span(shape, strides);
  }
  /// What lies in gaps may never have been written: only memory without gaps is read in pieces.
  bool is_dense() const { return size == span.highest - span.lowest + 1 && size <= fast_division_limit; }
};

/// Elements of a bound formula.
template <class From>
struct formula_elements {
  using element_type = typename From::out_type;
  static constexpr bool is_tensor =
      From::leaves == 1 && std::is_same_v<typename From::form_type, leaf_form<element_type, 0>>;
  static constexpr int pieces = 1;
  const From& from;

  void memory(moved_memory* to) const {
    Strides<From::rank> strides;
    if constexpr (From::rank > 0) {
      for (int i = 0; i < From::rank; ++i) strides[i] = from.table.stride[0][i];
    }
    to[0] = {from.table.data[0], from.shape, strides};
  }
  /// Whether 32 bits reach all of it.
  bool is_small() const {
    for (int r = 0; r < From::leaves; ++r) {
      index_t reach = 0;
      if constexpr (From::rank > 0) {
        for (int i = 0; i < From::rank && reach <= fast_division_limit; ++i) {
          const index_t step = from.table.stride[r][i];
          reach += (step < 0 ? -step : step) * from.shape[i];
        }
      }
      if (reach > fast_division_limit) return false;
    }
    return true;
  }
  auto on_cpu() const { return heddle::on_cpu::elements<From>(from); }
#if HEDDLE_CUDA_COMPILER
  auto on_cuda() const { return heddle::on_cuda::elements<From>(from); }
#endif
};

/// Elements of several tensors.
template <class T, int Pieces>
struct tensor_elements {
  using element_type = T;
  static constexpr bool is_tensor = true;
  static constexpr int pieces = Pieces;
  moved_memory tensor[static_cast<std::size_t>(Pieces)];

  void memory(moved_memory* to) const {
    for (int p = 0; p < Pieces; ++p) to[p] = tensor[p];
  }
  bool is_small() const { return true; }  // the strides of all of them are in the table
  auto on_cpu() const {
    const T* origin[static_cast<std::size_t>(Pieces)];
    for (int p = 0; p < Pieces; ++p) origin[p] = static_cast<const T*>(tensor[p].origin);
    return heddle::on_cpu::piece_elements<T, Pieces>(origin);
  }
#if HEDDLE_CUDA_COMPILER
  auto on_cuda() const {
    const T* origin[static_cast<std::size_t>(Pieces)];
    for (int p = 0; p < Pieces; ++p) origin[p] = static_cast<const T*>(tensor[p].origin);
    return heddle::on_cuda::piece_elements<T, Pieces>(origin);
  }
#endif
};

/// Whether elements go from tensors to the output as they are.
template <class Elements, class Bound>
inline constexpr bool is_plain_move_v = Elements::is_tensor&& std::is_same_v<typename Bound::form_type, hole_form>&&
    std::is_same_v<typename Elements::element_type, typename Bound::out_type>;

/// What a move is called in messages, and the axis that its indices are for.
struct move_name {
  const char* operation;
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

/// Copies by the kernel that serves this kind of move best; false where none does.
template <class T, class Table, class Locator>
bool copy_on_cuda(const Table& table, const Locator& locator, const moved_memory* memory, T fill, T* out,
                  const on_cuda::index_check& check, const on_cuda::launch_context& context) {
  constexpr int bytes = static_cast<int>(sizeof(T));
  if (!table.is_dense() || reinterpret_cast<std::uintptr_t>(out) % 16 != 0) return false;
  on_cuda::copy_source source[static_cast<std::size_t>(Locator::pieces)];
  for (int p = 0; p < Locator::pieces; ++p) {
    if (!memory[p].is_dense()) return false;
    source[p] = {memory[p].first, memory[p].origin, memory[p].span, bytes};
  }
  if constexpr (Locator::keeps_neighbours) {
    on_cuda::copy_staged<bytes>(table, locator, source, out, repeated_bytes(fill), context);
  } else if constexpr (Locator::rows > 0) {
    constexpr index_t long_run = 64;
    if (!locator.in_runs() || locator.step(0, 0) != 1 || table.extent[Table::capacity - 1] < long_run) return false;
    on_cuda::copy_runs<bytes>(table, locator, source[0], out, repeated_bytes(fill), check, context);
  } else {
    return false;
  }
  return true;
}
#endif

/// Computes the output from what `make_locator(std::type_identity<Index>{})` tells. The table is merged, and its first
/// rows are the output's.
template <class Table, class MakeLocator, class Elements, class Bound, class Device>
void move_elements(const Table& table, const MakeLocator& make_locator, const Elements& elements,
                   compute_type<typename Elements::element_type> fill, const Bound& bound,
                   [[maybe_unused]] Device device, [[maybe_unused]] const move_name& name) {
  using T = typename Elements::element_type;
  if constexpr (runs_here<Device>() && std::is_same_v<Device, Cpu>) {
    const auto locator = make_locator(std::type_identity<index_t>{});
    if constexpr (is_plain_move_v<Elements, Bound>) {
      moved_memory memory[static_cast<std::size_t>(Elements::pieces)];
      elements.memory(memory);
      const T* origin[static_cast<std::size_t>(Elements::pieces)];
      for (int p = 0; p < Elements::pieces; ++p) origin[p] = static_cast<const T*>(memory[p].origin);
      on_cpu::copy_runs(table, locator, origin, bound.out, static_cast<T>(fill));
    } else {
      on_cpu::rearrange(table, locator, elements.on_cpu(), fill, bound);
    }
  } else {
#if HEDDLE_CUDA_COMPILER
    using Small = decltype(make_locator(std::type_identity<std::int32_t>{}));
    const on_cuda::launch_context context = on_cuda::current_context(device.index, name.operation);
    on_cuda::index_check check;
    if constexpr (Small::reads_indices) check = on_cuda::index_check(name.axis, name.extent, context);
    if (table.is_small() && elements.is_small()) {
      const Small locator = make_locator(std::type_identity<std::int32_t>{});
      if constexpr (is_plain_move_v<Elements, Bound>) {
        moved_memory memory[static_cast<std::size_t>(Elements::pieces)];
        elements.memory(memory);
        if (copy_on_cuda(table, locator, memory, static_cast<T>(fill), bound.out, check, context)) return;
      }
      on_cuda::rearrange<std::int32_t>(table, locator, elements.on_cuda(), fill, bound, check, context);
    } else {
      on_cuda::rearrange<index_t>(table, make_locator(std::type_identity<index_t>{}), elements.on_cuda(), fill, bound,
                                  check, context);
    }
#endif
  }
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
