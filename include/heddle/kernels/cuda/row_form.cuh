// Formulas as row-wise kernels read and write them: a row is what is normalised together, its columns run along one or
// more axes. A thread walks its columns with a cursor, one or V neighbours at a time where every leaf allows it.
#pragma once

#include "heddle/kernels/cuda/form.cuh"
#include "heddle/kernels/cuda/vectors.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// What a cursor knows of the inner one of two axes: where it stands on it, how far a step goes, where it ends, and the
/// bytes to add beyond the end.
template <std::size_t Places>
struct axis_turns {
  int here, by, end;
  index_t carry[Places];
};
struct no_turns {};

/// The leaves of a bound formula (and with WithOut its output, in the last place) by rows and columns. `inner` says
/// which axes the columns run along.
template <class Bound, bool WithOut>
class row_form {
 public:
  static constexpr int leaves = Bound::leaves;
  static constexpr int places = leaves + (WithOut ? 1 : 0);
  static constexpr std::size_t held = static_cast<std::size_t>(places > 0 ? places : 1);
  /// Columns that no single step leads through may still run along two axes.
  static constexpr bool two_axes = Bound::rank > 2;
  /// Whether vectors of a leaf may be one element repeated; if all of an operand were, vectors would be no gain.
  static constexpr bool may_broadcast = WithOut || leaves > 1;
  using Form = typename Bound::form_type;
  using Out = typename Bound::out_type;
  using Slots = std::make_integer_sequence<int, leaves>;
  struct Position {
    index_t offset[held];
  };
  /// Where the next column or columns lie, and how many bytes it is to those after them.
  struct Cursor : std::conditional_t<two_axes, axis_turns<held>, no_turns> {
    const char* at[held];
    index_t step[held];
  };

  row_form(const Bound& bound, const bool* inner) : form_(bound.form) {
    bool outer[static_cast<std::size_t>(Bound::rank > 0 ? Bound::rank : 1)] = {};
    for (int i = 0; i < Bound::rank; ++i) outer[i] = !inner[i];
    outer_ = group_axes<places>(bound, outer);
    inner_ = group_axes<places>(bound, inner);
    for (int r = 0; r < leaves; ++r) data_[r] = bound.table.data[r];
    if constexpr (WithOut) data_[leaves] = bound.out;
    for (int r = 0; r < places; ++r) {
      stride_[r] = inner_.rank > 0 ? inner_.stride[inner_.rank - 1][r] : 0;
      broadcasts_ = broadcasts_ || (r < leaves && stride_[r] == 0);
      repeats_[r] = true;
      for (int a = 0; a < outer_.rank; ++a) repeats_[r] = repeats_[r] && outer_.stride[a][r] == 0;
    }
  }

  /// Whether a cursor can walk the columns.
  bool has_cursor() const { return inner_.rank <= (two_axes ? 2 : 1) && inner_.small; }
  /// Whether a leaf's columns are all one element.
  HEDDLE_HOST_DEVICE bool broadcasts() const { return broadcasts_; }
  /// True if neighbouring columns are nearer to each other in memory than neighbouring rows.
  bool inner_is_contiguous() const { return nearness(inner_) <= nearness(outer_); }

