// Formulas on the CPU: a form is evaluated over a chunk of lanes in local arrays, so that the loop over the lanes
// vectorises.
#pragma once

#include "heddle/core/cast.hpp"
#include "heddle/expr/form.hpp"
#include "heddle/expr/space.hpp"
#include "heddle/kernels/cpu/isa.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// One leaf's elements of a chunk, in the type that formulas compute in.
template <class T>
struct lane_array {
  compute_type<T> lane[chunk];
};

template <class Form, class Slots>
struct lanes_of;
template <class Form, int... S>
struct lanes_of<Form, std::integer_sequence<int, S...>> {
  using type = pack<lane_array<typename leaf_type<S, Form>::type>...>;
};
/// The lanes of all leaves of a form.
template <class Form, int Leaves>
using lanes_t = typename lanes_of<Form, std::make_integer_sequence<int, Leaves>>::type;

template <class Argument, class T>
HEDDLE_ALWAYS_INLINE auto as_argument(T value) {
  if constexpr (std::is_void_v<Argument> || std::is_same_v<Argument, T>)
    return value;
  else
    return cast_element<Argument>(value);
}

/// Functors may have a form of their own for the CPU's vector loops: `on_host(x…)`, next to operator().
template <class F, class... A>
HEDDLE_ALWAYS_INLINE auto call(const F& functor, A... arguments) {
  // Of the same type: a double would else be narrowed to the form for floats.
  if constexpr (requires {
                  requires std::is_same_v<decltype(functor.on_host(arguments...)), decltype(functor(arguments...))>;
                })
    return functor.on_host(arguments...);
  else
    return functor(arguments...);
}

/// The value of a form at lane j.
template <class Form>
struct lane_value;
template <class T, int Slot>
struct lane_value<leaf_form<T, Slot>> {
  template <class Lanes, class Hole>
  static HEDDLE_ALWAYS_INLINE compute_type<T> at(const leaf_form<T, Slot>&, const Lanes& lanes, const Hole&, int j) {
    return slot<Slot>(lanes).lane[j];
  }
};
template <class T>
struct lane_value<constant_form<T>> {
  template <class Lanes, class Hole>
  static HEDDLE_ALWAYS_INLINE T at(const constant_form<T>& form, const Lanes&, const Hole&, int) {
    return form.value;
  }
};
template <>
struct lane_value<hole_form> {
  template <class Lanes, class Hole>
  static HEDDLE_ALWAYS_INLINE auto at(const hole_form&, const Lanes&, const Hole& hole, int j) {
    return hole[j];
  }
};
template <class F, class Argument, class Result, class... Children>
struct lane_value<map_form<F, Argument, Result, Children...>> {
  template <class Lanes, class Hole>
  static HEDDLE_ALWAYS_INLINE compute_type<Result> at(const map_form<F, Argument, Result, Children...>& form,
                                                      const Lanes& lanes, const Hole& hole, int j) {
    return at(form, lanes, hole, j, std::make_integer_sequence<int, static_cast<int>(sizeof...(Children))>{});
  }

 private:
  template <class Lanes, class Hole, int... I>
  static HEDDLE_ALWAYS_INLINE compute_type<Result> at(const map_form<F, Argument, Result, Children...>& form,
                                                      const Lanes& lanes, const Hole& hole, int j,
                                                      std::integer_sequence<int, I...>) {
    return cast_element<compute_type<Result>>(
        call(form.functor, as_argument<Argument>(lane_value<Children>::at(slot<I>(form.children), lanes, hole, j))...));
  }
};

