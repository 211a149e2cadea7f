// An output seen as lines along one axis, for kernels that go along it: scans, sorts, scatters.
#pragma once

#include "heddle/kernels/axis_table.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// Which line: all axes but one. Along it: one step a row of strides.
template <int Rows, int Rank>
struct line_axes {
  static constexpr int held = Rows > 0 ? Rows : 1;
  static constexpr int inner_axis = axis_capacity<Rank> - 1;  ///< along which neighbouring lines lie
  output_axes<Rank, index_t> outer;
  row_strides<Rows, Rank, index_t> strides;
  index_t along[static_cast<std::size_t>(held)] = {};

  /// Of a table whose axes are not merged yet; `axis_number` is left out of it.
  template <int TableRows>
  static line_axes from(axis_table<TableRows, Rank> table, int axis_number) {
    index_t steps[static_cast<std::size_t>(held)] = {};
    for (int r = 0; r < Rows; ++r) steps[r] = table.stride[r][axis_number];
    table.extent[axis_number] = 1;
    table.merge();
    line_axes lines{output_axes<Rank, index_t>(table), row_strides<Rows, Rank, index_t>(table, 0), {}};
    for (int r = 0; r < Rows; ++r) lines.along[r] = steps[r];
    return lines;
  }
  /// The same, with the limit that the output's axes have: axes with one of less than their extent stand alone.
  template <int TableRows>
  static line_axes from(axis_table<TableRows, Rank> table, int axis_number, const index_t* limits,
                        coordinates_of<Rank, index_t>& limit) {
    table.alone[axis_number] = false;
    const line_axes lines = from(table, axis_number);
    table.extent[axis_number] = 1;
    table.merge();
    for (int a = 0; a < axis_capacity<Rank>; ++a)
      limit[a] = table.alone[a] ? limits[table.original[a]] : table.extent[a];
    return lines;
  }
  HEDDLE_HOST_DEVICE index_t count() const { return outer.size; }
  /// The offsets of a line's first places.
  HEDDLE_HOST_DEVICE void at(index_t line, index_t (&offset)[static_cast<std::size_t>(held)]) const {
    coordinates_of<Rank, index_t> coordinate;
    outer.decode(line, coordinate);
    for (int r = 0; r < Rows; ++r) offset[r] = 0;
    strides.advance(coordinate, offset);
  }
  /// Whether neighbouring lines are nearer to each other in memory than neighbours along a line, in these rows.
  bool crosswise(int first_row, int end_row) const {
    index_t across = 0, down = 0;
    for (int r = first_row; r < end_row; ++r) {
      const index_t outer_step = strides.stride[inner_axis][r];
      const index_t a = outer_step < 0 ? -outer_step : outer_step, b = along[r] < 0 ? -along[r] : along[r];
      across = a > across ? a : across;
      down = b > down ? b : down;
    }
    return outer.extent[inner_axis] > 1 && across < down;
  }
};

}  // namespace HEDDLE_BUILD
}  // namespace heddle
