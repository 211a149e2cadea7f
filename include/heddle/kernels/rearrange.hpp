// Operations that move elements without computing (pad, roll, tile, concat, gather, tril, one_hot): each is a locator,
// which says for a place of the output where its element stands, and a kernel that asks it. Locators are pure index
// arithmetic, the same on every device. Index is std::int32_t where everything fits it.
//
// A locator has locate() and run() as below; `rows`, the leaves that it gives offsets for; `pieces`, how many tensors
// it leads to; `reads_indices`, whether it may find one out of range; `keeps_neighbours`: neighbours in the output come
// from near one another.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heddle/core/integer.hpp"
#include "heddle/core/layout.hpp"
#include "heddle/kernels/axis_table.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// What a locator has found.
enum class place { element, fill, out_of_range };

/// Where an element stands: offsets from the first elements of a piece's leaves; for out_of_range the index read.
template <int Rows, class Index>
struct location {
  static constexpr int held = Rows > 0 ? Rows : 1;
  Index offset[static_cast<std::size_t>(held)] = {};
  int piece = 0;
  index_t index = 0;
};

/// How an axis of the output is made from one of the operand.
enum class axis_mode : int {
  same,       ///< the operand's coordinate
  constant,   ///< shifted; a fill value beyond the ends
  wrap,       ///< shifted, not to below 0; the operand repeats
  reflect,    ///< shifted; mirrored at the ends, which are not repeated
  replicate,  ///< shifted; the ends go on
};

/// Coordinate c of the output stands for coordinate c + shift of an axis of that extent.
struct axis_change {
  axis_mode mode = axis_mode::same;
  index_t shift = 0;
  index_t extent = 0;
};

/// Rules apply changes of one kind: apply() moves c to the operand's axis and tells whether it is there; run() how many
/// coordinates from c on, at most `left`, are neighbours in the operand too, or are all beyond its ends.
template <class Index>
struct constant_rule {
  static constexpr bool keeps_neighbours = true;
  Index shift = 0;
  Index extent = 0;

  constant_rule() = default;
  explicit constant_rule(const axis_change& change)
      : shift(static_cast<Index>(change.shift)), extent(static_cast<Index>(change.extent)) {}
  HEDDLE_HOST_DEVICE bool apply(Index& c) const {
    using Unsigned = std::make_unsigned_t<Index>;
    c += shift;
    return static_cast<Unsigned>(c) < static_cast<Unsigned>(extent);
  }
  HEDDLE_HOST_DEVICE Index run(Index c, Index left) const {
    c += shift;
    const Index end = c < 0 ? -c : (c < extent ? extent - c : left);
    return end < left ? end : left;
  }
};

template <class Index>
struct wrap_rule {
  static constexpr bool keeps_neighbours = false;  // what goes out at one end comes in at the other
  Index shift = 0;
  Index extent = 0;
  divisor_of<Index> divisor;

  wrap_rule() = default;
  explicit wrap_rule(const axis_change& change)
      : shift(static_cast<Index>(change.shift)), extent(static_cast<Index>(change.extent)), divisor(extent) {}
  HEDDLE_HOST_DEVICE bool apply(Index& c) const {
    c += shift;
    c -= divisor.divide(c) * extent;
    return true;
  }
  HEDDLE_HOST_DEVICE Index run(Index c, Index left) const {
    apply(c);
    const Index end = extent - c;
    return end < left ? end : left;
  }
};

/// Any mode but constant, chosen at run time.
template <class Index>
struct border_rule {
  static constexpr bool keeps_neighbours = true;
  Index shift = 0;
  Index extent = 0;
  axis_mode mode = axis_mode::same;
  divisor_of<Index> divisor;

