// softmax and log_softmax on the CPU: a row is loaded once into a buffer that stays in cache, then reduced to its
// maximum and its sum of exponentials, then written once. Rows that lie side by side in memory (an axis that is not the
// innermost) go 64 at a time.
//
// NaN needs no case of its own: it makes its element's exponential NaN, so the sum, so the row. A row of -inf alone has
// -inf - -inf = NaN everywhere.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cpu/fast_math.hpp"
#include "heddle/kernels/cpu/isa.hpp"
#include "heddle/kernels/cpu/pool.hpp"
#include "heddle/kernels/cpu/reduce.hpp"
#include "heddle/kernels/cpu/workspace.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

// Exponentials are added in short sums, and the sums in turn, so that small terms are not lost beside the greatest.
inline constexpr index_t softmax_block = 16 * chunk;
inline constexpr index_t softmax_span = 32;
// Elements that are worked on in cache. Longer rows are loaded anew, part by part, for each of the three passes.
inline constexpr index_t softmax_buffer = 1 << 16;

HEDDLE_ALWAYS_INLINE float softmax_exp(float x) { return exp_f32(x); }
HEDDLE_ALWAYS_INLINE double softmax_exp(double x) { return std::exp(x); }

/// Stores values of one row from `column` on.
template <class Sink, class T>
HEDDLE_ALWAYS_INLINE void store_run(const Sink& sink, const typename Sink::Position& position, index_t column,
                                    const T* values, index_t count) {
  if constexpr (requires { sink.store_row(position, column, column, values, count); }) {
    sink.store_row(position, 0, column, values, count);
  } else {
    for (index_t j = 0; j < count; ++j) sink.store(position, 0, column + j, values[j]);
  }
}

/// One row of any layout, in parts that fit the buffer; mostly there is one.
template <bool Log, class Source, class Sink>
struct softmax_row {
  using T = typename Source::value_type;
  static constexpr T lowest = -static_cast<T>(__builtin_huge_valf());

  const Source& source;
  const Sink& sink;
  index_t row, columns;
  T* buffer;     // `part` elements
  index_t part;  // whole chunks

  HEDDLE_ALWAYS_INLINE void operator()() const {
    const auto position = source.at(row);
    T lanes[chunk];
    for (int j = 0; j < chunk; ++j) lanes[j] = lowest;
    for (index_t first = 0; first < columns; first += part) {
      load(position, first);
      for (index_t c = 0; c < count_from(first); c += chunk)
        for (int j = 0; j < chunk; ++j) lanes[j] = buffer[c + j] > lanes[j] ? buffer[c + j] : lanes[j];
    }
    for (int half = chunk / 2; half > 0; half /= 2)
      for (int j = 0; j < half; ++j) lanes[j] = lanes[j + half] > lanes[j] ? lanes[j + half] : lanes[j];
    const T greatest = lanes[0];

    T sum{0};
    for (index_t first = 0; first < columns; first += part) {
      if (part < columns) load(position, first);
      sum += exponentials(greatest, count_from(first));
    }
    const T scale = Log ? std::log(sum) : T{1} / sum;

    const auto to = sink.at(row);
    for (index_t first = 0; first < columns; first += part) {
      const index_t count = count_from(first);
      if (part < columns) {
        load(position, first);
        if constexpr (!Log) exponentials(greatest, count);
      }
      for (index_t c = 0; c < count; c += chunk)
        for (int j = 0; j < chunk; ++j)
          buffer[c + j] = Log ? (buffer[c + j] - greatest) - scale : buffer[c + j] * scale;
      store_run(sink, to, first, buffer, count);
    }
  }

 private:
  HEDDLE_ALWAYS_INLINE index_t count_from(index_t first) const {
    return columns - first < part ? columns - first : part;
  }
  /// Fills the buffer with the row's part from `first` on; -inf, which adds nothing, completes its last chunk.
  HEDDLE_ALWAYS_INLINE void load(const typename Source::Position& position, index_t first) const {
    const index_t count = count_from(first);
    load_inner_run(source, position, first, buffer, count);
    for (index_t c = count; c % chunk != 0; ++c) buffer[c] = lowest;
  }
  /// The sum of the exponentials of the buffer's values, which they replace unless the logarithm is wanted.
  HEDDLE_ALWAYS_INLINE T exponentials(T greatest, index_t count) const {
    T sum{0};
    for (index_t block = 0; block < count; block += softmax_block) {
      const index_t end = count - block < softmax_block ? count : block + softmax_block;
      T lanes[chunk] = {};
      for (index_t c = block; c < end; c += chunk) {
        T values[chunk];
        for (int j = 0; j < chunk; ++j) values[j] = softmax_exp(buffer[c + j] - greatest);
        for (int j = 0; j < chunk; ++j) lanes[j] += values[j];
        if constexpr (!Log)
          for (int j = 0; j < chunk; ++j) buffer[c + j] = values[j];
      }
      for (int half = chunk / 2; half > 0; half /= 2)
        for (int j = 0; j < half; ++j) lanes[j] += lanes[j + half];
      sum += lanes[0];
    }
    return sum;
  }
};

