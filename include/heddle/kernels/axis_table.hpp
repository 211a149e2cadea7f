// The axes of an output as kernels walk them when coordinates count: merged where they may be, each with the strides of
// everything that is walked along it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "heddle/expr/space.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

template <int Rank>
inline constexpr int axis_capacity = Rank > 0 ? Rank : 1;

template <int Rank, class Index>
using coordinates_of = Index[static_cast<std::size_t>(axis_capacity<Rank>)];

/// Division by a number that the host knows.
template <class Index>
struct divisor_of;
template <>
struct divisor_of<std::int32_t> {
  fast_divisor fast;
  divisor_of() = default;
  explicit divisor_of(std::int32_t divisor) : fast(divisor > 0 ? static_cast<std::uint32_t>(divisor) : 1) {}
  HEDDLE_HOST_DEVICE std::int32_t divide(std::int32_t n) const {
    return static_cast<std::int32_t>(fast.divide(static_cast<std::uint32_t>(n)));
  }
};
template <>
struct divisor_of<index_t> {
  index_t divisor = 1;
  divisor_of() = default;
  explicit divisor_of(index_t by) : divisor(by > 0 ? by : 1) {}
  HEDDLE_HOST_DEVICE index_t divide(index_t n) const { return n / divisor; }
};

/// The output's axes, with the strides of whatever is walked along them (row 0: the output's own). merge() drops axes
/// of extent 1, sorts the others by the output's strides and merges neighbours where every row allows it; an axis that
/// stands alone keeps its coordinate. Then the axes are at the end, behind ones of extent 1.
template <int Rows, int Rank>
struct axis_table {
  static constexpr int rows = Rows;
  static constexpr int capacity = axis_capacity<Rank>;
  index_t extent[static_cast<std::size_t>(capacity)] = {};
  index_t stride[static_cast<std::size_t>(Rows)][static_cast<std::size_t>(capacity)] = {};
  bool alone[static_cast<std::size_t>(capacity)] = {};
  int original[static_cast<std::size_t>(capacity)] = {};  ///< which axis of the output this was

  void merge() { merge_axes(Rank, extent, &stride[0][0], Rows, capacity, alone, original); }

  index_t size() const {
    index_t product = 1;
    for (int a = 0; a < capacity; ++a) product *= extent[a];
    return product;
  }
  /// Whether linear indices and all offsets fit 32 bits.
  bool is_small() const {
    if (size() > fast_division_limit) return false;
    for (int r = 0; r < Rows; ++r) {
      index_t reach = 0;
      for (int a = 0; a < capacity; ++a) {
        const index_t step = stride[r][a] < 0 ? -stride[r][a] : stride[r][a];
        if (step > fast_division_limit) return false;
        reach += step * (extent[a] > 0 ? extent[a] - 1 : 0);
        if (reach > fast_division_limit) return false;
      }
    }
    return true;
  }
  /// Whether the output is dense in this order of axes.
  bool is_dense() const {
    index_t step = 1;
    for (int a = capacity - 1; a >= 0; --a) {
      if (extent[a] != 1 && stride[0][a] != step) return false;
      step *= extent[a];
    }
    return true;
  }

