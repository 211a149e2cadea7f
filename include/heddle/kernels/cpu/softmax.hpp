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
// Elements of a row. Longer ones are loaded anew for each of the three passes.
inline constexpr index_t softmax_buffer = 1 << 16;

HEDDLE_ALWAYS_INLINE float softmax_exp(float x) { return exp_f32(x); }
HEDDLE_ALWAYS_INLINE double softmax_exp(double x) { return std::exp(x); }

/// Stores values of one row from `column` on.
template <class Sink, class T>
HEDDLE_ALWAYS_INLINE void store_chunk(const Sink& sink, const typename Sink::Position& position, index_t column,
                                      const T (&values)[chunk], int count) {
  if constexpr (requires { sink.store_row(position, column, column, values, column); }) {
    sink.store_row(position, 0, column, values, count);
  } else {
    for (int j = 0; j < count; ++j) sink.store(position, 0, column + j, values[j]);
  }
}

/// One row of any layout.
template <bool Log, class Source, class Sink>
struct softmax_row {
  using T = typename Source::value_type;
  static constexpr T lowest = -static_cast<T>(__builtin_huge_valf());

  const Source& source;
  const Sink& sink;
  index_t row, columns;
  T* buffer;  // room for the row in whole chunks, or null

  HEDDLE_ALWAYS_INLINE void operator()() const {
    const auto position = source.at(row);
    T lanes[chunk];
    for (int j = 0; j < chunk; ++j) lanes[j] = lowest;
    T values[chunk];
    for (index_t c = 0; c < columns; c += chunk) {
      load(position, c, values);
      if (buffer != nullptr) __builtin_memcpy(buffer + c, values, sizeof(values));
      for (int j = 0; j < chunk; ++j) lanes[j] = values[j] > lanes[j] ? values[j] : lanes[j];
    }
    for (int half = chunk / 2; half > 0; half /= 2)
      for (int j = 0; j < half; ++j) lanes[j] = lanes[j + half] > lanes[j] ? lanes[j + half] : lanes[j];
    const T greatest = lanes[0];
    const T sum = sum_of_exponentials(position, greatest);
    write(position, greatest, Log ? std::log(sum) : T{1} / sum);
  }

 private:
  /// A chunk of the row; what is beyond its end is -inf, which adds nothing.
  HEDDLE_ALWAYS_INLINE void load(const typename Source::Position& position, index_t column, T (&values)[chunk]) const {
    if (columns - column >= chunk) {
      load_inner(source, position, column, values, chunk);
    } else {
      const int count = static_cast<int>(columns - column);
      load_inner(source, position, column, values, count);
      for (int j = count; j < chunk; ++j) values[j] = lowest;
    }
  }
  HEDDLE_ALWAYS_INLINE void reload(const typename Source::Position& position, index_t column,
                                   T (&values)[chunk]) const {
    if (buffer != nullptr) {
      __builtin_memcpy(values, buffer + column, sizeof(values));
    } else {
      load(position, column, values);
    }
  }

  HEDDLE_ALWAYS_INLINE T sum_of_exponentials(const typename Source::Position& position, T greatest) const {
    T sum{0};
    for (index_t block = 0; block < columns; block += softmax_block) {
      const index_t end = columns - block < softmax_block ? columns : block + softmax_block;
      T lanes[chunk] = {};
      T values[chunk];
      for (index_t c = block; c < end; c += chunk) {
        reload(position, c, values);
        for (int j = 0; j < chunk; ++j) values[j] = softmax_exp(values[j] - greatest);
        for (int j = 0; j < chunk; ++j) lanes[j] += values[j];
        if (!Log && buffer != nullptr) __builtin_memcpy(buffer + c, values, sizeof(values));
      }
      for (int half = chunk / 2; half > 0; half /= 2)
        for (int j = 0; j < half; ++j) lanes[j] += lanes[j + half];
      sum += lanes[0];
    }
    return sum;
  }

