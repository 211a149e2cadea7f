// Finished values through an epilogue: what follows a producer that is smaller than the output.
#pragma once

#include "heddle/kernels/cpu/form.hpp"
#include "heddle/kernels/cpu/pool.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// Rows of `from` (outer: rows, inner: columns) into the rows of `to`.
template <class V>
void spread(const value_source<V>& from, const value_sink<V>& to, index_t rows, index_t columns) {
  constexpr index_t run = 16 * chunk, grain = 16;  // elements at once, and how many of these are worth a thread
  const index_t runs = (columns + run - 1) / run;
  parallel_for(rows * runs, grain, [&](index_t begin, index_t end) {
    V values[chunk];
    for (index_t i = begin; i < end; ++i) {
      const auto source = from.at(i / runs);
      const auto target = to.at(i / runs);
      const index_t first = i % runs * run, last = first + run < columns ? first + run : columns;
      for (index_t column = first; column < last; column += chunk) {
        const int count = last - column < chunk ? static_cast<int>(last - column) : chunk;
        from.load_chunk(source, column, values, count);
        to.store_row(target, 0, column, values, count);
      }
    }
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
