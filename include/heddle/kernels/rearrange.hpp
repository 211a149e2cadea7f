// Operations that move elements without computing (pad, roll, tile, concat, gather, tril, one_hot): each is a locator,
// which says for a place of the output where its element stands, and a kernel that asks it. Locators are pure index
// arithmetic, the same on every device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heddle/core/layout.hpp"
#include "heddle/expr/space.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

template <int Rank>
inline constexpr int axis_capacity = Rank > 0 ? Rank : 1;

/// What a locator has found. out_of_range leaves the index that it read in offset[0].
enum class place { element, fill, out_of_range };

/// The output's axes, with the strides of whatever is walked along them (row 0: the output's own). Axes of extent 1
/// are dropped, the others sorted by the output's strides and merged where every row allows it; an axis that stands
/// alone keeps its coordinate.
template <int Rows, int Rank>
struct axis_table {
  static constexpr int rows = Rows;
  static constexpr int capacity = axis_capacity<Rank>;
  int rank = 0;
  index_t extent[static_cast<std::size_t>(capacity)] = {};
  index_t stride[static_cast<std::size_t>(Rows)][static_cast<std::size_t>(capacity)] = {};
  bool alone[static_cast<std::size_t>(capacity)] = {};
  int original[static_cast<std::size_t>(capacity)] = {};  ///< which axis of the output this was

  void merge() { rank = merge_axes(rank, extent, &stride[0][0], Rows, capacity, alone, original); }

 private:
  [[gnu::noinline]] static int merge_axes(int rank, index_t* extent, index_t* stride, int rows, int pitch, bool* alone,
                                          int* original) {
    const auto at = [&](int row, int axis) -> index_t& { return stride[row * pitch + axis]; };
    const auto move = [&](int to, int from) {
      extent[to] = extent[from];
      alone[to] = alone[from];
      original[to] = original[from];
      for (int r = 0; r < rows; ++r) at(r, to) = at(r, from);
    };
    int kept = 0;
    for (int i = 0; i < rank; ++i) {
      if (extent[i] == 1 && !alone[i]) continue;
      if (kept != i) move(kept, i);
      original[kept++] = i;
    }
    for (int i = 1; i < kept; ++i) {
      for (int j = i; j > 0; --j) {
        const index_t left = at(0, j - 1) < 0 ? -at(0, j - 1) : at(0, j - 1);
        const index_t here = at(0, j) < 0 ? -at(0, j) : at(0, j);
        if (left >= here) break;
        const auto swap = [](auto& a, auto& b) {
          const auto kept_a = a;
          a = b;
          b = kept_a;
        };
        swap(extent[j], extent[j - 1]);
        swap(alone[j], alone[j - 1]);
        swap(original[j], original[j - 1]);
        for (int r = 0; r < rows; ++r) swap(at(r, j), at(r, j - 1));
      }
    }
    int merged = 0;
    for (int i = 1; i < kept; ++i) {
      bool one_run = !alone[merged] && !alone[i];
      for (int r = 0; r < rows && one_run; ++r) one_run = at(r, merged) == at(r, i) * extent[i];
      if (one_run) {
        extent[merged] *= extent[i];
        for (int r = 0; r < rows; ++r) at(r, merged) = at(r, i);
      } else if (++merged != i) {
        move(merged, i);
      }
    }
    return kept == 0 ? 0 : merged + 1;
  }
};

/// The output's places in the order in which kernels walk them.
template <int Rank>
struct output_axes {
  static constexpr int capacity = axis_capacity<Rank>;
  int rank = 0;
  bool small = true;  ///< fewer than 2^31 elements: indices are divided by multiplication
  index_t size = 1;
  index_t extent[static_cast<std::size_t>(capacity)] = {};
  fast_divisor divisor[static_cast<std::size_t>(capacity)];

  output_axes() = default;
  template <int Rows>
  explicit output_axes(const axis_table<Rows, Rank>& table) : rank(table.rank) {
    for (int a = 0; a < capacity; ++a) {
      if (a >= rank) continue;
      extent[a] = table.extent[a];
      size *= extent[a];
    }
    small = size <= fast_division_limit;
    for (int a = 0; a < capacity; ++a)
      if (a < rank && small && size > 0) divisor[a] = fast_divisor(static_cast<std::uint32_t>(extent[a]));
  }

