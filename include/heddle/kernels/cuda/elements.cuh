// Elements of a formula, and of an output with its epilogue, by offsets: for kernels that find their own way through
// memory. And what such a kernel does with an index that is out of range.
#pragma once

#include "heddle/cuda/fault.hpp"
#include "heddle/kernels/axis_table.hpp"
#include "heddle/kernels/cuda/form.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// An operand formula, read at one offset a leaf.
template <class Bound>
class elements {
  static constexpr int held = Bound::leaves > 0 ? Bound::leaves : 1;
  using Form = typename Bound::form_type;

 public:
  static constexpr int rows = Bound::leaves;
  using value_type = compute_type<typename Bound::out_type>;

  explicit elements(const Bound& bound) : form_(bound.form) {
    for (int r = 0; r < rows; ++r) data_[r] = bound.table.data[r];
  }
  template <class Index>
  __device__ __forceinline__ value_type load(const Index* offset, int) const {
    registers_t<Form, Bound::leaves, 1> registers;
    index_t at[static_cast<std::size_t>(held)];
#pragma unroll
    for (int r = 0; r < rows; ++r) at[r] = offset[r];
    load_element<Form>(registers, data_, at, std::make_integer_sequence<int, Bound::leaves>{});
    return static_cast<value_type>(lane_value<Form>::at(form_, registers, 0, 0));
  }

 private:
  Form form_;
  const void* data_[static_cast<std::size_t>(held)];
};

/// Tensors of one type, one of which is read.
template <class T, int Pieces>
class piece_elements {
 public:
  static constexpr int rows = 1;
  using value_type = compute_type<T>;

  explicit piece_elements(const T* const* data) {
    for (int p = 0; p < Pieces; ++p) data_[p] = data[p];
  }
  template <class Index>
  __device__ __forceinline__ value_type load(const Index* offset, int piece) const {
    return static_cast<value_type>(data_[piece][static_cast<index_t>(offset[0])]);
  }

 private:
  const T* data_[static_cast<std::size_t>(Pieces)];
};

/// An output and the maps above it, written at one offset a row: row 0 is the output's, the others the epilogue's.
template <class Bound>
class writer {
  using Form = typename Bound::form_type;
  using Out = typename Bound::out_type;

 public:
  static constexpr int rows = Bound::leaves + 1;

  explicit writer(const Bound& bound) : form_(bound.form), out_(bound.out) {
    for (int r = 0; r < Bound::leaves; ++r) data_[r] = bound.table.data[r];
  }
  template <class Index, class V>
  __device__ __forceinline__ void store(const Index* offset, V value) const {
    registers_t<Form, Bound::leaves, 1> registers;
    index_t at[static_cast<std::size_t>(rows)];
#pragma unroll
    for (int r = 0; r < rows; ++r) at[r] = offset[r];
    load_element<Form>(registers, data_, at + 1, std::make_integer_sequence<int, Bound::leaves>{});
    out_[at[0]] = cast_element<Out>(lane_value<Form>::at(form_, registers, value, 0));
  }

 private:
  Form form_;
  Out* out_;
  const void* data_[static_cast<std::size_t>(Bound::leaves > 0 ? Bound::leaves : 1)];
};

/// What a kernel needs to report an index.
struct index_check {
  cuda::IndexFault* record = nullptr;
  const char* operation = nullptr;
  index_t extent = 0;
  int axis = 0;

  index_check() = default;
  index_check(int axis_number, index_t axis_extent, const launch_context& context)
      : record(cuda::index_fault_record(context.device)),
        operation(context.operation),
        extent(axis_extent),
        axis(axis_number) {}

  /// Notes the index for the host, unless another one is noted already.
  __device__ void report(index_t index) const {
    if (atomicCAS_system(&record->state, 0U, 1U) != 0U) return;
    record->axis = axis;
    record->index = index;
    record->extent = extent;
    record->operation = operation;
    __threadfence_system();
    atomicExch_system(&record->state, 2U);
  }
};

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
