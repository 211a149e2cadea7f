// The gradients of softmax and log_softmax, from their results and the results' gradients: each is read once.
#pragma once

#include "heddle/kernels/cuda/rows.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// Of dy and y, the result of softmax: y (dy - sum(dy y)); of log_softmax: dy - exp(y) sum(dy).
template <bool Log>
struct softmax_gradient_rows {
  static constexpr bool light = false;
  template <class Value>
  static __device__ Value beyond() {
    return {};
  }

  template <class Row, class Sink>
  __device__ __forceinline__ void operator()(Row& row, const Sink& sink, const uint4* staged) const {
    using Pair = typename Row::Value;
    using Real = typename Row::Real;
    const Real total = row.sum([](const Pair& x) { return Log ? x.first : x.first * x.second; });
    row.store(sink, staged,
              [&](const Pair& x) { return Log ? x.first - row_exp(x.second) * total : x.second * (x.first - total); });
  }
};

/// The gradient with respect to softmax's operand (log_softmax's with Log), from its result and the result's gradient.
template <bool Log, class Gradient, class Result, class Sink>
inline void softmax_gradient(const Gradient& gradient, const Result& result, const Sink& sink, index_t rows,
                             index_t columns, const launch_context& context) {
  row_wise(softmax_gradient_rows<Log>{}, source_pair<Gradient, Result>{gradient, result}, sink, rows, columns, context);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
