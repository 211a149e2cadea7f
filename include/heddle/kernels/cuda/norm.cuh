// Rows brought to mean 0 and variance 1 (layer_norm and its kin), or to mean square 1 (rms_norm). A row that fits the
// registers of its threads is read once and written once; a longer one twice.
#pragma once

#include "heddle/kernels/cuda/rows.cuh"
#include "heddle/kernels/moments.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// (x - mean) / sqrt(variance + eps); without Centred x / sqrt(mean of squares + eps).
template <bool Centred>
struct normalised_rows {
  static constexpr bool light = false;
  double eps;
  template <class Value>
  static __device__ Value beyond() {
    return Value{0};
  }

  template <class Row, class Sink>
  __device__ __forceinline__ void operator()(Row& row, const Sink& sink, const uint4* staged) const {
    using Real = typename Row::Real;
    const Real each = Real{1} / static_cast<Real>(row.columns());
    const Real least = static_cast<Real>(eps);
    if constexpr (!Centred) {
      const Real scale = row_rsqrt(row.sum([](Real x) { return x * x; }) * each + least);
      row.store(sink, staged, [&](Real x) { return x * scale; });
    } else if constexpr (Row::held) {
      const Real mean = row.sum([](Real x) { return x; }) * each;
      row.pad(mean);
      // The mean was rounded: what is left of it is taken off too, so that rows of equal elements give exactly 0.
      using Pair = element_pair<Real>;
      const Pair spread = row.sum([&](Real& x) {
        x -= mean;
        return Pair{x, x * x};
      });
      const Real rest = spread.first * each;
      const Real scale = row_rsqrt(spread.second * each - rest * rest + least);
      const Real left = -rest * scale;
      row.store(sink, staged, [&](Real x) { return row_fma(x, scale, left); });
    } else {
      using State = moments<Real>;
      const State all = row.fold(
          State{}, [](State& state, Real x) { state.add(x); },
          [](State& left, const State& right) { left.combine(right); });
      const Real scale = row_rsqrt(all.squares * each + least);
      const Real mean = all.sum * each;
      row.store(sink, staged, [&](Real x) { return ((x - all.shift) - mean) * scale; });
    }
  }
};

/// sink[row, j] = the normalised source[row, j]. Statistics are in the element type that formulas compute in.
template <bool Centred, class Source, class Sink>
inline void normalise(const Source& source, const Sink& sink, index_t rows, index_t columns, double eps,
                      const launch_context& context) {
  row_wise(normalised_rows<Centred>{eps}, source, sink, rows, columns, context);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