  /// The coordinates of a place.
  HEDDLE_HOST_DEVICE void decode(index_t linear, index_t (&coordinate)[static_cast<std::size_t>(capacity)]) const {
    for (int a = capacity - 1; a >= 0; --a) {
      coordinate[a] = 0;
      if (a >= rank) continue;
      if (a == 0) {
        coordinate[a] = linear;
      } else if (small) {
        const std::uint32_t n = static_cast<std::uint32_t>(linear);
        const std::uint32_t quotient = divisor[a].divide(n);
        coordinate[a] = n - quotient * divisor[a].divisor;
        linear = quotient;
      } else {
        const index_t quotient = linear / extent[a];
        coordinate[a] = linear - quotient * extent[a];
        linear = quotient;
      }
    }
  }
  /// How many places the innermost axis has.
  HEDDLE_HOST_DEVICE index_t inner_extent() const {
    index_t inner = 1;
    for (int a = 0; a < capacity; ++a)
      if (a == rank - 1) inner = extent[a];
    return inner;
  }
  HEDDLE_HOST_DEVICE index_t inner_coordinate(
      const index_t (&coordinate)[static_cast<std::size_t>(capacity)]) const {
    index_t inner = 0;
    for (int a = 0; a < capacity; ++a)
      if (a == rank - 1) inner = coordinate[a];
    return inner;
  }
};

/// Strides of some rows of a table, one row a leaf of a formula.
template <int Rows, int Rank>
struct leaf_strides {
  static constexpr int capacity = axis_capacity<Rank>;
  static constexpr int held = Rows > 0 ? Rows : 1;
  index_t stride[static_cast<std::size_t>(capacity)][static_cast<std::size_t>(held)] = {};

  leaf_strides() = default;
  template <int TableRows>
  leaf_strides(const axis_table<TableRows, Rank>& table, int first_row) {
    for (int a = 0; a < capacity; ++a)
      for (int r = 0; r < Rows; ++r) stride[a][r] = a < table.rank ? table.stride[first_row + r][a] : 0;
  }
  /// Adds a place's offsets.
  HEDDLE_HOST_DEVICE void advance(const index_t (&coordinate)[static_cast<std::size_t>(capacity)],
                                  index_t (&offset)[static_cast<std::size_t>(held)]) const {
    for (int a = 0; a < capacity; ++a)
      for (int r = 0; r < Rows; ++r) offset[r] += coordinate[a] * stride[a][r];
  }
  /// The strides along an axis known at run time.
  HEDDLE_HOST_DEVICE void along(int axis_number, index_t (&step)[static_cast<std::size_t>(held)]) const {
    for (int r = 0; r < held; ++r) step[r] = 0;
    for (int a = 0; a < capacity; ++a)
      for (int r = 0; r < Rows; ++r)
        if (a == axis_number) step[r] = stride[a][r];
  }
};

/// How an axis of the output is made from one of the operand.
enum class axis_mode : int {
  same,       ///< the operand's coordinate
  constant,   ///< shifted; a fill value beyond the ends
  wrap,       ///< shifted; the operand repeats
  reflect,    ///< shifted; mirrored at the ends, which are not repeated
  replicate,  ///< shifted; the ends go on
};

/// Coordinate c of the output stands for coordinate c + shift of an axis of that extent.
struct axis_rule {
  axis_mode mode = axis_mode::same;
  bool small = true;
  index_t shift = 0;
  index_t extent = 1;
  fast_divisor divisor;

  axis_rule() = default;
  /// For coordinates below `count`. A shift of `wrap` must not be negative.
  axis_rule(axis_mode how, index_t by, index_t source_extent, index_t count)
      : mode(how), small(by + count <= fast_division_limit), shift(by), extent(source_extent) {
    if (small && how == axis_mode::wrap && extent > 0) divisor = fast_divisor(static_cast<std::uint32_t>(extent));
  }

  /// Moves c to the operand's axis; false: beyond its ends.
  HEDDLE_HOST_DEVICE bool apply(index_t& c) const {
    if (mode == axis_mode::same) return true;
    c += shift;
    if (mode == axis_mode::constant) return c >= 0 && c < extent;
    if (c >= 0 && c < extent) return true;
    if (mode == axis_mode::wrap) {
      if (small)
        c -= static_cast<index_t>(divisor.divide(static_cast<std::uint32_t>(c))) * extent;
      else
        c %= extent;
    } else if (mode == axis_mode::reflect) {
      c = c < 0 ? -c : 2 * (extent - 1) - c;
    } else {
      c = c < 0 ? 0 : extent - 1;
    }
    return true;
  }
  /// How many coordinates from c on, at most `left`, are neighbours in the operand too (or are all beyond its ends).
  HEDDLE_HOST_DEVICE index_t run(index_t c, index_t left) const {
    if (mode == axis_mode::same) return left;
    c += shift;
    index_t end = left;
    if (c >= 0 && c < extent) {
      end = extent - c;
    } else if (mode == axis_mode::wrap) {
      index_t wrapped = c - shift;
      apply(wrapped);
      end = extent - wrapped;
    } else if (mode != axis_mode::constant) {
      end = 1;
    } else if (c < 0) {
      end = -c;
    }
    return end < left ? end : left;
  }
};

