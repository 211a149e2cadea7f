// Elements moved on the CPU: in the output's order, by the runs that the locator tells.
#pragma once

#include <cstring>

#include "heddle/kernels/cpu/elements.hpp"
#include "heddle/kernels/cpu/pool.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// Elements that are not worth a second thread.
inline constexpr index_t rearrange_grain = 16384;

/// Calls row(coordinate, count) for stretches of the innermost axis that together are the output.
template <int Rank, class Row>
void for_each_row(const output_axes<Rank>& axes, Row&& row) {
  const index_t inner = axes.inner_extent();
  parallel_for(axes.size, rearrange_grain, [&](index_t begin, index_t end) {
    while (begin < end) {
      index_t coordinate[static_cast<std::size_t>(axis_capacity<Rank>)];
      axes.decode(begin, coordinate);
      const index_t left = inner - axes.inner_coordinate(coordinate);
      const index_t count = left < end - begin ? left : end - begin;
      row(coordinate, count);
      begin += count;
    }
  });
}

/// Moves a coordinate along the innermost axis.
template <int Rank>
void step_inner(const output_axes<Rank>& axes, index_t* coordinate, index_t by) {
  if (axes.rank > 0) coordinate[axes.rank - 1] += by;
}

/// Computes `count` neighbours of the innermost axis from there on, at most a chunk.
template <class Locator, class Elements, int Rank>
HEDDLE_ALWAYS_INLINE void read_chunk(const output_axes<Rank>& axes, const Locator& locator, const Elements& elements,
                typename Elements::value_type fill, const index_t* from, int count,
                typename Elements::value_type* value) {
  index_t coordinate[static_cast<std::size_t>(axis_capacity<Rank>)];
  for (int a = 0; a < axis_capacity<Rank>; ++a) coordinate[a] = from[a];
  for (int done = 0; done < count;) {
    typename Locator::offsets offset = {}, step;
    const int run = static_cast<int>(locator.run(coordinate, count - done, step));
    const place found = locator.locate(coordinate, offset);
    if (found != place::element) {
      for (int j = 0; j < run; ++j) value[done + j] = fill;
    } else if (run == 1) {
      value[done] = elements.load(offset);
    } else {
      elements.load_chunk(offset, step, run, value + done);
    }
    step_inner(axes, coordinate, run);
    done += run;
  }
}

template <class Locator, class Elements, class Writer, int Rank>
struct rearrange_row {
  const output_axes<Rank>& axes;
  const Locator& locator;
  const Elements& elements;
  const leaf_strides<Writer::rows, Rank>& out_strides;
  const Writer& writer;
  typename Elements::value_type fill;
  index_t* coordinate;
  index_t count;

  HEDDLE_ALWAYS_INLINE void operator()() const {
    index_t step[static_cast<std::size_t>(Writer::rows)];
    out_strides.along(axes.rank - 1, step);
    for (index_t done = 0; done < count; done += chunk) {
      const int now = count - done < chunk ? static_cast<int>(count - done) : chunk;
      typename Elements::value_type value[chunk];
      read_chunk(axes, locator, elements, fill, coordinate, now, value);
      index_t to[static_cast<std::size_t>(Writer::rows)] = {};
      for (int a = 0; a < axis_capacity<Rank>; ++a)
        for (int r = 0; r < Writer::rows; ++r) to[r] += coordinate[a] * out_strides.stride[a][r];
      writer.store_chunk(to, step, now, value);
      step_inner(axes, coordinate, now);
    }
  }
};

/// Writes every element of the output. The table's first rows are the output's and its epilogue's, as in `bound`.
/// Indices must have been checked.
template <class Table, class Locator, class Elements, class Bound>
void rearrange(const Table& table, const Locator& locator, const Elements& elements,
               typename Elements::value_type fill, const Bound& bound) {
  using Writer = writer<Bound>;
  const output_axes<Bound::rank> axes(table);
  const leaf_strides<Writer::rows, Bound::rank> out_strides(table, 0);
  const Writer to(bound);
  for_each_row(axes, [&](index_t* coordinate, index_t count) {
    vectorised(rearrange_row<Locator, Elements, Writer, Bound::rank>{axes, locator, elements, out_strides, to, fill,
                                                                     coordinate, count});
  });
}

/// The same for elements that are moved unchanged from a tensor at `from`.
template <class T, int Rows, int Rank, class Locator>
void copy_runs(const axis_table<Rows, Rank>& table, const Locator& locator, const T* from, T* out, T fill) {
  const output_axes<Rank> axes(table);
  const leaf_strides<1, Rank> out_strides(table, 0);
  for_each_row(axes, [&](index_t(&coordinate)[static_cast<std::size_t>(axis_capacity<Rank>)], index_t count) {
    index_t to[1] = {}, out_step[1];
    out_strides.advance(coordinate, to);
    out_strides.along(axes.rank - 1, out_step);
    while (count > 0) {
      typename Locator::offsets offset = {}, step;
      const index_t run = locator.run(coordinate, count, step);
      if (locator.locate(coordinate, offset) != place::element) {
        for (index_t j = 0; j < run; ++j) out[to[0] + j * out_step[0]] = fill;
      } else if (step[0] == 1 && out_step[0] == 1) {
        std::memcpy(out + to[0], from + offset[0], static_cast<std::size_t>(run) * sizeof(T));
      } else {
        for (index_t j = 0; j < run; ++j) out[to[0] + j * out_step[0]] = from[offset[0] + j * step[0]];
      }
      step_inner(axes, coordinate, run);
      to[0] += run * out_step[0];
      count -= run;
    }
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
