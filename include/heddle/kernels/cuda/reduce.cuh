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

/// Splits the reduced elements over so many blocks, each of which takes a multiple of `unit`.
inline void split_segments(reduce_plan& plan, index_t inner_count, index_t splits, index_t unit) {
  constexpr index_t longest = index_t{1} << 30;
  if (splits < ceil_div(inner_count, longest)) splits = ceil_div(inner_count, longest);
  plan.segment =
      splits > 1 ? ceil_div(ceil_div(inner_count, splits), unit) * unit : (inner_count > 0 ? inner_count : 1);
  plan.splits = splits > 1 ? static_cast<int>(ceil_div(inner_count, plan.segment)) : 1;
}

/// For threads that take `width` neighbouring results each, and four elements of each at a time.
inline reduce_plan plan_columns(index_t outer_count, index_t inner_count, int width) {
  constexpr index_t under_way = 4, blocks_at_once = 264;
  const index_t vectors = outer_count / width;
  reduce_plan plan;
  plan.vectors = true;
  int inner = 0;
  const auto goes_on = [&] {
    const index_t threads = vectors << inner, each = inner_count >> inner;
    return (threads < 128 * 512 && each > under_way) || (threads < 128 * 1024 && each >= 16 * under_way);
  };
  // Neighbouring threads should read 64 bytes at least.
  const int most = 9 - log2_ceil(vectors, 2);
  while (inner < most && goes_on()) ++inner;
  // Rows of threads are as long as the shared memory for their results allows (reduce_scratch).
  int outer = inner < 3 ? 7 - inner : (inner < 5 ? 4 : 3);
  while (outer > 0 && (outer + inner > 9 || index_t{1} << (outer - 1) >= vectors)) --outer;
  if (outer + inner < 5) outer = 5 - inner;
  plan.lanes = {inner, outer, false};

  index_t splits = 1;
  const index_t blocks = ceil_div(vectors, index_t{1} << outer);
  if (outer_count * inner_count > reduce_one_launch && blocks < 64) {
    const index_t most = inner_count / (under_way << inner);
    splits = blocks_at_once / blocks < most ? blocks_at_once / blocks : most;
  }
  split_segments(plan, inner_count, splits, under_way << inner);
  return plan;
}

/// `width`: elements that a thread takes at once.
inline reduce_plan plan_reduce(index_t outer_count, index_t inner_count, bool inner_fast, int width = 1) {
  // Threads that keep an H200's 132 multiprocessors busy: 512 each suffice where that avoids a second launch.
  constexpr index_t enough_threads = 132 * 512;
  // A thread that takes vectors has up to 64 bytes under way, another one 16.
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
  const index_t unit = index_t{width > 1 ? 4 * width : 4} << inner;
  if (outer_count * inner_count > reduce_one_launch) {
    const index_t threads = ceil_div(outer_count, index_t{1} << outer) * plan.lanes.threads();
    const index_t most = width > 1 ? ceil_div(inner_count, unit) : inner_count / (worthwhile << inner);
    splits = all_threads / threads < most ? all_threads / threads : most;
  }
  split_segments(plan, inner_count, splits, unit);
  return plan;
}

/// A source that can be read in vectors, if its layout allows.
template <class Source>
concept HasVectors = requires(const Source& source) {
  source.in_vectors();
};
template <class Source>
inline constexpr int reduce_width = 1;
template <HasVectors Source>
inline constexpr int reduce_width<Source> = Source::vector_width;
/// Vectors that a thread has under way at once: fewer where states take many registers.
template <class Reduction, class Source>
inline constexpr int loads_at_once = [] {
  constexpr int state_bytes = reduce_width<Source> * static_cast<int>(sizeof(typename Reduction::state));
  return state_bytes > 64 && Source::vectors_at_once > 2 ? 2 : Source::vectors_at_once;
}();

