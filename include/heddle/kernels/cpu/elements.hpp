// Elements of a formula, and of an output with its epilogue, by offsets: for kernels that find their own way through
// memory.
#pragma once

#include "heddle/kernels/cpu/form.hpp"
#include "heddle/kernels/rearrange.hpp"

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
  value_type load(const index_t* offset) const { return load_one(offset, Slots{}); }
  /// At most a chunk of elements, `step` apart.
  HEDDLE_ALWAYS_INLINE void load_chunk(const index_t* offset, const index_t* step, int count, value_type* value) const {
    lanes_t<Form, Bound::leaves> lanes;
    load_all<Form>(lanes, data_, offset, step, count, Slots{});
    const int no_hole = 0;
    if (count == chunk) {
      for (int j = 0; j < chunk; ++j) value[j] = lane_value<Form>::at(form_, lanes, no_hole, j);
    } else {
      for (int j = 0; j < count; ++j) value[j] = lane_value<Form>::at(form_, lanes, no_hole, j);
    }
  }

 private:
  template <class T>
  struct single {
    compute_type<T> lane[1];
  };
  template <int... S>
  value_type load_one([[maybe_unused]] const index_t* offset, std::integer_sequence<int, S...>) const {
    const pack<single<typename leaf_type<S, Form>::type>...> lanes{{{{static_cast<
        compute_type<typename leaf_type<S, Form>::type>>(
        static_cast<const typename leaf_type<S, Form>::type*>(data_[S])[offset[S]])}}...}};
    return lane_value<Form>::at(form_, lanes, 0, 0);
  }

  Form form_;
  const void* data_[static_cast<std::size_t>(rows > 0 ? rows : 1)] = {};
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
  HEDDLE_ALWAYS_INLINE void store_chunk(const index_t* offset, const index_t* step, int count, const V* value) const {
    lanes_t<Form, Bound::leaves> lanes;
    load_all<Form>(lanes, data_, offset + 1, step + 1, count, std::make_integer_sequence<int, Bound::leaves>{});
    Out result[chunk];
    if (count == chunk) {
      for (int j = 0; j < chunk; ++j)
        result[j] = cast_element<Out>(lane_value<Form>::at(form_, lanes, value, j));
    } else {
      for (int j = 0; j < count; ++j) result[j] = cast_element<Out>(lane_value<Form>::at(form_, lanes, value, j));
    }
    store_lanes(out_ + offset[0], step[0], result, count);
  }

 private:
  Form form_;
  Out* out_;
  const void* data_[static_cast<std::size_t>(Bound::leaves > 0 ? Bound::leaves : 1)] = {};
};

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