  __device__ __forceinline__ Position at(index_t row) const {
    Position position;
    if (outer_.rank <= 1) {
#pragma unroll
      for (int r = 0; r < places; ++r) position.offset[r] = row * outer_.stride[0][r];
    } else {
#pragma unroll
      for (int r = 0; r < places; ++r) position.offset[r] = 0;
      outer_.advance(row, position.offset);
    }
    return position;
  }
  /// A cursor at a column, for steps of so many columns.
  __device__ __forceinline__ Cursor cursor(const Position& position, int column, int columns) const {
    Cursor cursor;
    index_t offset[held];
    if (two_axes && inner_.rank > 1) {
      const auto& divisor = inner_.divisor[two_axes ? 1 : 0];
      const int whole = divide(divisor, column), whole_step = divide(divisor, columns);
      const int end = static_cast<int>(divisor.divisor);
      column -= whole * end;
      columns -= whole_step * end;
#pragma unroll
      for (int r = 0; r < places; ++r) {
        offset[r] = position.offset[r] + inner_.stride[0][r] * whole + stride_[r] * column;
        cursor.step[r] = inner_.stride[0][r] * whole_step + stride_[r] * columns;
        if constexpr (two_axes) cursor.carry[r] = inner_.stride[0][r] - stride_[r] * end;
      }
      if constexpr (two_axes) cursor.here = column, cursor.by = columns, cursor.end = end;
    } else {
#pragma unroll
      for (int r = 0; r < places; ++r) {
        offset[r] = position.offset[r] + stride_[r] * column;
        cursor.step[r] = stride_[r] * columns;
        if constexpr (two_axes) cursor.carry[r] = 0;
      }
      if constexpr (two_axes) cursor.here = 0, cursor.by = 0, cursor.end = 1;
    }
    to_bytes(cursor, offset, Slots{});
    return cursor;
  }
  /// A cursor that is so many steps on.
  __device__ __forceinline__ Cursor ahead(const Position& position, const Cursor& cursor, int column, int columns,
                                          int steps) const {
    if constexpr (two_axes) return this->cursor(position, column + steps * columns, columns);
    Cursor moved = cursor;
#pragma unroll
    for (int r = 0; r < places; ++r) moved.at[r] += cursor.step[r] * steps;
    return moved;
  }
  __device__ __forceinline__ void step(Cursor& cursor) const {
#pragma unroll
    for (int r = 0; r < places; ++r) cursor.at[r] += cursor.step[r];
    if constexpr (two_axes) {
      cursor.here += cursor.by;
      if (cursor.here >= cursor.end) {
        cursor.here -= cursor.end;
#pragma unroll
        for (int r = 0; r < places; ++r) cursor.at[r] += cursor.carry[r];
      }
    }
  }

 protected:
  template <int V>
  bool leaves_in_vectors() const {
    return in_vectors<V>(Slots{});
  }
  template <int V, class T>
  bool place_in_vectors(int r) const {
    if (inner_.rank == 0 || inner_.extent[inner_.rank - 1] % V != 0) return false;
    constexpr std::size_t bytes = std::is_same_v<T, element_number> ? sizeof(T) * V : alignof(vector_of<T, V>);
    constexpr auto alignment = static_cast<index_t>(bytes / sizeof(T));
    if (stride_[r] == 0) return r < leaves && may_broadcast;
    if (stride_[r] != 1 || reinterpret_cast<std::uintptr_t>(data_[r]) % bytes != 0) return false;
    for (int a = 0; a < inner_.rank - 1; ++a)
      if (inner_.stride[a][r] % alignment != 0) return false;
    for (int a = 0; a < outer_.rank; ++a)
      if (outer_.stride[a][r] % alignment != 0) return false;
    return true;
  }
  /// Broadcasts: leaves whose columns are all one element may be among them.
  template <int V, bool Broadcasts, class Registers, int... S>
  __device__ __forceinline__ void load_leaves([[maybe_unused]] Registers& registers,
                                              [[maybe_unused]] const Cursor& cursor,
                                              std::integer_sequence<int, S...>) const {
    (load_vector<V>(slot<S>(registers), cursor.at[S], 0, V == 1 || (Broadcasts && stride_[S] == 0) ? 0 : 1, V), ...);
  }
  __device__ __forceinline__ void offsets(const Position& position, index_t column, index_t* offset) const {
#pragma unroll
    for (int r = 0; r < places; ++r) offset[r] = position.offset[r];
    inner_.advance(column, offset);
  }

  Form form_;
  const void* data_[held];
  index_t stride_[held];  ///< along the innermost axis of the columns
  bool repeats_[held];    ///< every row is the same
  bool broadcasts_ = false;
  axis_group<places, Bound::rank> outer_;
  axis_group<places, Bound::rank> inner_;