/// Storage in shared memory for any state, whatever its constructors: one a thread, or a warp's V results of 8 columns.
template <class State, int V>
struct alignas(16) reduce_scratch {
  static constexpr int count = 128 * V > reduce_max_threads ? 128 * V : reduce_max_threads;
  unsigned char bytes[count * sizeof(State)];
  __device__ State* states() { return reinterpret_cast<State*>(bytes); }
};

/// A reduction that takes runs of elements in a state of its own: begin_run(), accumulate_run(state, element, place)
/// and end_run(state, position of place 0).
template <class Reduction>
concept HasRuns = requires {
  typename Reduction::run_state;
};
template <class Reduction>
struct run_state_of {
  using type = typename Reduction::state;
};
template <HasRuns Reduction>
struct run_state_of<Reduction> {
  using type = typename Reduction::run_state;
};
template <class Reduction>
using run_state_t = typename run_state_of<Reduction>::type;
template <class Reduction>
__device__ __forceinline__ run_state_t<Reduction> begin_run(const Reduction& reduction) {
  if constexpr (HasRuns<Reduction>)
    return reduction.begin_run();
  else
    return reduction.identity();
}
/// `first`: the position of place 0, known by end_run too.
template <class Reduction, class Value>
__device__ __forceinline__ void accumulate_run(const Reduction& reduction, run_state_t<Reduction>& part, Value value,
                                               int place, index_t first) {
  const auto input = static_cast<typename Reduction::input>(value);
  if constexpr (HasRuns<Reduction>)
    reduction.accumulate_run(part, input, static_cast<std::uint32_t>(place));
  else
    reduction.accumulate(part, input, first + place);
}
template <class Reduction>
__device__ __forceinline__ typename Reduction::state end_run(const Reduction& reduction,
                                                             const run_state_t<Reduction>& part, index_t first) {
  if constexpr (HasRuns<Reduction>)
    return reduction.end_run(part, first);
  else
    return part;
}

/// Takes the elements begin + i for i = first, first + step, … below `length`; load(values, i) brings V of them at
/// once: neighbours along the reduced elements, in states that belong together, or neighbouring results. U loads are
/// under way at once, and a state takes a bounded run of elements before it is combined, so that long float sums keep
/// their precision.
template <int U, int V, class Value, class Reduction, class Load>
__device__ __forceinline__ void reduce_strided(const Reduction& reduction, index_t begin, int first, int step,
                                               int length, bool along_results, Load load,
                                               typename Reduction::state (&total)[V]) {
  constexpr int run = 64;
#pragma unroll
  for (int e = 0; e < V; ++e) total[e] = reduction.identity();
  int i = first;
#pragma unroll 1
  while (i < length) {
    run_state_t<Reduction> part[V];
#pragma unroll
    for (int e = 0; e < V; ++e) part[e] = begin_run(reduction);
    const int end = length - i > run * step ? i + run * step : length;
#pragma unroll 1
    for (; i < end; i += U * step) {
      Value values[U][V];
#pragma unroll
      for (int u = 0; u < U; ++u)
        if (u == 0 || end - i > u * step) load(values[u], i + u * step);
#pragma unroll
      for (int u = 0; u < U; ++u) {
        if (u > 0 && end - i <= u * step) break;
#pragma unroll
        for (int e = 0; e < V; ++e)
          accumulate_run(reduction, part[e], values[u][e], i + u * step, begin + (along_results ? 0 : e));
      }
    }
#pragma unroll
    for (int e = 0; e < V; ++e)
      reduction.combine(total[e], end_run(reduction, part[e], begin + (along_results ? 0 : e)));
  }
}

