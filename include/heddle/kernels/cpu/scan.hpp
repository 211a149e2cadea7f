// Scans on the CPU. A line is cut into parts of fixed length: what goes before a part is known when the parts' totals
// are, so that long lines are shared by threads, and the result depends on the shape alone. Lines that lie side by side
// in memory are gone along together.
#pragma once

#include "heddle/kernels/cpu/elements.hpp"
#include "heddle/kernels/cpu/pool.hpp"
#include "heddle/kernels/cpu/workspace.hpp"
#include "heddle/kernels/lines.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// The places of a part of a line.
inline constexpr index_t scan_part = 32768;

/// What the CPU adds up in: double for every floating type.
template <class State>
using scan_state = std::conditional_t<std::is_integral_v<State>, State, double>;

template <class Scan, class State, class Lines, class Elements, class Writer>
struct scan_run {
  static constexpr int out_rows = Writer::rows;
  using Value = typename Elements::value_type;
  const Lines& lines;
  const Elements& elements;
  const Writer& writer;

  /// Goes along `count` places of one line from `begin` on; writes where `write` is set. Gives what comes behind.
  State along(index_t line, index_t begin, index_t count, State carry, bool write) const {
    index_t offset[static_cast<std::size_t>(Lines::held)];
    lines.at(line, offset);
    for (int r = 0; r < Lines::held; ++r) offset[r] += begin * lines.along[r];
    Value value[chunk];
    State result[chunk];
    for (index_t done = 0; done < count; done += chunk) {
      const int now = count - done < chunk ? static_cast<int>(count - done) : chunk;
      elements.load_chunk(offset + out_rows, lines.along + out_rows, 0, now, value);
      for (int j = 0; j < now; ++j) {
        carry = Scan::combine(carry, static_cast<State>(value[j]));
        result[j] = carry;
      }
      if (write) store(offset, lines.along, now, result);
      for (int r = 0; r < Lines::held; ++r) offset[r] += chunk * lines.along[r];
    }
    return carry;
  }

  /// Goes along `width` neighbouring lines at once.
  void across(index_t line, int width, index_t length) const {
    constexpr int inner = Lines::inner_axis;
    index_t offset[static_cast<std::size_t>(Lines::held)];
    lines.at(line, offset);
    Value value[chunk];
    State carry[chunk];
    for (int j = 0; j < width; ++j) carry[j] = Scan::template identity<State>();
    for (index_t i = 0; i < length; ++i) {
      elements.load_chunk(offset + out_rows, lines.strides.stride[inner] + out_rows, 0, width, value);
      for (int j = 0; j < width; ++j) carry[j] = Scan::combine(carry[j], static_cast<State>(value[j]));
      store(offset, lines.strides.stride[inner], width, carry);
      for (int r = 0; r < Lines::held; ++r) offset[r] += lines.along[r];
    }
  }

 private:
  void store(const index_t* offset, const index_t* step, int count, const State* result) const {
    using Stored = std::conditional_t<std::is_integral_v<State>, State, Value>;
    if constexpr (std::is_same_v<Stored, State>) {
      writer.store_chunk(offset, step, count, result);
    } else {
      Stored stored[chunk];
      for (int j = 0; j < count; ++j) stored[j] = static_cast<Stored>(result[j]);
      writer.store_chunk(offset, step, count, stored);
    }
  }
};

/// Rows of `lines`: the writer's, then the elements'.
template <class Scan, class Accumulator, class Lines, class Elements, class Writer>
void scan(const Lines& lines, const Elements& elements, const Writer& writer, index_t length) {
  using State = scan_state<Accumulator>;
  const scan_run<Scan, State, Lines, Elements, Writer> run{lines, elements, writer};
  const index_t count = lines.count();
  if (count == 0 || length == 0) return;
  const index_t grain = scan_part / (length < scan_part ? length : scan_part);
  if (lines.crosswise(0, Lines::held)) {
    // A chunk of lines never crosses the end of the innermost of their axes.
    const index_t inner = lines.outer.extent[Lines::inner_axis];
    const index_t chunks = (inner + chunk - 1) / chunk;
    parallel_for(count / inner * chunks, grain / chunk + 1, [&](index_t begin, index_t end) {
      for (index_t c = begin; c < end; ++c) {
        const index_t first = c % chunks * chunk;
        const int width = inner - first < chunk ? static_cast<int>(inner - first) : chunk;
        run.across(c / chunks * inner + first, width, length);
      }
    });
    return;
  }
  const index_t parts = (length + scan_part - 1) / scan_part;
  if (parts == 1) {
    parallel_for(count, grain, [&](index_t begin, index_t end) {
      for (index_t line = begin; line < end; ++line) run.along(line, 0, length, Scan::template identity<State>(), true);
    });
    return;
  }
  State* const total = Workspace::get<State>(Workspace::shared_by_loop, static_cast<std::size_t>(count * parts));
  const auto part_length = [&](index_t part) {
    const index_t left = length - part * scan_part;
    return left < scan_part ? left : scan_part;
  };
  parallel_for(count * parts, 1, [&](index_t begin, index_t end) {
    for (index_t p = begin; p < end; ++p)
      total[p] =
          run.along(p / parts, p % parts * scan_part, part_length(p % parts), Scan::template identity<State>(), false);
  });
  for (index_t line = 0; line < count; ++line) {
    State carry = Scan::template identity<State>();
    for (index_t part = 0; part < parts; ++part) {
      const State own = total[line * parts + part];
      total[line * parts + part] = carry;
      carry = Scan::combine(carry, own);
    }
  }
  parallel_for(count * parts, 1, [&](index_t begin, index_t end) {
    for (index_t p = begin; p < end; ++p)
      run.along(p / parts, p % parts * scan_part, part_length(p % parts), total[p], true);
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
