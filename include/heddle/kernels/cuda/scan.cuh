// Scans on CUDA. Lines that are many enough are gone along by a block or a warp each, from end to end: 2 N of traffic.
// Few long ones are cut into segments: one launch adds up the segments, a second one adds the sums of those before and
// scans: 3 N. Every order of combinations depends on the shape alone, so the same bits come out each time. Lines that
// lie side by side in memory have a thread each.
#pragma once

#include "heddle/cuda/memory.hpp"
#include "heddle/kernels/cuda/elements.cuh"
#include "heddle/kernels/cuda/lanes.cuh"
#include "heddle/kernels/lines.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int scan_block = 256;
inline constexpr int scan_warps = scan_block / warp_size;
inline constexpr int scan_unroll = 4;  ///< elements of a thread that are under way together

/// How lines are laid over blocks.
struct scan_plan {
  bool crosswise = false;  ///< a thread a line
  int warps = 1;           ///< that share a line, if not
  index_t length = 0;      ///< of a line
  index_t segment = 0;     ///< what one group of threads goes along
  int segments = 1;
};

template <class State, class Lines, class Elements, class Writer>
struct scan_arguments {
  Lines lines;
  Elements elements;
  Writer writer;
  scan_plan plan;
  State* totals;     ///< of each line's segments
  bool only_totals;  ///< the first of two launches
};

/// The combination of a line's segments before this one, by every `step`-th from `first` on; `stride` lies between
/// their totals.
template <class Scan, class State>
__device__ inline State combine_before(const State* totals, index_t stride, int segment, int first, int step) {
  State carry = Scan::template identity<State>();
#pragma unroll 4
  for (int s = first; s < segment; s += step) carry = Scan::combine(carry, totals[s * stride]);
  return carry;
}

/// A thread goes along its line.
template <class Scan, class State, class Arguments>
__device__ inline void scan_crosswise(const Arguments& arguments, index_t line, int segment) {
  using Lines = std::remove_cvref_t<decltype(arguments.lines)>;
  constexpr int out_rows = std::remove_cvref_t<decltype(arguments.writer)>::rows;
  const scan_plan& plan = arguments.plan;
  index_t offset[Lines::held];
  arguments.lines.at(line, offset);
  const index_t begin = segment * plan.segment;
  const index_t end = ::min(begin + plan.segment, plan.length);
#pragma unroll
  for (int r = 0; r < Lines::held; ++r) offset[r] += begin * arguments.lines.along[r];
  const index_t count = arguments.lines.count();
  State* const totals = arguments.totals + line;
  State carry = Scan::template identity<State>();
  if (!arguments.only_totals) carry = combine_before<Scan>(totals, count, segment, 0, 1);
#pragma unroll 1
  for (index_t i = begin; i < end; i += scan_unroll) {
    State value[scan_unroll];
#pragma unroll
    for (int u = 0; u < scan_unroll; ++u) {
      index_t at[Lines::held];
      // Beyond the end the last element is read again, and not used.
      const index_t ahead = ::min(static_cast<index_t>(u), end - 1 - i);
#pragma unroll
      for (int r = 0; r < Lines::held; ++r) at[r] = offset[r] + ahead * arguments.lines.along[r];
      value[u] = static_cast<State>(arguments.elements.load(at + out_rows, 0));
    }
#pragma unroll
    for (int u = 0; u < scan_unroll; ++u) {
      if (i + u >= end) continue;
      carry = Scan::combine(carry, value[u]);
      if (arguments.only_totals) continue;
      index_t at[Lines::held];
#pragma unroll
      for (int r = 0; r < Lines::held; ++r) at[r] = offset[r] + u * arguments.lines.along[r];
      arguments.writer.store(at, carry);
    }
#pragma unroll
    for (int r = 0; r < Lines::held; ++r) offset[r] += scan_unroll * arguments.lines.along[r];
  }
  if (arguments.only_totals) totals[segment * count] = carry;
}