  /// scale: the logarithm of the sum, or its reciprocal.
  HEDDLE_ALWAYS_INLINE void write(const typename Source::Position& position, T greatest, T scale) const {
    const auto to = sink.at(row);
    T values[chunk];
    for (index_t c = 0; c < columns; c += chunk) {
      reload(position, c, values);
      if constexpr (Log) {
        for (int j = 0; j < chunk; ++j) values[j] = (values[j] - greatest) - scale;
      } else if (buffer != nullptr) {
        for (int j = 0; j < chunk; ++j) values[j] = values[j] * scale;
      } else {
        for (int j = 0; j < chunk; ++j) values[j] = softmax_exp(values[j] - greatest) * scale;
      }
      if (columns - c >= chunk) {
        store_chunk(sink, to, c, values, chunk);
      } else {
        store_chunk(sink, to, c, values, static_cast<int>(columns - c));
      }
    }
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
  T* buffer;  // columns chunks

  HEDDLE_ALWAYS_INLINE void operator()() const {
    T greatest[chunk], sum[chunk], scale[chunk];
    for (int j = 0; j < chunk; ++j) greatest[j] = -static_cast<T>(__builtin_huge_valf());
    const auto position = source.at(row);
    for (index_t c = 0; c < columns; ++c) {
      T values[chunk] = {};
      if (count == chunk) {
        source.load_outer_chunk(position, c, values, chunk);
      } else {
        source.load_outer_chunk(position, c, values, count);
      }
      for (int j = 0; j < chunk; ++j) greatest[j] = values[j] > greatest[j] ? values[j] : greatest[j];
      __builtin_memcpy(buffer + c * chunk, values, sizeof(values));
    }
    for (int j = 0; j < chunk; ++j) sum[j] = T{0};
    for (index_t first = 0; first < columns; first += softmax_span) {
      const index_t end = columns - first < softmax_span ? columns : first + softmax_span;
      T part[chunk] = {};
      for (index_t c = first; c < end; ++c) {
        T values[chunk];
        __builtin_memcpy(values, buffer + c * chunk, sizeof(values));
        for (int j = 0; j < chunk; ++j) values[j] = softmax_exp(values[j] - greatest[j]);
        for (int j = 0; j < chunk; ++j) part[j] += values[j];
        if constexpr (!Log) __builtin_memcpy(buffer + c * chunk, values, sizeof(values));
      }
      for (int j = 0; j < chunk; ++j) sum[j] += part[j];
    }
    for (int j = 0; j < chunk; ++j) scale[j] = Log ? std::log(sum[j]) : T{1} / sum[j];
    for (int j = 0; j < count; ++j) write(j, greatest[j], scale[j]);
  }

 private:
  HEDDLE_ALWAYS_INLINE void write(int lane, T greatest, T scale) const {
    const auto to = sink.at(row + lane);
    T values[chunk];
    for (index_t c = 0; c < columns; c += chunk) {
      const int now = columns - c < chunk ? static_cast<int>(columns - c) : chunk;
      for (int j = 0; j < now; ++j) {
        const T value = buffer[(c + j) * chunk + lane];
        values[j] = Log ? (value - greatest) - scale : value * scale;
      }
      store_chunk(sink, to, c, values, now);
    }
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
        T* const buffer = Workspace::get<T>(Workspace::within_range, static_cast<std::size_t>(columns * chunk));
        for (index_t i = begin; i < end; ++i) {
          const index_t left = rows - i * chunk;
          vectorised(softmax_side_by_side<Log, Source, Sink>{
              source, sink, i * chunk, left < chunk ? static_cast<int>(left) : chunk, columns, buffer});
        }
      });
      return;
    }
  }
  parallel_for(rows, grain, [&](index_t begin, index_t end) {
    const index_t padded = (columns + chunk - 1) / chunk * chunk;
    T* const buffer = padded <= softmax_buffer
                          ? Workspace::get<T>(Workspace::within_range, static_cast<std::size_t>(padded))
                          : nullptr;
    for (index_t row = begin; row < end; ++row)
      vectorised(softmax_row<Log, Source, Sink>{source, sink, row, columns, buffer});
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
