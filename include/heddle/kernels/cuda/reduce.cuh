// Reductions: one result from each group of elements, in at most two launches. The threads of a block lie along the
// results and along the reduced elements, whichever is contiguous in memory; where there are too few results to fill
// the device, the reduced elements are split over blocks, and a second launch combines the parts. The order of all
// combinations depends on the extents alone, so the same bits come out each time.
#pragma once

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/core/storage.hpp"
#include "heddle/cuda/memory.hpp"
#include "heddle/kernels/cuda/lanes.cuh"
#include "heddle/kernels/cuda/launch.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int reduce_max_threads = 512;

/// Up to here a reduction is one launch: a second one would cost more than it gains.
inline constexpr index_t reduce_one_launch = 65536;

/// How a reduction is laid over the device.
struct reduce_plan {
  lane_layout lanes;
  index_t segment = 1;   ///< reduced elements a block takes, below 2^31
  int splits = 1;        ///< blocks that share a result
  bool vectors = false;  ///< a thread takes several neighbours at once
};

/// `width`: elements that a thread takes at once.
inline reduce_plan plan_reduce(index_t outer_count, index_t inner_count, bool inner_fast, int width = 1) {
  // Threads that keep an H200's 132 multiprocessors busy: 512 each suffice where that avoids a second launch.
  constexpr index_t enough_threads = 132 * 512;
  // A thread that takes vectors has 32 bytes under way.
  const index_t all_threads = width > 1 ? 132 * 1024 : 132 * 2048;
  // Elements a thread should have at least before more threads share the work.
  constexpr index_t worthwhile = 16;
  reduce_plan plan;
  plan.vectors = width > 1;
  int inner = 0, outer = 0;
  if (inner_fast) {
    inner = log2_ceil(ceil_div(inner_count, width), 5);
    while (inner < 9 && (outer_count << inner) < enough_threads && (inner_count >> inner) > worthwhile) ++inner;
    outer = inner < 8 ? 8 - inner : 0;
  } else {
    outer = log2_ceil(outer_count, 5);
    const index_t columns = ceil_div(outer_count, index_t{1} << outer) << outer;
    while (inner + outer < 9 && (columns << inner) < all_threads && (inner_count >> inner) > worthwhile / 2) ++inner;
    if (inner + outer < 8) outer = log2_ceil(outer_count, 8 - inner);
    if (inner + outer < 5) outer = 5 - inner;
  }
  plan.lanes = {inner, outer, inner_fast};

  index_t splits = 1;
  if (outer_count * inner_count > reduce_one_launch) {
    const index_t threads = ceil_div(outer_count, index_t{1} << outer) * plan.lanes.threads();
    const index_t most = inner_count / (worthwhile << inner);
    splits = all_threads / threads < most ? all_threads / threads : most;
  }
  constexpr index_t longest = index_t{1} << 30;
  if (splits < ceil_div(inner_count, longest)) splits = ceil_div(inner_count, longest);
  if (splits > 1) {
    const index_t unit = index_t{width > 4 ? width : 4} << inner;
    plan.segment = ceil_div(ceil_div(inner_count, splits), unit) * unit;
    plan.splits = static_cast<int>(ceil_div(inner_count, plan.segment));
  } else {
    plan.segment = inner_count > 0 ? inner_count : 1;
  }
  return plan;
}

/// The state of elements begin + first, begin + first + step, … below begin + length. Four loads are under way at once,
/// each into a state of its own, and a state takes a bounded run of elements before it is combined: long float sums
/// keep their precision.
template <class Reduction, class Source>
__device__ inline typename Reduction::state reduce_strided(const Reduction& reduction, const Source& source,
                                                           const typename Source::Position& position, index_t begin,
                                                           int first, int step, int length) {
  using State = typename Reduction::state;
  using Input = typename Reduction::input;
  constexpr int unroll = 4, run = 64;
  State total = reduction.identity();
  int i = first;
  while (i + (unroll - 1) * step < length) {
    const int end = ::min(length, i + run * unroll * step);
    State part[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) part[u] = reduction.identity();
#pragma unroll 1
    for (; i + (unroll - 1) * step < end; i += unroll * step) {
      Input value[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) value[u] = static_cast<Input>(source.load(position, begin + (i + u * step)));
#pragma unroll
      for (int u = 0; u < unroll; ++u) reduction.accumulate(part[u], value[u], begin + (i + u * step));
    }
#pragma unroll
    for (int width = 1; width < unroll; width *= 2) {
#pragma unroll
      for (int u = 0; u < unroll; u += 2 * width) reduction.combine(part[u], part[u + width]);
    }
    reduction.combine(total, part[0]);
  }
  if (i + step < length) {
    const Input left = static_cast<Input>(source.load(position, begin + i));
    const Input right = static_cast<Input>(source.load(position, begin + (i + step)));
    reduction.accumulate(total, left, begin + i);
    reduction.accumulate(total, right, begin + (i + step));
    i += 2 * step;
  }
  if (i < length) reduction.accumulate(total, static_cast<Input>(source.load(position, begin + i)), begin + i);
  return total;
}

