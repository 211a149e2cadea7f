// The gradients of row-wise normalisations. The statistics are worked out anew, since x is read anyway. Gradients of
// weight and bias are summed over the rows of a block in registers, and left as one part a block, which a reduction
// adds up: dy and x are read once, and the same bits come out each time.
#pragma once

#include "heddle/kernels/cuda/row_places.cuh"
#include "heddle/kernels/cuda/rows.cuh"
#include "heddle/kernels/moments.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// What is known of a row when its elements were passed over: y = (x - mean) * scale, and what the gradient of x is
/// made of. Elements are distances from the rounded mean, `left` what that left.
template <class Real>
struct norm_gradient_terms {
  Real left, scale, mean, factor, offset;

  /// Of the sums of x (distances), x², g and g x, over `columns`.
  __device__ __forceinline__ norm_gradient_terms(const element_sums<Real, 4>& sums, Real each, Real eps, bool centred) {
    left = centred ? sums.sum[0] * each : Real{0};
    scale = row_rsqrt(sums.sum[1] * each - left * left + eps);
    mean = centred ? sums.sum[2] * each : Real{0};
    const Real dot = (sums.sum[3] - left * sums.sum[2]) * each * scale;
    // scale (g - mean of g - y (mean of g y))
    factor = -scale * scale * dot;
    offset = -factor * left;
  }
  __device__ __forceinline__ Real input_gradient(Real g, Real x) const {
    return row_fma(scale, g - mean, row_fma(factor, x, offset));
  }
  __device__ __forceinline__ Real result(Real x) const { return (x - left) * scale; }
};

/// The gradient of x, of g = dy weight and x; where `mean` and `scale` are not null they get each row's.
template <bool Centred, class Real>
struct normalised_gradient_rows {
  static constexpr bool light = false;
  double eps;
  Real* mean;
  Real* scale;
  template <class Value>
  static __device__ Value beyond() {
    return {};
  }

  template <class Row, class Sink>
  __device__ __forceinline__ void operator()(Row& row, const Sink& sink, const uint4* staged) const {
    using Pair = typename Row::Value;
    using Sums = element_sums<Real, 4>;
    const Real each = Real{1} / static_cast<Real>(row.columns());
    Real center{0};
    if constexpr (Centred) {
      if constexpr (Row::held) {
        center = row.sum([](const Pair& x) { return x.second; }) * each;
        row.pad(Pair{Real{0}, center});
      } else {
        using State = moments<Real>;
        const State all = row.fold(
            State{}, [](State& state, const Pair& x) { state.add(x.second); },
            [](State& left, const State& right) { left.combine(right); });
        center = all.shift + all.sum * each;
      }
    }
    const Sums sums = row.sum([&](Pair& x) {
      const Real distance = x.second - center;
      if constexpr (Row::held) x.second = distance;
      return Sums{{distance, distance * distance, x.first, x.first * distance}};
    });
    const norm_gradient_terms<Real> terms(sums, each, static_cast<Real>(eps), Centred);
    row.store(sink, staged,
              [&](const Pair& x) { return terms.input_gradient(x.first, Row::held ? x.second : x.second - center); });
    if (mean != nullptr && row.is_first_lane() && row.is_row()) {
      mean[row.index()] = center + terms.left;
      scale[row.index()] = terms.scale;
    }
  }
};

/// sink = the gradient of x. Rows' means and scales are left at `mean` and `scale`, unless those are null.
template <bool Centred, class Gradient, class Input, class Sink>
inline void normalise_gradient(const Gradient& gradient, const Input& input, const Sink& sink, index_t rows,
                               index_t columns, double eps, typename Input::value_type* mean,
                               typename Input::value_type* scale, const launch_context& context) {
  using Real = typename Input::value_type;
  row_wise(normalised_gradient_rows<Centred, Real>{eps, mean, scale}, source_pair<Gradient, Input>{gradient, input},
           sink, rows, columns, context);
}

/// How the kernel that also sums the weight's gradient is laid out; no blocks: it does not serve these rows.
struct norm_gradient_plan {
  row_plan rows;
  unsigned blocks = 0;
  std::size_t shared_bytes = 0;
  bool weight_in_vectors = false;
};

template <class Gradient, class Input, class Sink>
norm_gradient_plan plan_norm_gradient(const Gradient& gradient, const Input& input, const Sink& sink, index_t rows,
                                      index_t columns) {
  using Pair = source_pair<Gradient, Input>;
  using Real = typename Input::value_type;
  constexpr int V = Pair::vector_width, held = V * row_groups<Pair, V>;
  const Pair source{gradient, input};
  norm_gradient_plan plan;
  if (rows <= 0 || columns <= 0 || !source.inner_is_contiguous() || !source.has_cursor() || !sink.has_cursor())
    return plan;
  const bool vectors = source.template in_vectors<V>() && sink.template in_vectors<V>();
  plan.rows = plan_rows(rows, columns, held, V, held, 512, true, vectors);
  if (plan.rows.groups == 0) return plan;
  const int slots = plan.rows.lanes.outer_lanes();
  // Each block writes a part as long as a row or two: few enough blocks that this is little beside what they read.
  const index_t batches = ceil_div(rows, slots);
  const index_t wanted = batches / 4 < 128 ? 128 : (batches / 4 < 528 ? batches / 4 : 528);
  plan.blocks = static_cast<unsigned>(batches < wanted ? batches : wanted);
  if (slots > 1) plan.shared_bytes = static_cast<std::size_t>(2 * columns) * sizeof(Real);
  if (plan.shared_bytes > shared_memory_by_default) plan.blocks = 0;
  return plan;
}

