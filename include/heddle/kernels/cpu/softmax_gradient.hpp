// The gradients of softmax and log_softmax on the CPU, from their results and the results' gradients.
#pragma once

#include "heddle/kernels/cpu/rows.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

template <bool Log, class Gradient, class Result, class Sink>
struct softmax_gradient_row {
  using T = typename Result::value_type;
  const Gradient& gradient;
  const Result& result;
  const Sink& sink;
  index_t row, columns;
  T* buffer;
  index_t room;

  HEDDLE_ALWAYS_INLINE void operator()() const {
    const row_reader<Gradient> dy(gradient, row, buffer);
    const row_reader<Result> y(result, row, buffer == nullptr ? nullptr : buffer + room);
    dy.load(columns);
    y.load(columns);
    T g[chunk] = {}, values[chunk] = {};
    T total[1];
    sum_row<1>(columns, total, [&](index_t column, int now, T(&terms)[1][chunk]) {
      dy.read(column, now, g);
      if constexpr (!Log) y.read(column, now, values);
      for (int j = 0; j < chunk; ++j) terms[0][j] = Log ? g[j] : g[j] * values[j];
    });
    store_row<T>(sink, row, columns, [&](index_t column, int now, T(&out)[chunk]) {
      dy.read(column, now, g);
      y.read(column, now, values);
      for (int j = 0; j < chunk; ++j)
        out[j] = Log ? g[j] - row_exp(values[j]) * total[0] : values[j] * (g[j] - total[0]);
    });
  }
};

/// The gradient with respect to softmax's operand, y (dy - sum(dy y)); log_softmax's with Log, dy - exp(y) sum(dy).
template <bool Log, class Gradient, class Result, class Sink>
void softmax_gradient(const Gradient& gradient, const Result& result, const Sink& sink, index_t rows, index_t columns) {
  using T = typename Result::value_type;
  for_each_row<T>(rows, columns, 2, [&](index_t row, T* buffer, index_t room) {
    vectorised(softmax_gradient_row<Log, Gradient, Result, Sink>{gradient, result, sink, row, columns, buffer, room});
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