/// Fills the lanes of one leaf from memory. `count` < chunk leaves the rest as zeros.
template <class T>
HEDDLE_ALWAYS_INLINE void load_lanes(lane_array<T>& lanes, const T* from, index_t stride, int count) {
  if (count == chunk) {
    if (stride == 1) {
      for (int j = 0; j < chunk; ++j) lanes.lane[j] = static_cast<compute_type<T>>(from[j]);
    } else if (stride == 0) {
      const compute_type<T> value = static_cast<compute_type<T>>(*from);
      for (int j = 0; j < chunk; ++j) lanes.lane[j] = value;
    } else {
      for (int j = 0; j < chunk; ++j) lanes.lane[j] = static_cast<compute_type<T>>(from[j * stride]);
    }
  } else {
    for (int j = 0; j < chunk; ++j) lanes.lane[j] = compute_type<T>{};
    for (int j = 0; j < count; ++j) lanes.lane[j] = static_cast<compute_type<T>>(from[j * stride]);
  }
}

template <class T>
HEDDLE_ALWAYS_INLINE void store_lanes(T* to, index_t stride, const T (&lanes)[chunk], int count) {
  if (count == chunk && stride == 1) {
    for (int j = 0; j < chunk; ++j) to[j] = lanes[j];
  } else {
    for (int j = 0; j < count; ++j) to[j * stride] = lanes[j];
  }
}

template <class Form, class Lanes, int... S>
HEDDLE_ALWAYS_INLINE void load_all([[maybe_unused]] Lanes& lanes, [[maybe_unused]] const void* const* data,
                                   [[maybe_unused]] const index_t* offset, [[maybe_unused]] const index_t* stride,
                                   [[maybe_unused]] int count, std::integer_sequence<int, S...>) {
  (load_lanes<typename leaf_type<S, Form>::type>(
       slot<S>(lanes), static_cast<const typename leaf_type<S, Form>::type*>(data[S]) + offset[S], stride[S], count),
   ...);
}

/// A group of axes walked by one linear index, for all leaves of a formula (and its output, in row Rows - 1 if there is
/// one).
template <int Rows, int Rank>
struct axis_group {
  static constexpr int capacity = Rank > 0 ? Rank : 1;
  int rank = 0;
  index_t extent[static_cast<std::size_t>(capacity)] = {};
  index_t stride[static_cast<std::size_t>(Rows > 0 ? Rows : 1)][static_cast<std::size_t>(capacity)] = {};

  void add(const index_t axis_extent) { extent[rank++] = axis_extent; }
  void collapse() { rank = collapse_axes(rank, extent, &stride[0][0], Rows, capacity, false); }
  /// Adds the offsets of a linear index to each row's.
  void advance(index_t linear, index_t* offset) const {
    for (int a = capacity - 1; a >= 0; --a) {
      if (a >= rank) continue;
      const index_t coordinate = a == 0 ? linear : linear % extent[a];
      for (int r = 0; r < Rows; ++r) offset[r] += coordinate * stride[r][a];
      linear = a == 0 ? 0 : linear / extent[a];
    }
  }
};

/// Copies the chosen axes of a bound formula into a group. `with_out` puts the output's strides into the last row.
template <int Rows, int Rank, class Bound>
axis_group<Rows, Rank> group_axes(const Bound& bound,
                                  const bool (&chosen)[static_cast<std::size_t>(Rank > 0 ? Rank : 1)]) {
  axis_group<Rows, Rank> group;
  if constexpr (Rank > 0) {
    for (int i = 0; i < Rank; ++i) {
      if (!chosen[i]) continue;
      for (int r = 0; r < Bound::leaves; ++r) group.stride[r][group.rank] = bound.table.stride[r][i];
      if constexpr (Rows > Bound::leaves) group.stride[Bound::leaves][group.rank] = bound.out_stride[i];
      group.add(bound.shape[i]);
    }
  }
  group.collapse();
  return group;
}

/// An operand formula as a kernel reads it: `outer` walks the axes that are kept, `inner` those that are reduced.
template <class Bound>
class source {
  static constexpr int rows = Bound::leaves > 0 ? Bound::leaves : 1;

 public:
  using value_type = compute_type<typename Bound::out_type>;
  struct Position {
    index_t offset[static_cast<std::size_t>(rows)];
  };