/// The combination of a warp's lanes.
template <class Scan, class State>
__device__ __forceinline__ State combine_lanes(State value) {
#pragma unroll
  for (int distance = warp_size / 2; distance > 0; distance /= 2)
    value = Scan::combine(value, shuffle_xor(value, distance));
  return value;
}

/// Some warps go along one segment of a line together; `warp` counts among them. A line that there is none of takes
/// part with nothing to do. All threads of the block must call.
template <class Scan, class State, class Arguments>
__device__ inline void scan_lengthwise(const Arguments& arguments, index_t line, int segment, int warp,
                                       State (&sums)[2][scan_warps]) {
  using Lines = std::remove_cvref_t<decltype(arguments.lines)>;
  constexpr int out_rows = std::remove_cvref_t<decltype(arguments.writer)>::rows;
  const scan_plan& plan = arguments.plan;
  const bool mine = line < arguments.lines.count();
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const int first_warp = static_cast<int>(threadIdx.x) / warp_size - warp;
  index_t offset[Lines::held];
  arguments.lines.at(mine ? line : 0, offset);
  const index_t begin = segment * plan.segment;
  const index_t length = ::min(plan.segment, plan.length - begin);
  constexpr int own = warp_size * scan_unroll;  // places of a warp's turn
  const index_t count = arguments.lines.count();
  State* const totals = arguments.totals + (mine ? line : 0);
  State carry = Scan::template identity<State>();
  if (!arguments.only_totals && plan.segments > 1) {
    if (warp == 0) {
      carry = combine_lanes<Scan>(combine_before<Scan>(totals, count, segment, lane, warp_size));
      if (lane == 0) sums[1][first_warp] = carry;
    }
    __syncthreads();
    carry = sums[1][first_warp];
  }
  int turn = 0;
#pragma unroll 1
  for (index_t tile = 0; tile < length; tile += plan.warps * own, turn ^= 1) {
    const index_t first = tile + warp * own + lane;
    State value[scan_unroll];
#pragma unroll
    for (int u = 0; u < scan_unroll; ++u) {
      const index_t place = begin + ::min(first + u * warp_size, length - 1);
      index_t at[Lines::held];
#pragma unroll
      for (int r = 0; r < Lines::held; ++r) at[r] = offset[r] + place * arguments.lines.along[r];
      value[u] = static_cast<State>(arguments.elements.load(at + out_rows, 0));
      if (first + u * warp_size >= length) value[u] = Scan::template identity<State>();
    }
    State sum = Scan::template identity<State>();
    if (arguments.only_totals) {
#pragma unroll
      for (int u = 0; u < scan_unroll; ++u) sum = Scan::combine(sum, value[u]);
      sum = combine_lanes<Scan>(sum);
    }
#pragma unroll
    for (int u = 0; u < scan_unroll && !arguments.only_totals; ++u) {
#pragma unroll
      for (int distance = 1; distance < warp_size; distance *= 2) {
        const State before = __shfl_up_sync(0xffffffffU, value[u], distance);
        if (lane >= distance) value[u] = Scan::combine(before, value[u]);
      }
      value[u] = Scan::combine(sum, value[u]);
      sum = __shfl_sync(0xffffffffU, value[u], warp_size - 1);
    }
    State before = carry;
    if (plan.warps > 1) {
      // Two places for the sums, used in turn: a warp that is ahead doesn't overwrite what another has yet to read.
      if (lane == 0) sums[turn][first_warp + warp] = sum;
      __syncthreads();
      for (int w = 0; w < plan.warps; ++w) {
        if (w == warp) before = carry;
        carry = Scan::combine(carry, sums[turn][first_warp + w]);
      }
    } else {
      carry = Scan::combine(carry, sum);
    }
    if (arguments.only_totals || !mine) continue;
#pragma unroll
    for (int u = 0; u < scan_unroll; ++u) {
      if (first + u * warp_size >= length) continue;
      index_t at[Lines::held];
#pragma unroll
      for (int r = 0; r < Lines::held; ++r)
        at[r] = offset[r] + (begin + first + u * warp_size) * arguments.lines.along[r];
      arguments.writer.store(at, Scan::combine(before, value[u]));
    }
  }
  if (arguments.only_totals && mine && warp == 0 && lane == 0) totals[segment * count] = carry;
}

