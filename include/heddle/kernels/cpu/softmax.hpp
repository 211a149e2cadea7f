// softmax on the CPU.
#pragma once

#include <cmath>
#include <vector>

#include "heddle/core/shape.hpp"
#include "heddle/kernels/cpu/isa.hpp"
#include "heddle/kernels/cpu/pool.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

template <bool Log, class Source, class Sink>
void softmax(const Source& source, const Sink& sink, index_t rows, index_t columns) {
  using T = typename Source::value_type;
  parallel_for(rows, 16384 / (columns + 1) + 1, [&](index_t begin, index_t end) {
    std::vector<T> row(static_cast<std::size_t>(columns));
    for (index_t r = begin; r < end; ++r) {
      const auto position = source.at(r);
      T most = source.load(position, 0);
      for (index_t c = 0; c < columns; ++c) {
        row[static_cast<std::size_t>(c)] = source.load(position, c);
        const T x = row[static_cast<std::size_t>(c)];
        most = most > x || most != most ? most : x;
      }
      double sum = 0;
      for (const T x : row) sum += std::exp(static_cast<double>(x - most));
      for (T& x : row)
        x = Log ? static_cast<T>(static_cast<double>(x - most) - std::log(sum))
                : static_cast<T>(std::exp(static_cast<double>(x - most)) / sum);
      sink.store_row(sink.at(r), 0, 0, row.data(), columns);
    }
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
