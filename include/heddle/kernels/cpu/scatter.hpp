// Scatters on the CPU: a line of the output is put together in scratch memory, the source's elements in their order.
// Lines that lie side by side in memory are done a chunk at a time.
#pragma once

#include "heddle/kernels/cpu/elements.hpp"
#include "heddle/kernels/cpu/pool.hpp"
#include "heddle/kernels/cpu/workspace.hpp"
#include "heddle/kernels/lines.hpp"
#include "heddle/kernels/rearrange.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

template <bool Join, class State, class Stored, class Lines, class Base, class Source, class Writer>
struct scatter_run {
  static constexpr int base_row = Writer::rows;
  static constexpr int source_row = base_row + Base::rows;
  static constexpr int index_row = source_row + Source::rows;
  static constexpr int inner = Lines::inner_axis;
  using offsets = index_t[static_cast<std::size_t>(Lines::held)];
  const Lines& lines;
  const Base& base;
  const Source& source;
  const Writer& writer;
  const index_source& indices;
  index_t extent;  ///< of the output along the axis
  index_t length;  ///< indices of a line
  index_t skipped;
  scatter_rule rule;

  /// `width` neighbouring lines, of which the first `reached` have indices.
  void operator()(index_t line, int width, int reached) const {
    State* const sums = Workspace::get<State>(Workspace::within_range, static_cast<std::size_t>(extent * width));
    offsets offset, step;
    lines.at(line, offset);
    for (int r = 0; r < Lines::held; ++r) step[r] = width > 1 ? lines.strides.stride[inner][r] : lines.along[r];
    // One line is walked along, several across.
    const auto walk = [&](index_t count, int across, int first_row, auto&& piece) {
      for (index_t i = 0; i < count;) {
        const index_t left = count - i;
        const int now = width > 1 ? across : (left < chunk ? static_cast<int>(left) : chunk);
        offsets at;
        for (int r = 0; r < Lines::held; ++r) at[r] = offset[r] + i * lines.along[r];
        piece(i, now, at + first_row, step + first_row);
        i += width > 1 ? 1 : now;
      }
    };
    typename Base::value_type value[chunk];
    walk(extent, width, base_row, [&](index_t i, int count, const index_t* at, const index_t* steps) {
      base.load_chunk(at, steps, 0, count, value);
      for (int j = 0; j < count; ++j) sums[i * width + j] = static_cast<State>(value[j]);
    });
    typename Source::value_type element[chunk];
    if (reached > 0) {
      walk(length, reached, source_row, [&](index_t i, int count, const index_t* at, const index_t* steps) {
        source.load_chunk(at, steps, 0, count, element);
        const index_t index_at = offset[index_row] + i * lines.along[index_row];
        for (int j = 0; j < count; ++j) {
          const index_t index = indices.read(index_at + j * step[index_row]);
          if (index == skipped || index < 0 || index >= extent) continue;
          State& sum = sums[width > 1 ? index * width + j : index];
          if constexpr (Join)
            sum = scatter_joined(rule, sum, static_cast<State>(element[j]));
          else
            sum = static_cast<State>(element[j]);
        }
      });
    }
    Stored stored[chunk];
    walk(extent, width, 0, [&](index_t i, int count, const index_t* at, const index_t* steps) {
      for (int j = 0; j < count; ++j) stored[j] = cast_element<Stored>(sums[i * width + j]);
      writer.store_chunk(at, steps, count, stored);
    });
  }
};

/// Rows of the table, which is not merged: the writer's, the base's, the source's, the indices', the place along the
/// axis. Along axis i only the first limits[i] lines have indices.
template <bool Join, class State, class Stored, int Rows, int Rank, class Base, class Source, class Writer>
void scatter(const axis_table<Rows, Rank>& table, int axis_number, const index_t* limits, const Base& base,
             const Source& source, const Writer& writer, const index_source& indices, index_t extent, index_t length,
             index_t skipped, scatter_rule rule) {
  using Lines = line_axes<Rows, Rank>;
  coordinates_of<Rank, index_t> limit;
  const Lines lines = Lines::from(table, axis_number, limits, limit);
  const scatter_run<Join, State, Stored, Lines, Base, Source, Writer> run{lines,  base,   source,  writer, indices,
                                                                          extent, length, skipped, rule};
  constexpr int inner = Lines::inner_axis;
  const bool crosswise = lines.crosswise(0, Writer::rows);
  const index_t across = lines.outer.extent[inner];
  const index_t at_once = crosswise ? chunk : 1;
  const index_t chunks = (across + at_once - 1) / at_once;
  const index_t grain = 4096 / ((extent + length) * at_once + 1) + 1;
  parallel_for(lines.count() / (across > 0 ? across : 1) * chunks, grain, [&](index_t begin, index_t end) {
    for (index_t c = begin; c < end; ++c) {
      const index_t first = c % chunks * at_once;
      const index_t line = c / chunks * across + first;
      coordinates_of<Rank, index_t> coordinate;
      lines.outer.decode(line, coordinate);
      bool inside = true;
      for (int a = 0; a < inner; ++a) inside = inside && coordinate[a] < limit[a];
      const index_t width = across - first < at_once ? across - first : at_once;
      const index_t reached = limit[inner] - first < width ? limit[inner] - first : width;
      run(line, static_cast<int>(width), inside && reached > 0 ? static_cast<int>(reached) : 0);
    }
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
