// softmax and log_softmax along one axis. A row that fits the registers of its threads (32 words a
// thread, up to 32,768 floats) is read once and written once; a longer one is read a second time, after one pass that
// finds its maximum and its sum together.
#pragma once

#include "heddle/kernels/cuda/rows.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// The greatest of some numbers, and the sum of the exponentials of their distances from it.
template <class Real>
struct exponential_sum {
  Real greatest, sum;

  __device__ __forceinline__ void add(Real x) {
    const Real above = row_max(greatest, x);
    sum = sum * row_exp(greatest - finite(above)) + row_exp(x - finite(above));
    greatest = above;
  }
  __device__ __forceinline__ void combine(const exponential_sum& right) {
    const Real apart = right.greatest - greatest;
    // Of two equal infinities it is NaN.
    const Real smaller = right.greatest == greatest ? Real{1} : row_exp(-row_abs(apart));
    sum = apart > Real{0} ? sum * smaller + right.sum : sum + right.sum * smaller;
    greatest = row_max(greatest, right.greatest);
  }

 private:
  /// So far nothing but -inf: the exponentials are 0 whatever is subtracted, as long as it is finite.
  static __device__ __forceinline__ Real finite(Real above) {
    return above == minus_infinity<Real>() ? Real{0} : above;
  }
};

/// What row_exponentials finds: the row's, and what this warp's exponentials are relative to.
template <class Real>
struct row_exponential_sum : exponential_sum<Real> {
  Real near;
};
/// The greatest element and the sum of exponentials of a row. keep(element, exponential) for each element of a held
/// one. Each warp takes its own greatest element; the warps of a row compare theirs, with the sums, only once.
template <class Row, class Keep>
__device__ __forceinline__ row_exponential_sum<typename Row::Real> row_exponentials(Row& row, Keep keep) {
  using Real = typename Row::Real;
  using State = exponential_sum<Real>;
  const auto combine = [](State& left, const State& right) { left.combine(right); };
  if constexpr (Row::held) {
    const Real greatest = row.near_greatest();
    const Real near = greatest == minus_infinity<Real>() ? Real{0} : greatest;
    const Real sum = row.near_sum([&](Real& x) {
      const Real power = row_exp(x - near);
      keep(x, power);
      return power;
    });
    return {row.far(State{greatest, sum}, combine), greatest};
  } else {
    const State all = row.fold(
        State{minus_infinity<Real>(), Real{0}}, [](State& state, Real x) { state.add(x); }, combine);
    return {all, all.greatest};
  }
}

template <bool Log>
struct softmax_rows {
  static constexpr bool light = true;
  template <class Value>
  static __device__ Value beyond() {
    return minus_infinity<Value>();
  }

  template <class Row, class Sink>
  __device__ __forceinline__ void operator()(Row& row, const Sink& sink, const uint4* staged) const {
    using Real = typename Row::Real;
    const auto all = row_exponentials(row, [](Real& x, Real power) {
      if constexpr (!Log) x = power;
    });
    // Of a row of nothing but -inf the distances are NaN.
    if constexpr (Log) {
      const Real scale = row_log(all.sum);
      row.store(sink, staged, [&](Real x) { return (x - all.greatest) - scale; });
    } else if constexpr (Row::held) {
      const Real scale = row_exp(all.near - all.greatest) / all.sum;
      row.store(sink, staged, [&](Real x) { return x * scale; });
    } else {
      const Real scale = Real{1} / all.sum;
      row.store(sink, staged, [&](Real x) { return row_exp(x - all.greatest) * scale; });
    }
  }
};

/// sink[row, j] = exp(source[row, j]) / sum over k of exp(source[row, k]), or its logarithm. A NaN makes its row NaN,
/// and so does a row of nothing but -inf.
template <bool Log, class Source, class Sink>
inline void softmax(const Source& source, const Sink& sink, index_t rows, index_t columns,
                    const launch_context& context) {
  row_wise(softmax_rows<Log>{}, source, sink, rows, columns, context);
}
}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