 private:
  [[gnu::noinline]] static void merge_axes(int rank, index_t* extent, index_t* stride, int row_count, int pitch,
                                           bool* alone, int* original) {
    const auto at = [&](int row, int axis) -> index_t& { return stride[row * pitch + axis]; };
    const auto move = [&](int to, int from) {
      extent[to] = extent[from];
      alone[to] = alone[from];
      original[to] = original[from];
      for (int r = 0; r < row_count; ++r) at(r, to) = at(r, from);
    };
    int kept = 0;
    for (int i = 0; i < rank; ++i) {
      original[i] = i;
      if (extent[i] == 1 && !alone[i]) continue;
      if (kept != i) move(kept, i);
      ++kept;
    }
    const auto swap = [](auto& a, auto& b) {
      const auto before = a;
      a = b;
      b = before;
    };
    for (int i = 1; i < kept; ++i) {
      for (int j = i; j > 0; --j) {
        const index_t left = at(0, j - 1) < 0 ? -at(0, j - 1) : at(0, j - 1);
        const index_t here = at(0, j) < 0 ? -at(0, j) : at(0, j);
        if (left >= here) break;
        swap(extent[j], extent[j - 1]);
        swap(alone[j], alone[j - 1]);
        swap(original[j], original[j - 1]);
        for (int r = 0; r < row_count; ++r) swap(at(r, j), at(r, j - 1));
      }
    }
    int merged = 0;
    for (int i = 1; i < kept; ++i) {
      bool one_run = !alone[merged] && !alone[i];
      for (int r = 0; r < row_count && one_run; ++r) one_run = at(r, merged) == at(r, i) * extent[i];
      if (one_run) {
        extent[merged] *= extent[i];
        for (int r = 0; r < row_count; ++r) at(r, merged) = at(r, i);
      } else if (++merged != i) {
        move(merged, i);
      }
    }
    kept = kept == 0 ? 0 : merged + 1;
    for (int i = 1; i <= pitch; ++i) {
      if (i <= kept) {
        if (kept != pitch) move(pitch - i, kept - i);
      } else {
        extent[pitch - i] = 1;
        alone[pitch - i] = false;
        for (int r = 0; r < row_count; ++r) at(r, pitch - i) = 0;
      }
    }
  }
};

/// The output's places in the order in which kernels walk them.
template <int Rank, class Index>
struct output_axes {
  static constexpr int capacity = axis_capacity<Rank>;
  Index size = 1;
  Index extent[static_cast<std::size_t>(capacity)] = {};
  divisor_of<Index> divisor[static_cast<std::size_t>(capacity)];

  template <int Rows>
  explicit output_axes(const axis_table<Rows, Rank>& table) : size(static_cast<Index>(table.size())) {
    for (int a = 0; a < capacity; ++a) {
      extent[a] = static_cast<Index>(table.extent[a]);
      divisor[a] = divisor_of<Index>(extent[a]);
    }
  }
  /// The coordinates of a place.
  HEDDLE_HOST_DEVICE void decode(Index linear, coordinates_of<Rank, Index>& coordinate) const {
    for (int a = capacity - 1; a > 0; --a) {
      const Index quotient = divisor[a].divide(linear);
      coordinate[a] = linear - quotient * extent[a];
      linear = quotient;
    }
    coordinate[0] = linear;
  }
  /// How many places there are from here to the end of the innermost axis.
  HEDDLE_HOST_DEVICE Index left(const coordinates_of<Rank, Index>& coordinate) const {
    return extent[capacity - 1] - coordinate[capacity - 1];
  }
};

/// Some rows of a table.
template <int Rows, int Rank, class Index>
struct row_strides {
  static constexpr int capacity = axis_capacity<Rank>;
  static constexpr int held = Rows > 0 ? Rows : 1;
  Index stride[static_cast<std::size_t>(capacity)][static_cast<std::size_t>(held)] = {};

  template <int TableRows>
  row_strides(const axis_table<TableRows, Rank>& table, int first_row) {
    for (int a = 0; a < capacity; ++a)
      for (int r = 0; r < Rows; ++r) stride[a][r] = static_cast<Index>(table.stride[first_row + r][a]);
  }
  /// Adds a place's offsets.
  template <class Offset>
  HEDDLE_HOST_DEVICE void advance(const coordinates_of<Rank, Index>& coordinate, Offset* offset) const {
    for (int a = 0; a < capacity; ++a)
      for (int r = 0; r < Rows; ++r) offset[r] += coordinate[a] * stride[a][r];
  }
};

}  // namespace HEDDLE_BUILD
}  // namespace heddle