  source(const Bound& bound, const bool (&inner)[static_cast<std::size_t>(Bound::rank > 0 ? Bound::rank : 1)])
      : bound_(bound) {
    bool outer[static_cast<std::size_t>(Bound::rank > 0 ? Bound::rank : 1)] = {};
    for (int i = 0; i < Bound::rank; ++i) outer[i] = !inner[i];
    outer_ = group_axes<rows, Bound::rank>(bound, outer);
    inner_ = group_axes<rows, Bound::rank>(bound, inner);
  }

  Position at(index_t outer) const {
    Position position{};
    outer_.advance(outer, position.offset);
    return position;
  }
  HEDDLE_ALWAYS_INLINE value_type load(const Position& position, index_t inner) const {
    value_type value[chunk];
    load_chunk(position, inner, value, 1);
    return value[0];
  }
  /// `count` values from `inner` on, at most a chunk of them.
  HEDDLE_ALWAYS_INLINE void load_chunk(const Position& position, index_t inner, value_type (&value)[chunk],
                                       int count) const {
    if constexpr (Bound::rank > 1) {
      if (inner_.rank > 1) return chunk_across(position, inner, inner_, value, count);
    }
    run(position, inner, inner_, value, 0, count);
  }
  /// True if consecutive inner indices are one axis for every leaf, so that load_chunk reads a chunk at a time.
  bool inner_is_contiguous() const { return inner_.rank <= 1; }
  /// True if consecutive outer indices are one axis with stride 0 or 1 for every leaf.
  bool outer_is_contiguous() const {
    if (outer_.rank > 1) return false;
    for (int r = 0; r < Bound::leaves; ++r)
      if (outer_.rank == 1 && outer_.stride[r][0] != 1 && outer_.stride[r][0] != 0) return false;
    return true;
  }
  /// `count` values of consecutive outer indices at one inner index; only where outer_is_contiguous().
  HEDDLE_ALWAYS_INLINE void load_outer_chunk(const Position& position, index_t inner, value_type (&value)[chunk],
                                             int count) const {
    Position moved = position;
    inner_.advance(inner, moved.offset);
    index_t stride[static_cast<std::size_t>(rows)] = {};
    for (int r = 0; r < rows; ++r) stride[r] = outer_.rank == 1 ? outer_.stride[r][0] : 0;
    evaluate(moved.offset, stride, value, 0, count);
  }

 private:
  template <class Group>
  HEDDLE_ALWAYS_INLINE void run(const Position& position, index_t inner, const Group& group, value_type (&value)[chunk],
                                int to, int count) const {
    index_t offset[static_cast<std::size_t>(rows)];
    index_t stride[static_cast<std::size_t>(rows)];
    for (int r = 0; r < rows; ++r) {
      stride[r] = group.rank == 1 ? group.stride[r][0] : 0;
      offset[r] = position.offset[r] + inner * stride[r];
    }
    evaluate(offset, stride, value, to, count);
  }
  // Several axes: the chunk is put together from runs of the innermost one.
  template <class Group>
  HEDDLE_ALWAYS_INLINE void chunk_across(const Position& position, index_t inner, const Group& group,
                                         value_type (&value)[chunk], int count) const {
    const int last = group.rank - 1;
    int done = 0;
    while (done < count) {
      const index_t linear = inner + done;
      const index_t left = group.extent[last] - linear % group.extent[last];
      const int now = left < count - done ? static_cast<int>(left) : count - done;
      index_t offset[static_cast<std::size_t>(rows)];
      index_t stride[static_cast<std::size_t>(rows)];
      for (int r = 0; r < rows; ++r) {
        offset[r] = position.offset[r];
        stride[r] = group.stride[r][last];
      }
      group.advance(linear, offset);
      evaluate(offset, stride, value, done, now);
      done += now;
    }
  }
  HEDDLE_ALWAYS_INLINE void evaluate(const index_t* offset, const index_t* stride, value_type (&value)[chunk], int to,
                                     int count) const {
    lanes_t<typename Bound::form_type, Bound::leaves> lanes;
    load_all<typename Bound::form_type>(lanes, bound_.table.data, offset, stride, count,
                                        std::make_integer_sequence<int, Bound::leaves>{});
    const int no_hole = 0;
    if (count == chunk) {
      for (int j = 0; j < chunk; ++j)
        value[j] = lane_value<typename Bound::form_type>::at(bound_.form, lanes, no_hole, j);
    } else {
      for (int j = 0; j < count; ++j)
        value[to + j] = lane_value<typename Bound::form_type>::at(bound_.form, lanes, no_hole, j);
    }
  }