 private:
  template <int... S>
  __device__ __forceinline__ void to_bytes(Cursor& cursor, const index_t* offset,
                                           std::integer_sequence<int, S...>) const {
    (to_bytes<typename leaf_type<S, Form>::type>(cursor, offset, S), ...);
    if constexpr (WithOut) to_bytes<Out>(cursor, offset, leaves);
  }
  template <class T>
  __device__ __forceinline__ void to_bytes(Cursor& cursor, const index_t* offset, int r) const {
    cursor.at[r] = static_cast<const char*>(data_[r]) + offset[r] * static_cast<index_t>(sizeof(T));
    cursor.step[r] *= static_cast<index_t>(sizeof(T));
    if constexpr (two_axes) cursor.carry[r] *= static_cast<index_t>(sizeof(T));
  }
  static __device__ __forceinline__ int divide(const fast_divisor& divisor, int n) {
    return static_cast<int>(divisor.divide(static_cast<std::uint32_t>(n)));
  }
  template <int V, int... S>
  bool in_vectors(std::integer_sequence<int, S...>) const {
    return (place_in_vectors<V, typename leaf_type<S, Form>::type>(S) && ...);
  }
  static index_t nearness(const axis_group<places, Bound::rank>& group) {
    if (group.rank == 0) return INT64_MAX;
    index_t widest = 0;
    for (int r = 0; r < places; ++r) {
      const index_t step = group.stride[group.rank - 1][r];
      widest = step > widest ? step : (-step > widest ? -step : widest);
    }
    return widest;
  }
};

/// An operand formula.
template <class Bound>
class row_source : public row_form<Bound, false> {
  using Base = row_form<Bound, false>;
  using Form = typename Base::Form;
  using Slots = typename Base::Slots;

 public:
  using value_type = compute_type<typename Bound::out_type>;
  using Position = typename Base::Position;
  using Cursor = typename Base::Cursor;
  /// Columns that a thread best takes at once.
  static constexpr int vector_width = [] {
    constexpr int greatest = leaf_sizes<Form, Slots>::greatest(2);
    return greatest > 8 ? 1 : 16 / greatest;
  }();

  row_source(const Bound& bound, const bool* inner) : Base(bound, inner) {}

  template <int V>
  bool in_vectors() const {
    return this->template leaves_in_vectors<V>();
  }
  __device__ __forceinline__ value_type load(const Position& position, index_t column) const {
    index_t offset[Base::held];
    this->offsets(position, column, offset);
    registers_t<Form, Base::leaves, 1> registers;
    load_element<Form>(registers, this->data_, offset, Slots{});
    return static_cast<value_type>(lane_value<Form>::at(this->form_, registers, 0, 0));
  }
  /// V neighbours where a cursor is.
  template <int V, bool Broadcasts>
  __device__ __forceinline__ void load(const Cursor& cursor, value_type (&values)[V]) const {
    registers_t<Form, Base::leaves, V> registers;
    this->template load_leaves<V, Broadcasts>(registers, cursor, Slots{});
#pragma unroll
    for (int j = 0; j < V; ++j) values[j] = static_cast<value_type>(lane_value<Form>::at(this->form_, registers, 0, j));
  }
};

/// The output, with its epilogue.
template <class Bound>
class row_sink : public row_form<Bound, true> {
  using Base = row_form<Bound, true>;
  using Form = typename Base::Form;
  using Slots = typename Base::Slots;
  using Out = typename Base::Out;

 public:
  using Position = typename Base::Position;
  using Cursor = typename Base::Cursor;

  row_sink(const Bound& bound, const bool* inner) : Base(bound, inner) {}

