// Elements moved on the CPU: in the output's order, by the runs that the locator tells.
#pragma once

#include <cstring>

#include "heddle/kernels/cpu/elements.hpp"
#include "heddle/kernels/cpu/pool.hpp"
#include "heddle/kernels/rearrange.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// Elements that are not worth a second thread.
inline constexpr index_t rearrange_grain = 16384;

/// Calls row(coordinate, count) for stretches of the innermost axis that together are the output.
template <int Rank, class Row>
void for_each_row(const output_axes<Rank, index_t>& axes, Row&& row) {
  parallel_for(axes.size, rearrange_grain, [&](index_t begin, index_t end) {
    while (begin < end) {
      coordinates_of<Rank, index_t> coordinate;
      axes.decode(begin, coordinate);
      const index_t left = axes.left(coordinate);
      const index_t count = left < end - begin ? left : end - begin;
      row(coordinate, count);
      begin += count;
    }
  });
}

/// Computes `count` neighbours of the innermost axis from there on, at most a chunk.
template <int Rank, class Locator, class Elements>
void read_chunk(const Locator& locator, const Elements& elements, typename Elements::value_type fill,
                const coordinates_of<Rank, index_t>& from, int count, typename Elements::value_type* value) {
  constexpr int inner = axis_capacity<Rank> - 1;
  coordinates_of<Rank, index_t> coordinate;
  for (int a = 0; a <= inner; ++a) coordinate[a] = from[a];
  for (int done = 0; done < count;) {
    location<Locator::rows, index_t> found;
    const place where = locator.locate(coordinate, found);
    const int run = static_cast<int>(locator.run(coordinate, count - done));
    if (where != place::element) {
      for (int j = 0; j < run; ++j) value[done + j] = fill;
    } else if (run == 1) {
      value[done] = elements.load(found.offset, found.piece);
    } else {
      index_t step[static_cast<std::size_t>(location<Locator::rows, index_t>::held)] = {};
      for (int r = 0; r < Locator::rows; ++r) step[r] = locator.step(r, found.piece);
      elements.load_chunk(found.offset, step, found.piece, run, value + done);
    }
    coordinate[inner] += run;
    done += run;
  }
}

/// Writes every element of the output. The table's first rows are the output's and its epilogue's, as in `bound`.
/// Indices must have been checked.
template <class Table, class Locator, class Elements, class Bound>
void rearrange(const Table& table, const Locator& locator, const Elements& elements, typename Elements::value_type fill,
               const Bound& bound) {
  constexpr int rank = Bound::rank;
  using Writer = writer<Bound>;
  const output_axes<rank, index_t> axes(table);
  const row_strides<Writer::rows, rank, index_t> out_strides(table, 0);
  const Writer to(bound);
  for_each_row<rank>(axes, [&](coordinates_of<rank, index_t>& coordinate, index_t count) {
    constexpr int inner = axis_capacity<rank> - 1;
    index_t offset[static_cast<std::size_t>(Writer::rows)] = {};
    out_strides.advance(coordinate, offset);
    for (index_t done = 0; done < count; done += chunk) {
      const int now = count - done < chunk ? static_cast<int>(count - done) : chunk;
      typename Elements::value_type value[chunk];
      read_chunk<rank>(locator, elements, fill, coordinate, now, value);
      to.store_chunk(offset, out_strides.stride[inner], now, value);
      for (int r = 0; r < Writer::rows; ++r) offset[r] += now * out_strides.stride[inner][r];
      coordinate[inner] += now;
    }
  });
}

/// The same for elements that are moved unchanged from tensors, each counted from where the locator counts.
template <class T, int Rows, int Rank, class Locator>
void copy_runs(const axis_table<Rows, Rank>& table, const Locator& locator, const T* const* from, T* out, T fill) {
  constexpr int inner = axis_capacity<Rank> - 1;
  const output_axes<Rank, index_t> axes(table);
  const row_strides<1, Rank, index_t> out_strides(table, 0);
  for_each_row<Rank>(axes, [&](coordinates_of<Rank, index_t>& coordinate, index_t count) {
    index_t offset[1] = {};
    out_strides.advance(coordinate, offset);
    const index_t to_step = out_strides.stride[inner][0];
    T* to = out + offset[0];
    while (count > 0) {
      location<Locator::rows, index_t> found;
      const place where = locator.locate(coordinate, found);
      const index_t run = locator.run(coordinate, count);
      if (where != place::element) {
        for (index_t j = 0; j < run; ++j) to[j * to_step] = fill;
      } else {
        const T* const source = from[found.piece] + found.offset[0];
        const index_t step = locator.step(0, found.piece);
        if (step == 1 && to_step == 1)
          std::memcpy(to, source, static_cast<std::size_t>(run) * sizeof(T));
        else
          for (index_t j = 0; j < run; ++j) to[j * to_step] = source[j * step];
      }
      coordinate[inner] += run;
      to += run * to_step;
      count -= run;
    }
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
