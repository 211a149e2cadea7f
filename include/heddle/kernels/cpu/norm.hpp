// Rows brought to mean 0 and variance 1 (layer_norm and its kin), or to mean square 1 (rms_norm), on the CPU.
#pragma once

#include <cmath>

#include "heddle/kernels/cpu/rows.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// What a row is normalised by: (x - mean) - left, times scale. The mean was rounded; what is left of it is taken off
/// too, so that rows of equal elements give exactly 0.
template <class T>
struct row_scale {
  T mean, left, scale;
};

template <bool Centred, class Source>
HEDDLE_ALWAYS_INLINE row_scale<typename Source::value_type> find_scale(const row_reader<Source>& x, index_t columns,
                                                                       double eps) {
  using T = typename Source::value_type;
  const T count = static_cast<T>(columns);
  row_scale<T> found{T{0}, T{0}, T{0}};
  T values[chunk] = {};
  if constexpr (Centred) {
    T sum[1];
    sum_row<1>(columns, sum, [&](index_t column, int now, T(&terms)[1][chunk]) {
      x.read(column, now, values);
      for (int j = 0; j < chunk; ++j) terms[0][j] = values[j];
    });
    found.mean = sum[0] / count;
  }
  T spread[2];
  sum_row<2>(columns, spread, [&](index_t column, int now, T(&terms)[2][chunk]) {
    x.read(column, now, values);
    for (int j = 0; j < chunk; ++j) {
      const T distance = values[j] - found.mean;
      terms[0][j] = distance;
      terms[1][j] = distance * distance;
    }
  });
  if constexpr (Centred) found.left = spread[0] / count;
  found.scale = T{1} / std::sqrt(spread[1] / count - found.left * found.left + static_cast<T>(eps));
  return found;
}

template <bool Centred, class Source, class Sink>
struct normalised_row {
  using T = typename Source::value_type;
  const Source& source;
  const Sink& sink;
  index_t row, columns;
  double eps;
  T* buffer;

  HEDDLE_ALWAYS_INLINE void operator()() const {
    const row_reader<Source> x(source, row, buffer);
    x.load(columns);
    const row_scale<T> by = find_scale<Centred>(x, columns, eps);
    store_row<T>(sink, row, columns, [&](index_t column, int now, T(&values)[chunk]) {
      x.read(column, now, values);
      for (int j = 0; j < chunk; ++j) values[j] = ((values[j] - by.mean) - by.left) * by.scale;
    });
  }
};

/// sink[row, j] = (x - mean) / sqrt(variance + eps); without Centred x / sqrt(mean of squares + eps).
template <bool Centred, class Source, class Sink>
void normalise(const Source& source, const Sink& sink, index_t rows, index_t columns, double eps) {
  using T = typename Source::value_type;
  for_each_row<T>(rows, columns, 1, [&](index_t row, T* buffer, index_t) {
    vectorised(normalised_row<Centred, Source, Sink>{source, sink, row, columns, eps, buffer});
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