/// As above, for a source that may be read in vectors: V neighbours at once, two such groups under way.
template <int V, class Reduction, class Source>
__device__ inline typename Reduction::state reduce_vectors(const Reduction& reduction, const Source& source,
                                                           const typename Source::Position& position, index_t begin,
                                                           int lane, int lanes, int length) {
  using State = typename Reduction::state;
  using Input = typename Reduction::input;
  using Value = typename Source::value_type;
  constexpr int run = 64;
  const int step = lanes * V, whole = length - length % V;
  State total = reduction.identity();
  State part[V];
  const auto add = [&](const Value(&values)[V], int i) {
#pragma unroll
    for (int e = 0; e < V; ++e) reduction.accumulate(part[e], static_cast<Input>(values[e]), begin + (i + e));
  };
  int i = lane * V;
#pragma unroll 1
  while (i < whole) {
#pragma unroll
    for (int e = 0; e < V; ++e) part[e] = reduction.identity();
    const int end = whole - i > run * step ? i + run * step : whole;
#pragma unroll 1
    for (; i + step < end; i += 2 * step) {
      Value left[V], right[V];
      source.template load_vector<V>(position, begin + i, left);
      source.template load_vector<V>(position, begin + (i + step), right);
      add(left, i);
      add(right, i + step);
    }
    if (i < end) {
      Value values[V];
      source.template load_vector<V>(position, begin + i, values);
      add(values, i);
      i += step;
    }
#pragma unroll
    for (int width = 1; width < V; width *= 2) {
#pragma unroll
      for (int e = 0; e < V; e += 2 * width) reduction.combine(part[e], part[e + width]);
    }
    reduction.combine(total, part[0]);
  }
#pragma unroll 1
  for (int rest = whole + lane; rest < length; rest += lanes)
    reduction.accumulate(total, static_cast<Input>(source.load(position, begin + rest)), begin + rest);
  return total;
}

/// A source that can be read in vectors, if its layout allows.
template <class Source>
concept HasVectors = requires(const Source& source) {
  source.in_vectors();
};

/// Storage in shared memory for any state, whatever its constructors.
template <class State>
struct alignas(16) reduce_scratch {
  unsigned char bytes[reduce_max_threads * sizeof(State)];
  __device__ State* states() { return reinterpret_cast<State*>(bytes); }
};

/// Block (x, y) reduces segment y of the results x * outer_lanes and following; with `parts` it leaves the state there.
template <class Reduction, class Source, class Sink>
__global__ void __launch_bounds__(reduce_max_threads, 1)
    reduce_kernel(const __grid_constant__ Reduction reduction, const __grid_constant__ Source source,
                  const __grid_constant__ Sink sink, index_t outer_count, index_t inner_count,
                  const __grid_constant__ reduce_plan plan, typename Reduction::state* parts) {
  using State = typename Reduction::state;
  __shared__ reduce_scratch<State> scratch;
  const index_t begin = static_cast<index_t>(blockIdx.y) * plan.segment;
  const int length = static_cast<int>(::min(plan.segment, inner_count - begin));
  const int lane = plan.lanes.inner();
  const index_t outer = (static_cast<index_t>(blockIdx.x) << plan.lanes.log2_outer) + plan.lanes.outer();
  State state = reduction.identity();
  if (outer < outer_count) {
    const auto position = source.at(outer);
    const int lanes = plan.lanes.inner_lanes();
    if constexpr (HasVectors<Source>) {
      if (plan.vectors)
        state = reduce_vectors<Source::vector_width>(reduction, source, position, begin, lane, lanes, length);
      else
        state = reduce_strided(reduction, source, position, begin, lane, lanes, length);
    } else {
      state = reduce_strided(reduction, source, position, begin, lane, lanes, length);
    }
  }
  state = combine_lanes<false>(state, plan.lanes, scratch.states(),
                               [&](State& left, const State& right) { reduction.combine(left, right); });
  if (lane == 0 && outer < outer_count) {
    if (parts != nullptr) {
      parts[outer * plan.splits + blockIdx.y] = state;
    } else {
      sink.store(sink.at(outer), index_t{0}, index_t{0}, reduction.finish(state, inner_count));
    }
  }
}

