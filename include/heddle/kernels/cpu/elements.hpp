// Elements of a formula, and of an output with its epilogue, by offsets: for kernels that find their own way through
// memory.
#pragma once

#include "heddle/kernels/axis_table.hpp"
#include "heddle/kernels/cpu/form.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// An operand formula, read from one offset a leaf.
template <class Bound>
class elements {
  using Form = typename Bound::form_type;
  using Slots = std::make_integer_sequence<int, Bound::leaves>;

 public:
  static constexpr int rows = Bound::leaves;
  using value_type = compute_type<typename Bound::out_type>;

  explicit elements(const Bound& bound) : form_(bound.form) {
    for (int r = 0; r < rows; ++r) data_[r] = bound.table.data[r];
  }
  value_type load(const index_t* offset, int) const { return load_one(offset, Slots{}); }
  /// At most a chunk of elements, `step` apart.
  void load_chunk(const index_t* offset, const index_t* step, int, int count, value_type* value) const {
    vectorised(form_run<Form, value_type, Bound::leaves, void>{form_, value, 1, data_, offset, step, count, nullptr});
  }

 private:
  template <class T>
  struct single {
    compute_type<T> lane[1];
  };
  template <class T>
  static compute_type<T> load_one(const void* data, index_t offset) {
    if constexpr (std::is_same_v<T, element_number>)
      return {number_at(data, offset)};
    else
      return static_cast<compute_type<T>>(static_cast<const T*>(data)[offset]);
  }
  template <int... S>
  value_type load_one([[maybe_unused]] const index_t* offset, std::integer_sequence<int, S...>) const {
    const pack<single<typename leaf_type<S, Form>::type>...> lanes{
        {{load_one<typename leaf_type<S, Form>::type>(data_[S], offset[S])}}...};
    return lane_value<Form>::at(form_, lanes, 0, 0);
  }

  Form form_;
  const void* data_[static_cast<std::size_t>(rows > 0 ? rows : 1)] = {};
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
  value_type load(const index_t* offset, int piece) const { return static_cast<value_type>(data_[piece][offset[0]]); }
  void load_chunk(const index_t* offset, const index_t* step, int piece, int count, value_type* value) const {
    const T* const from = data_[piece] + offset[0];
    for (int j = 0; j < count; ++j) value[j] = static_cast<value_type>(from[j * step[0]]);
  }

 private:
  const T* data_[static_cast<std::size_t>(Pieces)];
};

/// An output and the maps above it, written from one offset a row on: row 0 is the output's, the others the epilogue's.
template <class Bound>
class writer {
  using Form = typename Bound::form_type;
  using Out = typename Bound::out_type;

 public:
  static constexpr int rows = Bound::leaves + 1;

  explicit writer(const Bound& bound) : form_(bound.form), out_(bound.out) {
    for (int r = 0; r < Bound::leaves; ++r) data_[r] = bound.table.data[r];
  }
  /// At most a chunk of values, `step` apart.
  template <class V>
  void store_chunk(const index_t* offset, const index_t* step, int count, const V* value) const {
    vectorised(form_run<Form, Out, Bound::leaves, V>{form_, out_ + offset[0], step[0], data_, offset + 1, step + 1,
                                                     count, value});
  }

 private:
  Form form_;
  Out* out_;
  const void* data_[static_cast<std::size_t>(Bound::leaves > 0 ? Bound::leaves : 1)] = {};
};

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