  border_rule() = default;
  explicit border_rule(const axis_change& change)
      : shift(static_cast<Index>(change.shift)),
        extent(static_cast<Index>(change.extent)),
        mode(change.mode),
        divisor(extent) {}
  HEDDLE_HOST_DEVICE bool apply(Index& c) const {
    c += shift;
    const bool before = c < 0, behind = c >= extent;
    const Index last = extent - 1;
    const Index mirrored = before ? -c : (behind ? 2 * last - c : c);
    const Index clamped = before ? 0 : (behind ? last : c);
    // Of a wrap the shift is not negative, so that c isn't.
    const Index wrapped = before ? c : c - divisor.divide(c) * extent;
    c = mode == axis_mode::reflect ? mirrored : (mode == axis_mode::wrap ? wrapped : clamped);
    return true;
  }
  HEDDLE_HOST_DEVICE Index run(Index c, Index left) const {
    const Index shifted = c + shift;
    if (mode == axis_mode::wrap) {
      apply(c);
      const Index until = extent - c;
      return until < left ? until : left;
    }
    const Index end = shifted >= 0 && shifted < extent ? extent - shifted : 1;
    return end < left ? end : left;
  }
};

/// Each axis by a rule of its own: pad, roll, tile.
template <template <class> class Rule, int Rows, int Rank, class Index>
struct remap_locator {
  static constexpr int rows = Rows;
  static constexpr int pieces = 1;
  static constexpr bool keeps_neighbours = Rule<Index>::keeps_neighbours;
  static constexpr bool reads_indices = false;
  using coordinates = coordinates_of<Rank, Index>;
  row_strides<Rows, Rank, Index> strides;
  Rule<Index> rule[static_cast<std::size_t>(axis_capacity<Rank>)];

  /// `changes` are those of the output's own axes, before they were merged.
  template <int TableRows>
  remap_locator(const axis_table<TableRows, Rank>& table, int first_row, const axis_change* changes)
      : strides(table, first_row) {
    for (int a = 0; a < axis_capacity<Rank>; ++a) {
      const axis_change same{axis_mode::same, 0, table.extent[a]};
      rule[a] = Rule<Index>(table.alone[a] ? changes[table.original[a]] : same);
    }
  }
  HEDDLE_HOST_DEVICE place locate(const coordinates& coordinate, location<Rows, Index>& found) const {
    coordinates moved;
    bool inside = true;
    for (int a = 0; a < axis_capacity<Rank>; ++a) {
      moved[a] = coordinate[a];
      const bool here = rule[a].apply(moved[a]);
      inside = inside & here;
    }
    strides.advance(moved, found.offset);
    return inside ? place::element : place::fill;
  }
  HEDDLE_HOST_DEVICE bool in_runs() const { return true; }
  /// How many places from here on along the innermost axis, at most `left`, follow with that step (or are all fill).
  HEDDLE_HOST_DEVICE Index run(const coordinates& coordinate, Index left) const {
    return rule[axis_capacity<Rank> - 1].run(coordinate[axis_capacity<Rank> - 1], left);
  }
  HEDDLE_HOST_DEVICE Index step(int row, int) const { return strides.stride[axis_capacity<Rank> - 1][row]; }
};

/// How an element joins those that went to its place before; what is put replaces them.
enum class scatter_rule { add, multiply, greatest, least };

template <class State>
HEDDLE_HOST_DEVICE State scatter_joined(scatter_rule rule, State sum, State value) {
  switch (rule) {
    case scatter_rule::multiply:
      if constexpr (std::is_integral_v<State>)
        return wrapping_multiply(sum, value);
      else
        return sum * value;
    case scatter_rule::greatest:
      return value > sum || value != value ? value : sum;
    case scatter_rule::least:
      return value < sum || value != value ? value : sum;
    default:
      if constexpr (std::is_integral_v<State>)
        return wrapping_add(sum, value);
      else
        return sum + value;
  }
}

/// A tensor of indices.
struct index_source {
  const void* data = nullptr;
  bool wide = true;       ///< int64, else int32
  bool negative = false;  ///< whether negative indices count from the end
  index_t extent = 0;     ///< of the axis that they are for

  HEDDLE_HOST_DEVICE index_t read(index_t offset) const {
    return wide ? static_cast<const std::int64_t*>(data)[offset]
                : static_cast<index_t>(static_cast<const std::int32_t*>(data)[offset]);
  }
};

