// Formulas on the CPU: a form is evaluated over a chunk of lanes in local arrays, so that the loop over the lanes
// vectorises.
#pragma once

#include <cstdint>
#include <cstring>

#include "heddle/core/cast.hpp"
#include "heddle/expr/form.hpp"
#include "heddle/expr/numbers.hpp"
#include "heddle/expr/space.hpp"
#include "heddle/kernels/cpu/isa.hpp"
#include "heddle/kernels/cpu/lane_value.hpp"
#include "heddle/kernels/cpu/stream.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

// A formula is one function an instruction set, form_run. What does not depend on the formula, the loads and stores of
// each element type, stands in functions of its own, and kernels see operands and outputs through function pointers, a
// chunk at a time: so a program's code and its compile time grow little with the number of its formulas.

/// Results that are computed before they are written around the caches.
inline constexpr int stream_chunk = 4 * chunk;

/// Converts or copies a full chunk of neighbours.
template <class T>
struct convert_chunk {
  compute_type<T>* lanes;
  const T* from;
  HEDDLE_ALWAYS_INLINE void operator()() const {
    for (int j = 0; j < chunk; ++j) lanes[j] = static_cast<compute_type<T>>(from[j]);
  }
};

/// Fills the lanes of one leaf from memory, with zeros from `count` to the end of its block.
template <class T>
[[gnu::noinline]] void load_lanes(compute_type<T>* lanes, const T* from, index_t stride, int count) {
  if (stride == 1 && count == chunk) {
    if constexpr (std::is_same_v<T, compute_type<T>>)
      std::memcpy(lanes, from, sizeof(T) * chunk);
    else
      vectorised(convert_chunk<T>{lanes, from});
    return;
  }
  if (stride == 0) {
    const compute_type<T> value = static_cast<compute_type<T>>(*from);
    for (int j = 0; j < count; ++j) lanes[j] = value;
  } else {
    for (int j = 0; j < count; ++j) lanes[j] = static_cast<compute_type<T>>(from[j * stride]);
  }
  for (int j = count; j % lane_block != 0; ++j) lanes[j] = compute_type<T>{};
}

/// Whether elements lie in memory as formulas compute with them.
template <class T>
inline constexpr bool is_direct = std::is_same_v<T, compute_type<T>> && !std::is_same_v<T, element_number>;

/// The lanes of one leaf from `done` on: whole blocks of neighbours where they are, anything else gathered in `held`,
/// at most a chunk.
template <class T>
HEDDLE_ALWAYS_INLINE const compute_type<T>* lanes_of_leaf(compute_type<T>* held, const void* data, index_t offset,
                                                          index_t stride, index_t done, index_t count) {
  if constexpr (std::is_same_v<T, element_number>) {
    const index_t first = number_at(data, offset + done * stride);
    for (int j = 0; j < chunk; ++j) held[j].value = first + j * stride;
  } else {
    const T* const from = static_cast<const T*>(data) + offset + done * stride;
    if constexpr (is_direct<T>) {
      if (stride == 1 && count % lane_block == 0) return from;
    }
    // One element for all lanes is there since the first chunk.
    if (stride != 0 || done == 0) load_lanes<T>(held, from, stride, static_cast<int>(count));
  }
  return held;
}

template <class T>
[[gnu::noinline]] void store_lanes(T* to, index_t stride, const T* lanes, int count) {
  if (stride == 1) {
    std::memcpy(to, lanes, sizeof(T) * static_cast<std::size_t>(count));
  } else {
    for (int j = 0; j < count; ++j) to[j * stride] = lanes[j];
  }
}

/// No producer's values.
struct no_hole {};

/// Whether a form only moves elements: of one tensor, or the values of a producer of type V.
template <class Form, class Out, class V>
inline constexpr bool is_copy = false;
template <class Out, int Slot, class V>
inline constexpr bool is_copy<leaf_form<Out, Slot>, Out, V> = is_direct<Out>;
template <class Out>
inline constexpr bool is_copy<hole_form, Out, Out> = is_direct<Out>;

/// Computes `count` elements of a form along one axis of its leaves: the loop that vectorises. `hole`: the values of
/// the producer whose epilogue the form is, or null.
template <class Form, class Out, int Leaves, class V>
struct form_run {
  const Form& form;
  Out* out;
  index_t out_stride;
  const void* const* data;
  const index_t* offset;
  const index_t* stride;
  index_t count;
  const V* hole;
  bool streams = false;  ///< writes around the caches: `out` is aligned for stream_lines and nobody reads it soon