template <class Scan, class State, class Lines, class Elements, class Writer>
__global__ void __launch_bounds__(scan_block)
    scan_kernel(const __grid_constant__ scan_arguments<State, Lines, Elements, Writer> arguments) {
  __shared__ State sums[2][scan_warps];
  const int segment = static_cast<int>(blockIdx.y);
  const int thread = static_cast<int>(threadIdx.x);
  if (arguments.plan.crosswise) {
    const index_t line = static_cast<index_t>(blockIdx.x) * scan_block + thread;
    if (line < arguments.lines.count()) scan_crosswise<Scan, State>(arguments, line, segment);
  } else {
    const int warp = thread / warp_size, warps = arguments.plan.warps;
    const index_t line = static_cast<index_t>(blockIdx.x) * (scan_warps / warps) + warp / warps;
    scan_lengthwise<Scan, State>(arguments, line, segment, warp % warps, sums);
  }
}

inline scan_plan plan_scan(index_t lines, index_t length, bool crosswise) {
  // Blocks that keep an H200 busy; what a group of threads goes along at least before more of them share a line; and
  // segments at most, since each adds up those before it.
  constexpr index_t enough_blocks = 132 * 4, worthwhile = 4096, most_segments = 1024;
  scan_plan plan{crosswise, 1, length, length, 1};
  index_t blocks = ceil_div(lines, scan_block);
  if (!crosswise) {
    plan.warps = length <= 8 * warp_size * scan_unroll ? 1 : scan_warps;
    blocks = ceil_div(lines, scan_warps / plan.warps);
  }
  const index_t shortest = crosswise ? 64 : worthwhile;
  index_t segments = blocks < enough_blocks ? ceil_div(enough_blocks, blocks > 0 ? blocks : 1) : 1;
  if (segments > ceil_div(length, shortest)) segments = ceil_div(length, shortest);
  if (segments > most_segments) segments = most_segments;
  if (segments > 1) {
    constexpr index_t tile = scan_block * scan_unroll;
    plan.segment = crosswise ? ceil_div(length, segments) : ceil_div(ceil_div(length, segments), tile) * tile;
    plan.segments = static_cast<int>(ceil_div(length, plan.segment));
  }
  return plan;
}

/// Rows of `lines`: the writer's, then the elements'. The writer's epilogue sees the running combinations.
template <class Scan, class State, class Lines, class Elements, class Writer>
void scan(const Lines& lines, const Elements& elements, const Writer& writer, index_t length,
          const launch_context& context) {
  const index_t count = lines.count();
  if (count == 0 || length == 0) return;
  using Arguments = scan_arguments<State, Lines, Elements, Writer>;
  static_assert(sizeof(Arguments) <= max_parameter_bytes, "this formula is too large for one kernel");
  const scan_plan plan = plan_scan(count, length, lines.crosswise(0, Lines::held));
  Arguments arguments{lines, elements, writer, plan, nullptr, false};
  const index_t lines_per_block = plan.crosswise ? scan_block : scan_warps / plan.warps;
  const dim3 grid(grid_for(count, lines_per_block), static_cast<unsigned>(plan.segments));
  const auto kernel = scan_kernel<Scan, State, Lines, Elements, Writer>;
  StorageHandle totals;
  if (plan.segments > 1) {
    const std::size_t bytes = static_cast<std::size_t>(count) * static_cast<std::size_t>(plan.segments) * sizeof(State);
    totals = StorageHandle(cuda::allocate(bytes, Cuda{context.device}));
    arguments.totals = static_cast<State*>(totals->data);
    arguments.only_totals = true;
    launch(kernel, grid, scan_block, 0, context, arguments);
    arguments.only_totals = false;
  }
  launch(kernel, grid, scan_block, 0, context, arguments);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