/// Through a tensor of indices: gather, index_select, take, embedding.
template <int Rows, int Rank, class Index>
struct gather_locator {
  static constexpr int rows = Rows;
  static constexpr int pieces = 1;
  static constexpr bool keeps_neighbours = false;
  static constexpr bool reads_indices = true;
  using coordinates = coordinates_of<Rank, Index>;
  index_source indices;
  row_strides<1, Rank, Index> index_strides;
  row_strides<Rows, Rank, Index> strides;
  Index along[static_cast<std::size_t>(Rows > 0 ? Rows : 1)] = {};  ///< strides of the axis that the indices are for

  template <int TableRows>
  gather_locator(const axis_table<TableRows, Rank>& table, int first_row, const index_source& source,
                 const index_t* strides_along)
      : indices(source), index_strides(table, first_row + Rows), strides(table, first_row) {
    for (int r = 0; r < Rows; ++r) along[r] = static_cast<Index>(strides_along[r]);
  }
  HEDDLE_HOST_DEVICE place locate(const coordinates& coordinate, location<Rows, Index>& found) const {
    Index at[1] = {};
    index_strides.advance(coordinate, at);
    const index_t index = indices.read(at[0]);
    const index_t counted = indices.negative && index < 0 ? index + indices.extent : index;
    strides.advance(coordinate, found.offset);
    for (int r = 0; r < Rows; ++r) found.offset[r] += static_cast<Index>(counted) * along[r];
    found.index = index;
    const bool inside = static_cast<std::uint64_t>(counted) < static_cast<std::uint64_t>(indices.extent);
    return inside ? place::element : place::out_of_range;
  }
  /// Whether places along the innermost axis have one index.
  HEDDLE_HOST_DEVICE bool in_runs() const { return index_strides.stride[axis_capacity<Rank> - 1][0] == 0; }
  HEDDLE_HOST_DEVICE Index run(const coordinates&, Index left) const { return in_runs() ? left : 1; }
  HEDDLE_HOST_DEVICE Index step(int row, int) const { return strides.stride[axis_capacity<Rank> - 1][row]; }
};

/// The class of each index along a new axis: an element there, fill elsewhere.
template <int Rank, class Index>
struct one_hot_locator {
  static constexpr int rows = 0;
  static constexpr int pieces = 1;
  static constexpr bool keeps_neighbours = false;
  static constexpr bool reads_indices = true;
  using coordinates = coordinates_of<Rank, Index>;
  index_source indices;
  row_strides<1, Rank, Index> index_strides;
  row_strides<1, Rank, Index> classes;  ///< 1 along the new axis

  template <int TableRows>
  one_hot_locator(const axis_table<TableRows, Rank>& table, int first_row, const index_source& source)
      : indices(source), index_strides(table, first_row), classes(table, first_row + 1) {}
  HEDDLE_HOST_DEVICE place locate(const coordinates& coordinate, location<0, Index>& found) const {
    Index at[1] = {}, own[1] = {};
    index_strides.advance(coordinate, at);
    classes.advance(coordinate, own);
    found.index = indices.read(at[0]);
    const bool inside = static_cast<std::uint64_t>(found.index) < static_cast<std::uint64_t>(indices.extent);
    return !inside ? place::out_of_range : (found.index == own[0] ? place::element : place::fill);
  }
  HEDDLE_HOST_DEVICE bool in_runs() const { return false; }
  HEDDLE_HOST_DEVICE Index run(const coordinates&, Index) const { return 1; }
  HEDDLE_HOST_DEVICE Index step(int, int) const { return 0; }
};

/// A triangle of the last two axes, the rest filled: tril, triu.
template <int Rows, int Rank, class Index>
struct triangle_locator {
  static constexpr int rows = Rows;
  static constexpr int pieces = 1;
  static constexpr bool keeps_neighbours = false;
  static constexpr bool reads_indices = false;
  using coordinates = coordinates_of<Rank, Index>;
  row_strides<Rows, Rank, Index> strides;
  row_strides<1, Rank, Index> beyond;  ///< 1 along the columns, -1 along the rows
  Index diagonal = 0;
  bool lower = true;