  template <int V>
  bool in_vectors() const {
    return this->template place_in_vectors<V, Out>(Base::leaves) && this->template leaves_in_vectors<V>();
  }
  /// Decides what goes through shared memory: what the epilogue reads for every row alike. Returns the bytes it takes;
  /// 0 where there is no such thing, or too much of it.
  std::size_t plan_staging(index_t columns) {
    constexpr index_t most = 32 * 1024;
    index_t bytes = 0;
    if (columns <= most && this->inner_.rank == 1) plan_leaves(columns, bytes, Slots{});
    if (bytes <= most) return static_cast<std::size_t>(bytes);
    for (int r = 0; r < Base::leaves; ++r) staged_words_[r] = 0;
    return 0;
  }
  /// Brings it there; all threads of a block call, and a barrier follows.
  __device__ __forceinline__ void stage(uint4* staged) const {
#pragma unroll
    for (int r = 0; r < Base::leaves; ++r) {
      const auto* const from = static_cast<const uint4*>(this->data_[r]);
#pragma unroll 1
      for (unsigned i = threadIdx.x; i < staged_words_[r]; i += blockDim.x) staged[staged_at_[r] + i] = from[i];
    }
  }
  /// Lets a cursor that is at a column read it there.
  __device__ __forceinline__ void read_staged(Cursor& cursor, const uint4* staged, int column) const {
    read_staged(cursor, staged, column, Slots{});
  }

  template <class Value>
  __device__ __forceinline__ void store(const Position& position, index_t, index_t column, Value value) const {
    index_t offset[Base::held];
    this->offsets(position, column, offset);
    registers_t<Form, Base::leaves, 1> registers;
    load_element<Form>(registers, this->data_, offset, Slots{});
    Out* const out = static_cast<Out*>(const_cast<void*>(this->data_[Base::leaves]));
    out[offset[Base::leaves]] = cast_element<Out>(lane_value<Form>::at(this->form_, registers, value, 0));
  }
  /// V neighbours where a cursor is.
  template <int V, bool Broadcasts, class Value>
  __device__ __forceinline__ void store(const Cursor& cursor, const Value (&values)[V]) const {
    registers_t<Form, Base::leaves, V> registers;
    this->template load_leaves<V, Broadcasts>(registers, cursor, Slots{});
    vector_of<Out, V> result;
#pragma unroll
    for (int j = 0; j < V; ++j)
      result.lane[j] = cast_element<Out>(lane_value<Form>::at(this->form_, registers, values[j], j));
    *reinterpret_cast<vector_of<Out, V>*>(const_cast<char*>(cursor.at[Base::leaves])) = result;
  }

 private:
  template <int... S>
  void plan_leaves([[maybe_unused]] index_t columns, [[maybe_unused]] index_t& bytes,
                   std::integer_sequence<int, S...>) {
    (plan_leaf<typename leaf_type<S, Form>::type>(columns, bytes, S), ...);
  }
  template <class T>
  void plan_leaf(index_t columns, index_t& bytes, int r) {
    if constexpr (std::is_same_v<T, element_number>) return;
    // Whole words of 16 bytes, so that they can be copied as such.
    const index_t own = columns * static_cast<index_t>(sizeof(T));
    if (!this->repeats_[r] || this->stride_[r] != 1 || own % 16 != 0) return;
    staged_at_[r] = static_cast<unsigned>(bytes / 16);
    staged_words_[r] = static_cast<unsigned>(own / 16);
    bytes += own;
  }
  template <int... S>
  __device__ __forceinline__ void read_staged([[maybe_unused]] Cursor& cursor, [[maybe_unused]] const uint4* staged,
                                              [[maybe_unused]] int column, std::integer_sequence<int, S...>) const {
    ((staged_words_[S] > 0 ? (void)(cursor.at[S] = reinterpret_cast<const char*>(staged + staged_at_[S]) +
                                                   column * static_cast<int>(sizeof(typename leaf_type<S, Form>::type)))
                           : (void)0),
     ...);
  }

  unsigned staged_at_[Base::held] = {};     ///< in words of 16 bytes
  unsigned staged_words_[Base::held] = {};  ///< 0: not staged
};

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