/// As normalised_gradient_rows; part `blockIdx.x` of the weight's gradient, and of the bias's behind them all, too.
template <bool Centred, class Source, class W, class Sink>
__global__ void __launch_bounds__(512, 1)
    norm_gradient_kernel(const __grid_constant__ Source source, const W* __restrict__ weight,
                         const __grid_constant__ Sink sink, index_t rows, int columns, double eps,
                         typename real_of<typename Source::value_type>::type* parts,
                         const __grid_constant__ norm_gradient_plan plan) {
  using Pair = typename Source::value_type;
  using Real = typename real_of<Pair>::type;
  using Sums = element_sums<Real, 4>;
  constexpr int V = Source::vector_width, G = row_groups<Source, V>;
  using Row = held_row<Source, G, V>;
  __shared__ row_scratch<Real> scratch;
  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread & plan.rows.inner_mask, slot = thread >> plan.rows.lanes.log2_inner;
  const Real each = Real{1} / static_cast<Real>(columns);
  Real w[G][V], weight_sum[G][V] = {}, bias_sum[G][V] = {};
  const row_places<G, V> places(plan.rows, lane, columns);
  places.load(weight, plan.weight_in_vectors, w);

  index_t row = (static_cast<index_t>(blockIdx.x) << plan.rows.lanes.log2_outer) + slot;
  const index_t stride = static_cast<index_t>(gridDim.x) << plan.rows.lanes.log2_outer;
  for (; row - slot < rows; row += stride) {
    Row held(source, plan.rows, scratch, lane, row, rows, columns, Pair{});
    Real center{0};
    if constexpr (Centred) {
      center = held.sum([](const Pair& x) { return x.second; }) * each;
      held.pad(Pair{Real{0}, center});
    }
    const Sums sums = held.sum([&](Pair& x, int i, int e) {
      x.second -= center;
      const Real g = x.first * w[i][e];
      return Sums{{x.second, x.second * x.second, g, g * x.second}};
    });
    const norm_gradient_terms<Real> terms(sums, each, static_cast<Real>(eps), Centred);
    held.store(sink, nullptr,
               [&](const Pair& x, int i, int e) { return terms.input_gradient(x.first * w[i][e], x.second); });
    if (held.is_row()) {
      held.each([&](const Pair& x, int i, int e) {
        weight_sum[i][e] = row_fma(x.first, terms.result(x.second), weight_sum[i][e]);
        if constexpr (Centred) bias_sum[i][e] += x.first;
      });
    }
  }

  Real* const weight_part = parts + static_cast<index_t>(blockIdx.x) * columns;
  Real* const bias_part = weight_part + static_cast<index_t>(gridDim.x) * columns;
  const int slots = plan.rows.lanes.outer_lanes();
  if (slots == 1) {
    places.store(weight_part, weight_sum, false);
    if constexpr (Centred) places.store(bias_part, bias_sum, false);
    return;
  }
  // The rows of a block, one after the other: a fixed order.
  Real* const totals = reinterpret_cast<Real*>(row_staged);
  for (int turn = 0; turn < slots; ++turn) {
    if (slot == turn) {
      places.store(totals, weight_sum, turn > 0);
      if constexpr (Centred) places.store(totals + columns, bias_sum, turn > 0);
    }
    __syncthreads();
  }
  for (int column = thread; column < columns; column += static_cast<int>(blockDim.x)) {
    weight_part[column] = totals[column];
    if constexpr (Centred) bias_part[column] = totals[columns + column];
  }
}

/// sink = the gradient of x; parts[block, column] the parts of the weight's gradient, and with Centred
/// parts[blocks + block, column] those of the bias's. `weight` has a dense element for each column.
template <bool Centred, class Gradient, class Input, class W, class Sink>
inline void normalise_gradient(const Gradient& gradient, const Input& input, const W* weight, const Sink& sink,
                               index_t rows, index_t columns, double eps, typename Input::value_type* parts,
                               norm_gradient_plan plan, const launch_context& context) {
  using Source = source_pair<Gradient, Input>;
  plan.weight_in_vectors =
      plan.rows.vectors && reinterpret_cast<std::uintptr_t>(weight) % alignof(vector_of<W, Source::vector_width>) == 0;
  launch(norm_gradient_kernel<Centred, Source, W, Sink>, dim3(plan.blocks),
         dim3(static_cast<unsigned>(plan.rows.lanes.threads())), plan.shared_bytes, context, Source{gradient, input},
         weight, sink, rows, static_cast<int>(columns), eps, parts, plan);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