  /// The diagonal must be one of the matrix or next to it.
  template <int TableRows>
  triangle_locator(const axis_table<TableRows, Rank>& table, int first_row, bool is_lower, index_t diagonal_number)
      : strides(table, first_row),
        beyond(table, first_row + Rows),
        diagonal(static_cast<Index>(diagonal_number)),
        lower(is_lower) {}
  HEDDLE_HOST_DEVICE place locate(const coordinates& coordinate, location<Rows, Index>& found) const {
    Index distance[1] = {};
    beyond.advance(coordinate, distance);
    strides.advance(coordinate, found.offset);
    const bool inside = lower ? distance[0] <= diagonal : distance[0] >= diagonal;
    return inside ? place::element : place::fill;
  }
  HEDDLE_HOST_DEVICE bool in_runs() const { return true; }
  HEDDLE_HOST_DEVICE Index run(const coordinates& coordinate, Index left) const {
    Index distance[1] = {};
    beyond.advance(coordinate, distance);
    const Index along = beyond.stride[axis_capacity<Rank> - 1][0];
    if (along == 0) return left;
    if (along != 1) return 1;
    // Columns: the boundary lies before the first one that is on the other side.
    const Index boundary = (lower ? diagonal + 1 : diagonal) - distance[0];
    return boundary > 0 && boundary < left ? boundary : left;
  }
  HEDDLE_HOST_DEVICE Index step(int row, int) const { return strides.stride[axis_capacity<Rank> - 1][row]; }
};

/// Tensors one behind the other along an axis: concat, stack. The table's rows are the position along that axis (with
/// what lies inside of it, where they merge), then the pieces' strides. A piece's offsets count from where its elements
/// would begin if the axis began with it.
template <int Pieces, int Rank, class Index>
struct concat_locator {
  static constexpr int rows = 1;
  static constexpr int pieces = Pieces;
  static constexpr bool keeps_neighbours = true;
  static constexpr bool reads_indices = false;
  using coordinates = coordinates_of<Rank, Index>;
  row_strides<1, Rank, Index> position;
  Index end[static_cast<std::size_t>(Pieces)] = {};  ///< the position behind each piece
  Index stride[static_cast<std::size_t>(Pieces)][static_cast<std::size_t>(axis_capacity<Rank>)] = {};

  template <int TableRows>
  concat_locator(const axis_table<TableRows, Rank>& table, int first_row, const index_t* ends)
      : position(table, first_row) {
    for (int p = 0; p < Pieces; ++p) {
      end[p] = static_cast<Index>(ends[p]);
      for (int a = 0; a < axis_capacity<Rank>; ++a)
        stride[p][a] = static_cast<Index>(table.stride[first_row + 1 + p][a]);
    }
  }
  HEDDLE_HOST_DEVICE Index position_of(const coordinates& coordinate) const {
    Index at[1] = {};
    position.advance(coordinate, at);
    return at[0];
  }
  HEDDLE_HOST_DEVICE int piece_of(Index at) const {
    int piece = 0;
    for (int p = 0; p + 1 < Pieces; ++p) piece += at >= end[p] ? 1 : 0;
    return piece;
  }
  HEDDLE_HOST_DEVICE place locate(const coordinates& coordinate, location<1, Index>& found) const {
    found.piece = piece_of(position_of(coordinate));
    for (int a = 0; a < axis_capacity<Rank>; ++a) found.offset[0] += coordinate[a] * stride[found.piece][a];
    return place::element;
  }
  HEDDLE_HOST_DEVICE Index run(const coordinates& coordinate, Index left) const {
    const Index along = position.stride[axis_capacity<Rank> - 1][0];
    if (along == 0) return left;
    if (along != 1) return 1;
    const Index at = position_of(coordinate);
    const Index until = end[piece_of(at)] - at;
    return until < left ? until : left;
  }
  HEDDLE_HOST_DEVICE Index step(int, int piece) const { return stride[piece][axis_capacity<Rank> - 1]; }
};

}  // namespace HEDDLE_BUILD
}  // namespace heddle