  HEDDLE_ALWAYS_INLINE void operator()() const { run(std::make_integer_sequence<int, Leaves>{}); }

 private:
  /// Whether all elements lie side by side as they are computed: then they need no array in between.
  template <int... S>
  HEDDLE_ALWAYS_INLINE bool all_direct(std::integer_sequence<int, S...>) const {
    return out_stride == 1 && ((is_direct<typename leaf_type<S, Form>::type> && stride[S] == 1) && ...);
  }
  template <int... S>
  HEDDLE_ALWAYS_INLINE void run(std::integer_sequence<int, S...> leaves) const {
    // A copy of its own: what others may see could change by writing the results, and the loop would not vectorise.
    [[maybe_unused]] const Form own = form;
    // What the loop needs in registers is loaded once a step: long ones, where nothing is gathered.
    index_t step = chunk;
    if (all_direct(leaves)) step = streams ? stream_chunk : count - count % lane_block;
    if (step == 0) step = chunk;
    [[maybe_unused]] Out apart[stream_chunk];
    [[maybe_unused]] lane_arrays_t<Form, Leaves> held;
    [[maybe_unused]] std::conditional_t<std::is_void_v<V>, no_hole, lane_array<V>> held_hole;
    for (index_t done = 0; done < count; done += step) {
      const index_t now = count - done < step ? count - done : step;
      lane_pointers_t<Form, Leaves> lanes{{lanes_of_leaf<typename leaf_type<S, Form>::type>(
          slot<S>(held).lane, data[S], offset[S], stride[S], done, now)}...};
      if constexpr (form_words<Form>::any) form_words<Form>::fill(own, lanes, held, stride, static_cast<int>(now));
      std::conditional_t<std::is_void_v<V>, no_hole, lane_pointer<V>> values;
      if constexpr (!std::is_void_v<V>) values.lane = lanes_of_leaf<V>(held_hole.lane, hole, 0, 1, done, now);
      const bool in_place = out_stride == 1 && now % lane_block == 0 && !streams;
      if constexpr (is_copy<Form, Out, V>) {
        copy(lane_value<Form>::lanes(lanes, values), done, now, in_place);
      } else {
        Out* const to = in_place ? out + done : apart;
        for (index_t first = 0; first < now; first += lane_block) {
          if (streams) (prefetch_ahead<lane_block>(slot<S>(lanes).lane + first), ...);
          // An array that nothing else can point to: what is read can't change by writing it, and the loop vectorises.
          Out result[lane_block];
          if constexpr (is_limited<Form>) {
            beyond_served beyond;
            const limited_hole<std::remove_const_t<decltype(values)>> limited{{values}, &beyond};
            for (int j = 0; j < lane_block; ++j)
              result[j] = cast_element<Out>(lane_value<Form>::at(own, lanes, limited, first + j));
            if (beyond.bits != 0) compute_one_by_one(own, lanes, values, first, result);
          } else {
            for (int j = 0; j < lane_block; ++j)
              result[j] = cast_element<Out>(lane_value<Form>::at(own, lanes, values, first + j));
          }
          for (int j = 0; j < lane_block; ++j) to[first + j] = result[j];  // of vectors, which memcpy need not be
        }
        if (!in_place) copy(apart, done, now, false);
      }
    }
  }
  HEDDLE_ALWAYS_INLINE void copy(const Out* from, index_t done, index_t number, bool in_place) const {
    if (streams)
      stream_bytes(out + done, from, sizeof(Out) * static_cast<std::size_t>(number));
    else if (in_place)
      std::memmove(out + done, from, sizeof(Out) * static_cast<std::size_t>(number));
    else
      store_lanes(out + done * out_stride, out_stride, from, static_cast<int>(number));
  }
  template <class Lanes, class Hole>
  [[gnu::noinline, gnu::cold]] static void compute_one_by_one(const Form& own, const Lanes& lanes, const Hole& values,
                                                              index_t first, Out* result) {
    for (int j = 0; j < lane_block; ++j)
      result[j] = cast_element<Out>(lane_value<Form>::at(own, lanes, values, first + j));
  }
};

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
  /// Adds the offsets of a linear index to each row's and gives each row's step along the innermost axis; returns how
  /// many of `count` indices follow in that axis.
  int run(index_t linear, int count, index_t* offset, index_t* step) const {
    advance(linear, offset);
    for (int r = 0; r < Rows; ++r) step[r] = rank == 0 ? 0 : stride[r][innermost()];
    if (rank <= 1) return count;
    const index_t left = extent[innermost()] - linear % extent[innermost()];
    return left < count ? static_cast<int>(left) : count;
  }

 private:
  // Bounded by the capacity so that compilers see it too.
  int innermost() const { return rank <= 1 || capacity == 1 ? 0 : (rank < capacity ? rank : capacity) - 1; }
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