/// Combines `splits` states a result, in order.
template <class Reduction, class Sink>
__global__ void __launch_bounds__(reduce_max_threads, 1)
    combine_parts_kernel(const __grid_constant__ Reduction reduction,
                         const typename Reduction::state* __restrict__ parts, const __grid_constant__ Sink sink,
                         index_t outer_count, index_t inner_count, int splits, lane_layout lanes) {
  using State = typename Reduction::state;
  __shared__ reduce_scratch<State> scratch;
  const index_t outer = (static_cast<index_t>(blockIdx.x) << lanes.log2_outer) + lanes.outer();
  State state = reduction.identity();
  if (outer < outer_count) {
#pragma unroll 4
    for (int i = lanes.inner(); i < splits; i += lanes.inner_lanes()) {
      reduction.combine(state, parts[outer * splits + i]);
    }
  }
  state = combine_lanes<false>(state, lanes, scratch.states(),
                               [&](State& left, const State& right) { reduction.combine(left, right); });
  if (lanes.inner() == 0 && outer < outer_count) {
    sink.store(sink.at(outer), index_t{0}, index_t{0}, reduction.finish(state, inner_count));
  }
}

/// result[outer] = finish(combination of source[outer, inner] over inner), stored through the sink's epilogue.
/// With inner_count 0 the results are finish(identity). A source that has the members inner_is_contiguous() or
/// outer_is_contiguous() is read in that order.
template <class Reduction, class Source, class Sink>
inline void reduce(const Source& source, const Sink& sink, index_t outer_count, index_t inner_count,
                   const launch_context& context, const Reduction& reduction = {}) {
  using State = typename Reduction::state;
  if (outer_count <= 0) return;
  bool inner_fast = true;
  if constexpr (requires { source.inner_is_contiguous(), source.outer_is_contiguous(); }) {
    inner_fast = outer_count == 1 || source.inner_is_contiguous() || !source.outer_is_contiguous();
  }
  int width = 1;
  if constexpr (HasVectors<Source>) {
    if (inner_fast && inner_count >= Source::vector_width && source.in_vectors()) width = Source::vector_width;
  }
  const reduce_plan plan = plan_reduce(outer_count, inner_count, inner_fast, width);
  const unsigned blocks = blocks_for(outer_count, plan.lanes.outer_lanes());
  const dim3 threads(static_cast<unsigned>(plan.lanes.threads()));
  if (plan.splits == 1) {
    launch(reduce_kernel<Reduction, Source, Sink>, dim3(blocks), threads, 0, context, reduction, source, sink,
           outer_count, inner_count, plan, nullptr);
    return;
  }
  const std::size_t count = static_cast<std::size_t>(outer_count) * static_cast<std::size_t>(plan.splits);
  const StorageHandle parts(cuda::allocate(count * sizeof(State), Cuda{context.device}));
  State* const states = static_cast<State*>(parts->data);
  launch(reduce_kernel<Reduction, Source, Sink>, dim3(blocks, static_cast<unsigned>(plan.splits)), threads, 0, context,
         reduction, source, sink, outer_count, inner_count, plan, states);
  const int inner = log2_ceil(plan.splits, 8);
  const lane_layout lanes{inner, 8 - inner, true};
  launch(combine_parts_kernel<Reduction, Sink>, dim3(blocks_for(outer_count, lanes.outer_lanes())), dim3(256), 0,
         context, reduction, states, sink, outer_count, inner_count, plan.splits, lanes);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
