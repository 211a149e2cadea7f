// The output of row-wise kernels on the CPU: its columns run along one or more axes.
#pragma once

#include "heddle/kernels/cpu/form.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// Output and epilogue by rows and columns; `inner` says which axes the columns run along.
template <class Bound>
class row_sink {
  static constexpr int rows = Bound::leaves + 1;

 public:
  struct Position {
    index_t offset[static_cast<std::size_t>(rows)];
  };

  row_sink(const Bound& bound, const bool (&inner)[static_cast<std::size_t>(Bound::rank > 0 ? Bound::rank : 1)])
      : bound_(bound) {
    bool outer[static_cast<std::size_t>(Bound::rank > 0 ? Bound::rank : 1)] = {};
    for (int i = 0; i < Bound::rank; ++i) outer[i] = !inner[i];
    outer_ = group_axes<rows, Bound::rank>(bound, outer);
    inner_ = group_axes<rows, Bound::rank>(bound, inner);
  }

  Position at(index_t row) const {
    Position position{};
    outer_.advance(row, position.offset);
    return position;
  }
  /// What kernels write through, so that they are compiled once for all formulas.
  template <class V>
  value_sink<V> values() const {
    return {this, [](const void* self, index_t outer, index_t, index_t column, const V* from, index_t count) {
              const row_sink& to = *static_cast<const row_sink*>(self);
              to.store_row(to.at(outer), 0, column, from, count);
            }};
  }
  template <class V>
  HEDDLE_ALWAYS_INLINE void store(const Position& position, index_t, index_t column, V value) const {
    const V values[1] = {value};
    store_row(position, 0, column, values, 1);
  }
  /// `count` neighbouring columns, at most a chunk of them.
  template <class V>
  HEDDLE_ALWAYS_INLINE void store_row(const Position& position, index_t, index_t column, const V* values,
                                      index_t count) const {
    const int last = inner_.rank - 1;
    for (index_t done = 0; done < count;) {
      index_t now = count - done;
      if (Bound::rank > 1 && last > 0) {
        const index_t left = inner_.extent[last] - (column + done) % inner_.extent[last];
        now = left < now ? left : now;
      }
      index_t offset[static_cast<std::size_t>(rows)], stride[static_cast<std::size_t>(rows)];
      for (int r = 0; r < rows; ++r) {
        offset[r] = position.offset[r];
        stride[r] = last >= 0 ? inner_.stride[r][last] : 0;
      }
      inner_.advance(column + done, offset);
      store_run(offset, stride, values + done, static_cast<int>(now));
      done += now;
    }
  }

 private:
  template <class V>
  HEDDLE_ALWAYS_INLINE void store_run(const index_t* offset, const index_t* stride, const V* values, int count) const {
    vectorised(form_run<typename Bound::form_type, typename Bound::out_type, Bound::leaves, V>{
        bound_.form, bound_.out + offset[Bound::leaves], stride[Bound::leaves], bound_.table.data, offset, stride,
        count, values});
  }

  Bound bound_;
  axis_group<rows, Bound::rank> outer_;
  axis_group<rows, Bound::rank> inner_;
};

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