/// An operand formula as kernels read it: values of type V, a chunk at a time. `outer` walks the axes that are kept,
/// `inner` those that are reduced.
template <class V>
class value_source {
 public:
  using value_type = V;
  /// Where a group of inner values begins.
  struct Position {
    index_t outer;
  };
  using load_function = void (*)(const void* self, index_t outer, index_t inner, V* values, int count,
                                 bool along_outer);

  using address_function = const V* (*)(const void* self, index_t outer);

  value_source(const void* self, load_function load_values, address_function address, bool inner_is_one_axis,
               bool outer_is_contiguous)
      : self_(self),
        load_(load_values),
        address_(address),
        inner_is_one_axis_(inner_is_one_axis),
        outer_is_contiguous_(outer_is_contiguous) {}

  Position at(index_t outer) const { return {outer}; }
  V load(const Position& position, index_t inner) const {
    V value;
    load_(self_, position.outer, inner, &value, 1, false);
    return value;
  }
  /// `count` values from `inner` on, at most a chunk of them.
  void load_chunk(const Position& position, index_t inner, V (&values)[chunk], int count) const {
    load_(self_, position.outer, inner, values, count, false);
  }
  /// `count` values of consecutive outer indices at one inner index, at most a chunk of them.
  void load_outer_chunk(const Position& position, index_t inner, V (&values)[chunk], int count) const {
    load_(self_, position.outer, inner, values, count, true);
  }
  /// The memory of a group's inner values if they lie there side by side just as they are, else null.
  const V* in_place(const Position& position) const {
    return address_ == nullptr ? nullptr : address_(self_, position.outer);
  }
  /// True if consecutive inner indices are one axis for every leaf.
  bool inner_is_contiguous() const { return inner_is_one_axis_; }
  /// True if consecutive outer indices are one axis with stride 0 or 1 for every leaf.
  bool outer_is_contiguous() const { return outer_is_contiguous_; }

 private:
  const void* self_;
  load_function load_;
  address_function address_;
  bool inner_is_one_axis_;
  bool outer_is_contiguous_;
};

/// An operand formula with its axes grouped; kernels read it through values(), while this lives.
template <class Bound>
class source {
  static constexpr int rows = Bound::leaves > 0 ? Bound::leaves : 1;
  using Group = axis_group<rows, Bound::rank>;

 public:
  using value_type = compute_type<typename Bound::out_type>;

  source(const Bound& bound, const bool (&inner)[static_cast<std::size_t>(Bound::rank > 0 ? Bound::rank : 1)])
      : bound_(bound) {
    bool outer[static_cast<std::size_t>(Bound::rank > 0 ? Bound::rank : 1)] = {};
    for (int i = 0; i < Bound::rank; ++i) outer[i] = !inner[i];
    outer_ = group_axes<rows, Bound::rank>(bound, outer);
    inner_ = group_axes<rows, Bound::rank>(bound, inner);
  }

  value_source<value_type> values() const {
    return {this, load, is_in_place() ? address : nullptr, inner_.rank <= 1, outer_is_contiguous()};
  }