/// reduce_strided of a source's elements, V at once: U loads under way where the reduced elements lie at steps of one
/// length, else Else.
template <int V, int U, int Else, class Reduction, class Source>
__device__ __forceinline__ void reduce_walk(const Reduction& reduction, const Source& source,
                                            typename Source::Position position, index_t begin, int first, int step,
                                            int length, bool along_results, typename Reduction::state (&total)[V]) {
  using Value = typename Source::value_type;
  if (source.is_linear()) {
    position = source.ahead(position, begin);
    const auto load = [&](Value(&values)[V], int i) {
      source.template load_vector<V>(source.steps_ahead(position, i), along_results, values);
    };
    reduce_strided<U, V, Value>(reduction, begin, first, step, length, along_results, load, total);
  } else {
    const auto load = [&](Value(&values)[V], int i) {
      source.template load_vector<V>(source.template ahead<(V > 1)>(position, begin + i), along_results, values);
    };
    reduce_strided<Else, V, Value>(reduction, begin, first, step, length, along_results, load, total);
  }
}

/// Combines the states of V results a thread over the threads that share them, and gives store(result, state) those of
/// the block, neighbours to neighbouring threads. `first`: the block's first result.
template <int V, class Reduction, class Store>
__device__ __forceinline__ void combine_columns(const Reduction& reduction, typename Reduction::state (&total)[V],
                                                const lane_layout& layout, typename Reduction::state* scratch,
                                                index_t first, index_t outer_count, Store store) {
  using State = typename Reduction::state;
  const int thread = static_cast<int>(threadIdx.x);
  const int columns = layout.outer_lanes(), results = columns * V;
  for (int distance = warp_size / 2; distance >= columns; distance /= 2) {
#pragma unroll
    for (int e = 0; e < V; ++e) reduction.combine(total[e], shuffle_xor(total[e], distance));
  }
  const int log2_row = layout.log2_outer > 5 ? layout.log2_outer : 5;
  if (columns >= warp_size || thread % warp_size < columns) {
    State* const place = scratch + (thread >> log2_row) * results + (thread & (columns - 1)) * V;
#pragma unroll
    for (int e = 0; e < V; ++e) place[e] = total[e];
  }
  __syncthreads();
  const int rows = layout.threads() >> log2_row;
#pragma unroll 1
  for (int result = thread; result < results && first + result < outer_count; result += layout.threads()) {
    State state = scratch[result];
#pragma unroll 4
    for (int row = 1; row < rows; ++row) reduction.combine(state, scratch[row * results + result]);
    store(first + result, state);
  }
}

