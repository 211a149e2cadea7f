// What row-wise kernels on the CPU share: a row is loaded into a buffer that stays in cache and passed over as often as
// an operation needs; a row too long for that is loaded anew for every pass.
#pragma once

#include <cmath>
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

inline constexpr index_t row_buffer = 1 << 16;  // elements of a row that are kept
inline constexpr index_t row_serial = 1 << 13;  // elements that are not worth a second thread

HEDDLE_ALWAYS_INLINE float row_exp(float x) { return exp_f32(x); }
HEDDLE_ALWAYS_INLINE double row_exp(double x) { return std::exp(x); }

/// One operand's row. Every pass goes from the first column to the last in chunks.
template <class Source>
class row_reader {
 public:
  using T = typename Source::value_type;

  /// `buffer`: room for the row in whole chunks, or null.
  HEDDLE_ALWAYS_INLINE row_reader(const Source& source, index_t row, T* buffer)
      : source_(source), position_(source.at(row)), buffer_(buffer) {}

  /// Before any read().
  HEDDLE_ALWAYS_INLINE void load(index_t columns) const {
    if (buffer_ == nullptr) return;
    T values[chunk] = {};
    index_t column = 0;
    for (; columns - column >= chunk; column += chunk) {
      load_inner(source_, position_, column, values, chunk);
      __builtin_memcpy(buffer_ + column, values, sizeof(values));
    }
    if (column < columns) {
      load_inner(source_, position_, column, values, static_cast<int>(columns - column));
      __builtin_memcpy(buffer_ + column, values, sizeof(values));
    }
  }
  HEDDLE_ALWAYS_INLINE void read(index_t column, int count, T (&values)[chunk]) const {
    if (buffer_ != nullptr)
      __builtin_memcpy(values, buffer_ + column, sizeof(values));
    else
      load_inner(source_, position_, column, values, count);
  }

 private:
  const Source& source_;
  typename Source::Position position_;
  T* buffer_;
};

/// Sums of N terms over a row: term(first column of a chunk, how many count, terms) fills terms[n][j].
template <std::size_t N, class T, class Term>
HEDDLE_ALWAYS_INLINE void sum_row(index_t columns, T (&sums)[N], Term term) {
  for (std::size_t n = 0; n < N; ++n) sums[n] = T{0};
  for (index_t block = 0; block < columns; block += reduce_block) {
    const index_t end = columns - block < reduce_block ? columns : block + reduce_block;
    T lanes[N][chunk] = {};
    T terms[N][chunk];
    index_t column = block;
    for (; end - column >= chunk; column += chunk) {
      term(column, chunk, terms);
      for (std::size_t n = 0; n < N; ++n)
        for (int j = 0; j < chunk; ++j) lanes[n][j] += terms[n][j];
    }
    if (column < end) {
      const int count = static_cast<int>(end - column);
      term(column, count, terms);
      for (std::size_t n = 0; n < N; ++n)
        for (int j = 0; j < count; ++j) lanes[n][j] += terms[n][j];
    }
    for (std::size_t n = 0; n < N; ++n) {
      for (int half = chunk / 2; half > 0; half /= 2)
        for (int j = 0; j < half; ++j) lanes[n][j] += lanes[n][j + half];
      sums[n] += lanes[n][0];
    }
  }
}

template <class Sink, class T>
HEDDLE_ALWAYS_INLINE void store_values(const Sink& sink, const typename Sink::Position& position, index_t column,
                                       const T (&values)[chunk], int count) {
  if constexpr (requires { sink.store_row(position, column, column, values, column); }) {
    sink.store_row(position, 0, column, values, count);
  } else {
    for (int j = 0; j < count; ++j) sink.store(position, 0, column + j, values[j]);
  }
}

/// Stores a whole row, a chunk at a time as value(first column, how many count, values) makes it.
template <class T, class Sink, class Value>
HEDDLE_ALWAYS_INLINE void store_row(const Sink& sink, index_t row, index_t columns, Value value) {
  const auto to = sink.at(row);
  T values[chunk];
  index_t column = 0;
  for (; columns - column >= chunk; column += chunk) {
    value(column, chunk, values);
    store_values(sink, to, column, values, chunk);
  }
  if (column < columns) {
    const int count = static_cast<int>(columns - column);
    value(column, count, values);
    store_values(sink, to, column, values, count);
  }
}
/// Calls body(row, buffer) for every row, threads sharing them; `buffer` has room for `operands` rows in whole chunks,
/// one after the other, or is null where they are too long.
template <class T, class Body>
void for_each_row(index_t rows, index_t columns, int operands, Body body) {
  if (rows <= 0 || columns <= 0) return;
  const index_t padded = (columns + chunk - 1) / chunk * chunk;
  parallel_for(rows, row_serial / columns + 1, [&](index_t begin, index_t end) {
    T* const buffer = padded <= row_buffer
                          ? Workspace::get<T>(Workspace::within_range, static_cast<std::size_t>(padded * operands))
                          : nullptr;
    for (index_t row = begin; row < end; ++row) body(row, buffer, buffer == nullptr ? 0 : padded);
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