 private:
  static constexpr bool is_one_tensor = std::is_same_v<typename Bound::form_type, leaf_form<value_type, 0>>;
  bool is_in_place() const { return is_one_tensor && inner_.rank == 1 && inner_.stride[0][0] == 1; }
  static const value_type* address(const void* self, index_t outer) {
    const source& from = *static_cast<const source*>(self);
    index_t base[static_cast<std::size_t>(rows)] = {};
    from.outer_.advance(outer, base);
    return static_cast<const value_type*>(from.bound_.table.data[0]) + base[0];
  }
  static void load(const void* self, index_t outer, index_t inner, value_type* values, int count, bool along_outer) {
    const source& from = *static_cast<const source*>(self);
    const Group& walked = along_outer ? from.outer_ : from.inner_;
    index_t base[static_cast<std::size_t>(rows)] = {};
    (along_outer ? from.inner_ : from.outer_).advance(along_outer ? inner : outer, base);
    const index_t first = along_outer ? outer : inner;
    // Where several axes are walked, the chunk is put together from runs of the innermost one.
    for (int done = 0; done < count;) {
      index_t offset[static_cast<std::size_t>(rows)];
      index_t stride[static_cast<std::size_t>(rows)];
      for (int r = 0; r < rows; ++r) offset[r] = base[r];
      const int now = walked.run(first + done, count - done, offset, stride);
      vectorised(form_run<typename Bound::form_type, value_type, Bound::leaves, void>{
          from.bound_.form, values + done, 1, from.bound_.table.data, offset, stride, now, nullptr});
      done += now;
    }
  }
  bool outer_is_contiguous() const {
    if (outer_.rank > 1) return false;
    for (int r = 0; r < Bound::leaves; ++r)
      if (outer_.rank == 1 && outer_.stride[r][0] != 1 && outer_.stride[r][0] != 0) return false;
    return true;
  }

  Bound bound_;
  Group outer_;
  Group inner_;
};

/// Output and epilogue as kernels write them: finished values of type V, neighbours along the column axis at a time.
/// `outer` walks the axes other than row and column.
template <class V>
class value_sink {
 public:
  struct Position {
    index_t outer;
  };
  using store_function = void (*)(const void* self, index_t outer, index_t row, index_t column, const V* values,
                                  index_t count);

  value_sink(const void* self, store_function store_values) : self_(self), store_(store_values) {}

  Position at(index_t outer) const { return {outer}; }
  void store(const Position& position, index_t row, index_t column, V value) const {
    store_(self_, position.outer, row, column, &value, 1);
  }
  /// `count` neighbours along the column axis, however many.
  void store_row(const Position& position, index_t row, index_t column, const V* values, index_t count) const {
    store_(self_, position.outer, row, column, values, count);
  }

 private:
  const void* self_;
  store_function store_;
};

/// A bound formula's output with its axes grouped, row and column one axis each (-1: none); kernels write it through
/// values<V>(), V the type of their values, while this lives.
template <class Bound>
class sink {
  static constexpr int rows = Bound::leaves + 1;

 public:
  sink(const Bound& bound, int row_axis, int column_axis) : bound_(bound) {
    bool outer[static_cast<std::size_t>(Bound::rank > 0 ? Bound::rank : 1)] = {};
    for (int i = 0; i < Bound::rank; ++i) outer[i] = i != row_axis && i != column_axis;
    outer_ = group_axes<rows, Bound::rank>(bound, outer);
    for (int r = 0; r < rows; ++r) {
      row_stride_[r] = row_axis < 0 ? 0 : stride_of(r, row_axis);
      column_stride_[r] = column_axis < 0 ? 0 : stride_of(r, column_axis);
    }
  }

  template <class V>
  value_sink<V> values() const {
    return {this, store<V>};
  }

 private:
  template <class V>
  static void store(const void* self, index_t outer, index_t row, index_t column, const V* values, index_t count) {
    const sink& to = *static_cast<const sink*>(self);
    index_t offset[static_cast<std::size_t>(rows)] = {};
    to.outer_.advance(outer, offset);
    for (int r = 0; r < rows; ++r) offset[r] += row * to.row_stride_[r] + column * to.column_stride_[r];
    vectorised(form_run<typename Bound::form_type, typename Bound::out_type, Bound::leaves, V>{
        to.bound_.form, to.bound_.out + offset[Bound::leaves], to.column_stride_[Bound::leaves], to.bound_.table.data,
        offset, to.column_stride_, count, values});
  }
  index_t stride_of(int r, int axis_number) const {
    return r < Bound::leaves ? bound_.table.stride[r][axis_number] : bound_.out_stride[axis_number];
  }

  Bound bound_;
  axis_group<rows, Bound::rank> outer_;
  index_t row_stride_[static_cast<std::size_t>(rows)];
  index_t column_stride_[static_cast<std::size_t>(rows)];
};

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