/// Each axis by a rule of its own: pad, roll, tile.
template <int Rows, int Rank>
struct remap_locator {
  static constexpr int rows = Rows;
  static constexpr bool reads_indices = false;
  using strides_type = leaf_strides<Rows, Rank>;
  using coordinates = index_t[static_cast<std::size_t>(axis_capacity<Rank>)];
  using offsets = index_t[static_cast<std::size_t>(strides_type::held)];
  int rank = 0;
  strides_type strides;
  axis_rule rule[static_cast<std::size_t>(axis_capacity<Rank>)];

  HEDDLE_HOST_DEVICE place locate(const coordinates& coordinate, offsets& offset) const {
    coordinates moved;
    bool inside = true;
    for (int a = 0; a < axis_capacity<Rank>; ++a) {
      moved[a] = coordinate[a];
      if (a < rank) inside = rule[a].apply(moved[a]) && inside;
    }
    strides.advance(moved, offset);
    return inside ? place::element : place::fill;
  }
  /// How many places from here on along the innermost axis, at most `left`, follow with that step (or are all fill).
  HEDDLE_HOST_DEVICE index_t run(const coordinates& coordinate, index_t left, offsets& step) const {
    index_t count = left;
    for (int a = 0; a < axis_capacity<Rank>; ++a)
      if (a == rank - 1) count = rule[a].run(coordinate[a], left);
    strides.along(rank - 1, step);
    return count;
  }
};

/// Through a tensor of indices: gather, index_select, take, embedding.
template <int Rows, int Rank>
struct gather_locator {
  static constexpr int rows = Rows;
  static constexpr bool reads_indices = true;
  using strides_type = leaf_strides<Rows, Rank>;
  using coordinates = index_t[static_cast<std::size_t>(axis_capacity<Rank>)];
  using offsets = index_t[static_cast<std::size_t>(strides_type::held)];
  int rank = 0;
  bool wide = true;      ///< int64 indices, else int32
  bool negative = false;  ///< whether negative indices count from the end
  index_t extent = 0;
  const void* index = nullptr;
  leaf_strides<1, Rank> index_strides;
  strides_type strides;
  offsets along = {};  ///< strides of the axis that the indices are for

  HEDDLE_HOST_DEVICE index_t index_at(const coordinates& coordinate) const {
    index_t at[1] = {};
    index_strides.advance(coordinate, at);
    return wide ? static_cast<const std::int64_t*>(index)[at[0]]
                : static_cast<index_t>(static_cast<const std::int32_t*>(index)[at[0]]);
  }
  HEDDLE_HOST_DEVICE place locate(const coordinates& coordinate, offsets& offset) const {
    const index_t found = index_at(coordinate);
    const index_t counted = negative && found < 0 ? found + extent : found;
    if (counted < 0 || counted >= extent) {
      offset[0] = found;
      return place::out_of_range;
    }
    strides.advance(coordinate, offset);
    for (int r = 0; r < Rows; ++r) offset[r] += counted * along[r];
    return place::element;
  }
  HEDDLE_HOST_DEVICE index_t run(const coordinates&, index_t left, offsets& step) const {
    index_t index_step[1];
    index_strides.along(rank - 1, index_step);
    strides.along(rank - 1, step);
    return index_step[0] == 0 ? left : 1;
  }
};

/// The class of each index along a new axis: 1 there, 0 elsewhere.
template <int Rank>
struct one_hot_locator {
  static constexpr int rows = 0;
  static constexpr bool reads_indices = true;
  using coordinates = index_t[static_cast<std::size_t>(axis_capacity<Rank>)];
  using offsets = index_t[1];
  int rank = 0;
  gather_locator<0, Rank> indices;
  leaf_strides<1, Rank> classes;  ///< 1 along the new axis