  Bound bound_;
  axis_group<rows, Bound::rank> outer_;
  axis_group<rows, Bound::rank> inner_;
};

/// Output and epilogue as a kernel writes them: `outer` walks the remaining axes, row and column one axis each (-1:
/// none).
template <class Bound>
class sink {
  static constexpr int rows = Bound::leaves + 1;

 public:
  struct Position {
    index_t offset[static_cast<std::size_t>(rows)];
  };

  sink(const Bound& bound, int row_axis, int column_axis) : bound_(bound) {
    bool outer[static_cast<std::size_t>(Bound::rank > 0 ? Bound::rank : 1)] = {};
    for (int i = 0; i < Bound::rank; ++i) outer[i] = i != row_axis && i != column_axis;
    outer_ = group_axes<rows, Bound::rank>(bound, outer);
    for (int r = 0; r < rows; ++r) {
      row_stride_[r] = row_axis < 0 ? 0 : stride_of(r, row_axis);
      column_stride_[r] = column_axis < 0 ? 0 : stride_of(r, column_axis);
    }
  }

  Position at(index_t outer) const {
    Position position{};
    outer_.advance(outer, position.offset);
    return position;
  }
  template <class V>
  HEDDLE_ALWAYS_INLINE void store(const Position& position, index_t row, index_t column, V value) const {
    const V values[1] = {value};
    store_row(position, row, column, values, 1);
  }
  /// `count` neighbours along the column axis, however many.
  template <class V>
  HEDDLE_ALWAYS_INLINE void store_row(const Position& position, index_t row, index_t column, const V* values,
                                      index_t count) const {
    for (index_t done = 0; done < count; done += chunk) {
      const int now = count - done < chunk ? static_cast<int>(count - done) : chunk;
      index_t offset[static_cast<std::size_t>(rows)];
      for (int r = 0; r < rows; ++r)
        offset[r] = position.offset[r] + row * row_stride_[r] + (column + done) * column_stride_[r];
      store_chunk(offset, column_stride_, values + done, now);
    }
  }

 private:
  index_t stride_of(int r, int axis_number) const {
    return r < Bound::leaves ? bound_.table.stride[r][axis_number] : bound_.out_stride[axis_number];
  }
  template <class V>
  HEDDLE_ALWAYS_INLINE void store_chunk(const index_t* offset, const index_t* stride, const V* values,
                                        int count) const {
    using Out = typename Bound::out_type;
    lanes_t<typename Bound::form_type, Bound::leaves> lanes;
    load_all<typename Bound::form_type>(lanes, bound_.table.data, offset, stride, count,
                                        std::make_integer_sequence<int, Bound::leaves>{});
    Out result[chunk];
    if (count == chunk) {
      for (int j = 0; j < chunk; ++j)
        result[j] = cast_element<Out>(lane_value<typename Bound::form_type>::at(bound_.form, lanes, values, j));
    } else {
      for (int j = 0; j < count; ++j)
        result[j] = cast_element<Out>(lane_value<typename Bound::form_type>::at(bound_.form, lanes, values, j));
    }
    store_lanes(bound_.out + offset[Bound::leaves], stride[Bound::leaves], result, count);
  }

  Bound bound_;
  axis_group<rows, Bound::rank> outer_;
  index_t row_stride_[static_cast<std::size_t>(rows)];
  index_t column_stride_[static_cast<std::size_t>(rows)];
};

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