/// Block (x, y) reduces segment y of the results x * outer_lanes and following (V times as many where threads take V
/// neighbouring results); with `parts` it leaves the states there, a result's side by side, or where threads lie along
/// the results a segment's.
template <class Reduction, class Source, class Sink>
__global__ void __launch_bounds__(reduce_max_threads, 1)
    reduce_kernel(const __grid_constant__ Reduction reduction, const __grid_constant__ Source source,
                  const __grid_constant__ Sink sink, index_t outer_count, index_t inner_count,
                  const __grid_constant__ reduce_plan plan, typename Reduction::state* parts) {
  using State = typename Reduction::state;
  constexpr int V = reduce_width<Source>;
  __shared__ reduce_scratch<State, V> scratch;
  const index_t begin = static_cast<index_t>(blockIdx.y) * plan.segment;
  const int length = static_cast<int>(::min(plan.segment, inner_count - begin));
  const int lane = plan.lanes.inner(), lanes = plan.lanes.inner_lanes();
  const index_t first = static_cast<index_t>(blockIdx.x) << plan.lanes.log2_outer;
  const index_t outer = first + plan.lanes.outer();
  const auto store = [&](index_t result, const State& state) {
    if (parts != nullptr)
      parts[plan.lanes.inner_fast ? result * plan.splits + blockIdx.y : blockIdx.y * outer_count + result] = state;
    else
      sink.store(sink.at(result), index_t{0}, index_t{0}, reduction.finish(state, inner_count));
  };
  State state = reduction.identity();
  if constexpr (HasVectors<Source>) {
    if (plan.vectors) {
      const bool along_results = !plan.lanes.inner_fast;
      const index_t result = along_results ? outer * V : outer;
      const int own = result < outer_count ? length : 0;
      State total[V];
      reduce_walk<V, loads_at_once<Reduction, Source>, 2>(
          reduction, source, source.at(own > 0 ? result : 0), begin, along_results ? lane : lane * V,
          along_results ? lanes : lanes * V, along_results ? own : own - own % V, along_results, total);
      if (along_results)
        return combine_columns(reduction, total, plan.lanes, scratch.states(), first * V, outer_count, store);
#pragma unroll
      for (int width = 1; width < V; width *= 2) {
#pragma unroll
        for (int e = 0; e < V; e += 2 * width) reduction.combine(total[e], total[e + width]);
      }
      state = total[0];
      // What is less than a vector.
      int i = own - own % V + lane;
      if (i < own) {
        const auto position = source.at(outer);
        run_state_t<Reduction> rest = begin_run(reduction);
#pragma unroll 1
        for (; i < own; i += lanes) accumulate_run(reduction, rest, source.load(position, begin + i), i, begin);
        reduction.combine(state, end_run(reduction, rest, begin));
      }
    } else if (outer < outer_count) {
      State total[1];
      reduce_walk<1, 4, 1>(reduction, source, source.at(outer), begin, lane, lanes, length, true, total);
      state = total[0];
    }
  } else if (outer < outer_count) {
    const auto position = source.at(outer);
    State total[1];
    reduce_strided<4, 1, typename Source::value_type>(
        reduction, begin, lane, lanes, length, true,
        [&](auto& value, int i) { value[0] = source.load(position, begin + i); }, total);
    state = total[0];
  }
  state = combine_lanes<false>(state, plan.lanes, scratch.states(),
                               [&](State& left, const State& right) { reduction.combine(left, right); });
  if (lane == 0 && outer < outer_count) store(outer, state);
}

/// Combines `splits` states a result, in order; they lie as the reduction's kernel left them.
template <class Reduction, class Sink>
__global__ void __launch_bounds__(reduce_max_threads, 1)
    combine_parts_kernel(const __grid_constant__ Reduction reduction,
                         const typename Reduction::state* __restrict__ parts, const __grid_constant__ Sink sink,
                         index_t outer_count, index_t inner_count, int splits, lane_layout lanes) {
  using State = typename Reduction::state;
  __shared__ reduce_scratch<State, 1> scratch;
  const index_t outer = (static_cast<index_t>(blockIdx.x) << lanes.log2_outer) + lanes.outer();
  State state = reduction.identity();
  if (outer < outer_count) {
#pragma unroll 4
    for (int i = lanes.inner(); i < splits; i += lanes.inner_lanes()) {
      reduction.combine(state, parts[lanes.inner_fast ? outer * splits + i : i * outer_count + outer]);
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
  constexpr int width = reduce_width<Source>;
  bool vectors = false;
  if constexpr (HasVectors<Source>) {
    vectors = inner_fast ? inner_count >= width && source.in_vectors() : source.results_in_vectors();
  }
  const reduce_plan plan = vectors && !inner_fast
                               ? plan_columns(outer_count, inner_count, width)
                               : plan_reduce(outer_count, inner_count, inner_fast, vectors ? width : 1);
  const unsigned blocks =
      blocks_for(outer_count, static_cast<index_t>(plan.lanes.outer_lanes()) * (vectors && !inner_fast ? width : 1));
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
  const int inner = log2_ceil(plan.splits, inner_fast ? 8 : 5);
  const lane_layout lanes{inner, 8 - inner, inner_fast};
  launch(combine_parts_kernel<Reduction, Sink>, dim3(blocks_for(outer_count, lanes.outer_lanes())), dim3(256), 0,
         context, reduction, states, sink, outer_count, inner_count, plan.splits, lanes);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