  HEDDLE_HOST_DEVICE place locate(const coordinates& coordinate, offsets& offset) const {
    const index_t found = indices.index_at(coordinate);
    if (found < 0 || found >= indices.extent) {
      offset[0] = found;
      return place::out_of_range;
    }
    index_t own[1] = {};
    classes.advance(coordinate, own);
    return found == own[0] ? place::element : place::fill;
  }
  HEDDLE_HOST_DEVICE index_t run(const coordinates&, index_t, offsets& step) const {
    step[0] = 0;
    return 1;
  }
};

/// A triangle of the last two axes, the rest filled: tril, triu.
template <int Rows, int Rank>
struct triangle_locator {
  static constexpr int rows = Rows;
  static constexpr bool reads_indices = false;
  using strides_type = leaf_strides<Rows, Rank>;
  using coordinates = index_t[static_cast<std::size_t>(axis_capacity<Rank>)];
  using offsets = index_t[static_cast<std::size_t>(strides_type::held)];
  int rank = 0;
  bool lower = true;
  index_t diagonal = 0;
  strides_type strides;
  leaf_strides<1, Rank> beyond;  ///< 1 along the columns, -1 along the rows

  HEDDLE_HOST_DEVICE place locate(const coordinates& coordinate, offsets& offset) const {
    index_t distance[1] = {};
    beyond.advance(coordinate, distance);
    strides.advance(coordinate, offset);
    const bool inside = lower ? distance[0] <= diagonal : distance[0] >= diagonal;
    return inside ? place::element : place::fill;
  }
  HEDDLE_HOST_DEVICE index_t run(const coordinates& coordinate, index_t left, offsets& step) const {
    index_t distance[1] = {}, step_beyond[1];
    beyond.advance(coordinate, distance);
    beyond.along(rank - 1, step_beyond);
    strides.along(rank - 1, step);
    if (step_beyond[0] == 0) return left;
    if (step_beyond[0] != 1) return 1;
    // Columns: the boundary lies before the first column that is on the other side.
    const index_t boundary = (lower ? diagonal + 1 : diagonal) - distance[0];
    return boundary > 0 && boundary < left ? boundary : left;
  }
};

/// Operands one behind the other along an axis: concat, stack.
template <int Rank, int Pieces>
struct concat_locator {
  static constexpr int rows = 1;
  static constexpr bool reads_indices = false;
  using coordinates = index_t[static_cast<std::size_t>(axis_capacity<Rank>)];
  using offsets = index_t[1];
  int rank = 0;
  int count = 0;
  leaf_strides<1, Rank> position;  ///< where along the joined axis (with what lies inside of it, where they merge)
  index_t end[static_cast<std::size_t>(Pieces)] = {};    ///< the position behind each piece
  index_t first[static_cast<std::size_t>(Pieces)] = {};  ///< from the first piece's elements to each piece's, at 0
  index_t stride[static_cast<std::size_t>(Pieces)][static_cast<std::size_t>(axis_capacity<Rank>)] = {};

  HEDDLE_HOST_DEVICE int piece_at(const coordinates& coordinate) const {
    index_t at[1] = {};
    position.advance(coordinate, at);
    return piece_of(at[0]);
  }
  HEDDLE_HOST_DEVICE int piece_of(index_t at) const {
    int piece = 0;
    while (piece + 1 < count && at >= end[piece]) ++piece;
    return piece;
  }
  HEDDLE_HOST_DEVICE place locate(const coordinates& coordinate, offsets& offset) const {
    index_t at[1] = {};
    position.advance(coordinate, at);
    const int piece = piece_of(at[0]);
    offset[0] += first[piece];
    for (int a = 0; a < axis_capacity<Rank>; ++a) offset[0] += coordinate[a] * stride[piece][a];
    return place::element;
  }
  HEDDLE_HOST_DEVICE index_t run(const coordinates& coordinate, index_t left, offsets& step) const {
    index_t at[1] = {}, position_step[1];
    position.advance(coordinate, at);
    position.along(rank - 1, position_step);
    const int piece = piece_of(at[0]);
    step[0] = 0;
    for (int a = 0; a < axis_capacity<Rank>; ++a)
      if (a == rank - 1) step[0] = stride[piece][a];
    if (position_step[0] == 0) return left;
    if (position_step[0] != 1) return 1;
    return end[piece] - at[0] < left ? end[piece] - at[0] : left;
  }
};

}  // namespace HEDDLE_BUILD
}  // namespace heddle