/// Up to 64 rows that lie side by side.
template <bool Log, class Source, class Sink>
struct softmax_side_by_side {
  using T = typename Source::value_type;

  const Source& source;
  const Sink& sink;
  index_t row;
  int count;
  index_t columns;
  T* buffer;  // a chunk for each column, and one row in whole chunks

  HEDDLE_ALWAYS_INLINE void operator()() const {
    T greatest[chunk], sum[chunk], scale[chunk];
    for (int j = 0; j < chunk; ++j) greatest[j] = -static_cast<T>(__builtin_huge_valf());
    for (index_t c = 0; c < columns; ++c) {
      T* const values = buffer + c * chunk;
      load_outer_run(source, row, c, values, count);
      for (int j = count; j < chunk; ++j) values[j] = T{0};
      for (int j = 0; j < chunk; ++j) greatest[j] = values[j] > greatest[j] ? values[j] : greatest[j];
    }
    for (int j = 0; j < chunk; ++j) sum[j] = T{0};
    for (index_t first = 0; first < columns; first += softmax_span) {
      const index_t end = columns - first < softmax_span ? columns : first + softmax_span;
      T part[chunk] = {};
      for (index_t c = first; c < end; ++c) {
        T values[chunk];
        for (int j = 0; j < chunk; ++j) values[j] = softmax_exp(buffer[c * chunk + j] - greatest[j]);
        for (int j = 0; j < chunk; ++j) part[j] += values[j];
        if constexpr (!Log)
          for (int j = 0; j < chunk; ++j) buffer[c * chunk + j] = values[j];
      }
      for (int j = 0; j < chunk; ++j) sum[j] += part[j];
    }
    for (int j = 0; j < chunk; ++j) scale[j] = Log ? std::log(sum[j]) : T{1} / sum[j];
    for (int j = 0; j < count; ++j) write(j, greatest[j], scale[j]);
  }

 private:
  HEDDLE_ALWAYS_INLINE void write(int lane, T greatest, T scale) const {
    T* const values = buffer + columns * chunk;
    for (index_t c = 0; c < columns; ++c) {
      const T value = buffer[c * chunk + lane];
      values[c] = Log ? (value - greatest) - scale : value * scale;
    }
    store_run(sink, sink.at(row + lane), 0, values, columns);
  }
};

/// exp(x - max) / sum(exp(x - max)) of each of `rows` rows, or its logarithm: sink.store(sink.at(row), 0, column,
/// value) once for each element, or store_row for up to 64 at a time.
///
/// Example: `on_cpu::softmax<false>(source, sink, 512, 1000);`
template <bool Log, class Source, class Sink>
void softmax(const Source& source, const Sink& sink, index_t rows, index_t columns) {
  using T = typename Source::value_type;
  static_assert(std::floating_point<T>);
  if (rows <= 0 || columns <= 0) return;
  constexpr index_t serial = 1 << 13;  // elements that are not worth a second thread
  const index_t grain = serial / columns + 1;
  if constexpr (requires { source.outer_is_contiguous(); }) {
    if (rows >= chunk / 4 && columns > 1 && columns * chunk <= 4 * softmax_buffer && source.outer_is_contiguous()) {
      parallel_for((rows - 1) / chunk + 1, (grain - 1) / chunk + 1, [&](index_t begin, index_t end) {
        T* const buffer = Workspace::get<T>(Workspace::within_range, static_cast<std::size_t>(columns * (chunk + 1)));
        for (index_t i = begin; i < end; ++i) {
          const index_t left = rows - i * chunk;
          vectorised(softmax_side_by_side<Log, Source, Sink>{
              source, sink, i * chunk, left < chunk ? static_cast<int>(left) : chunk, columns, buffer});
        }
      });
      return;
    }
  }
  const index_t whole = (columns + chunk - 1) / chunk * chunk;
  const index_t part = whole < softmax_buffer ? whole : softmax_buffer;
  parallel_for(rows, grain, [&](index_t begin, index_t end) {
    T* const buffer = Workspace::get<T>(Workspace::within_range, static_cast<std::size_t>(part));
    for (index_t row = begin; row < end; ++row)
      vectorised(softmax_row<Log, Source, Sink>{source, sink, row, columns, buffer, part});
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
