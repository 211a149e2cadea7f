// The kernel that softmax, the normalisations, their gradients and cross entropy are: an operation for every row, and
// how rows are laid over the device.
#pragma once

#include "heddle/kernels/cuda/launch.cuh"
#include "heddle/kernels/cuda/row.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// Groups of V elements that a thread holds: 32 words of registers.
template <class Source, int V>
inline constexpr int row_groups = static_cast<int>(32 * 4 / (V * sizeof(typename Source::value_type)));
/// Columns that a thread takes at once: what the source says, else 4.
template <class Source>
inline constexpr int row_vector = 4;
template <class Source>
requires requires { Source::vector_width; }
inline constexpr int row_vector<Source> = Source::vector_width;

template <class Form>
inline constexpr int row_leaves = 0;
template <HasCursor Form>
inline constexpr int row_leaves<Form> = Form::leaves;
/// The most threads that share a row (512 in all where rows lie side by side). 1024 leave each 64 registers, which
/// operations and formulas of more than a few operands would spill.
template <class Op, class Source, class Sink>
inline constexpr int row_threads = Op::light&& row_leaves<Source> <= 1 && row_leaves<Sink> == 0 ? 1024 : 512;

/// What the epilogue reads for every row alike, where a block has several rows.
extern __shared__ uint4 row_staged[];

/// A block takes outer_lanes rows, or a cluster of blocks one. Op says by its member `beyond` what follows the end of a
/// held row.
template <class Op, class Source, class Sink>
__global__ void __launch_bounds__(row_threads<Op, Source, Sink>, 1)
    row_kernel(const __grid_constant__ Source source, const __grid_constant__ Sink sink,
               const __grid_constant__ Op operation, index_t rows, index_t columns,
               const __grid_constant__ row_plan plan) {
  using Value = typename Source::value_type;
  using Real = typename real_of<Value>::type;
  constexpr int V = row_vector<Source>;
  __shared__ row_scratch<Real> scratch;
  const int thread = static_cast<int>(threadIdx.x);
  int lane, slot;
  if (plan.lanes.inner_fast) {
    lane = thread & plan.inner_mask;
    slot = thread >> plan.lanes.log2_inner;
  } else {
    lane = thread >> plan.lanes.log2_outer;
    slot = thread - (lane << plan.lanes.log2_outer);
  }
  unsigned block = blockIdx.x;
  if (code_has_clusters && plan.log2_cluster > 0) {
    lane += static_cast<int>(block & ((1U << plan.log2_cluster) - 1)) << plan.lanes.log2_inner;
    block >>= plan.log2_cluster;
  }
  const index_t row = (static_cast<index_t>(block) << plan.lanes.log2_outer) + slot;
  if (plan.groups > 0) {
    if constexpr (row_leaves < Sink >> 0) {
      if (plan.staged) sink.stage(row_staged);
    }
    held_row<Source, row_groups<Source, V>, V> held(source, plan, scratch, lane, row, rows, static_cast<int>(columns),
                                                    Op::template beyond<Value>());
    operation(held, sink, row_staged);
  } else {
    streamed_row<Source> streamed(source, plan, scratch, lane, row, rows, columns);
    operation(streamed, sink, row_staged);
  }
}

/// How many threads share a row of so many columns, of which one thread may hold `held`: as few as that takes, more
/// where there would be too few blocks, but not so many that one takes less than `least`. `width`: columns that a
/// thread takes at once.
inline row_plan plan_rows(index_t rows, index_t columns, int held, int width, int least, int max_threads,
                          bool inner_fast, bool vectors) {
  constexpr index_t enough_blocks = 128;  // to keep an H200 busy
  row_plan plan;
  plan.vectors = vectors;
  int inner = 0, outer = 0;
  if (inner_fast) {
    // Neighbouring threads should read whole sectors.
    inner = log2_ceil(ceil_div(columns, vectors ? width : 1), vectors ? 1 : 3);
    const int most = log2_ceil(max_threads, 10);
    while (inner < most && (static_cast<index_t>(held) << inner) < columns) ++inner;
    const auto blocks = [&] { return rows * (index_t{1} << inner) / (inner < 7 ? 128 : index_t{1} << inner); };
    while (inner < most && blocks() < enough_blocks && (columns >> inner) >= 2 * least) ++inner;
    outer = inner < 7 ? 7 - inner : 0;
  } else {
    outer = 5;
    inner = log2_ceil(ceil_div(columns, 8), 4);
    // Narrower groups of rows keep longer rows in registers; 8 floats are still whole sectors.
    while (outer > 3 && (static_cast<index_t>(held) << inner) < columns) --outer, ++inner;
    if ((static_cast<index_t>(held) << inner) < columns) outer = 5, inner = 4;
    if (inner + outer < 7) outer = 7 - inner;
  }
  plan.lanes = {inner, outer, inner_fast};
  plan.inner_mask = (1 << inner) - 1;
  if (columns <= static_cast<index_t>(held) << inner)
    plan.groups = static_cast<int>(ceil_div(columns, static_cast<index_t>(width) << inner));
  return plan;
}

/// Lets clusters of blocks take a row each, if so they hold it: rows that are too long for a block, and long ones that
/// are too few for the device. Whether that is a gain.
inline bool share_rows(row_plan& plan, index_t rows, index_t columns, int held, int width, int max_threads) {
  constexpr index_t enough_blocks = 128, worthwhile = 16384;  // of columns
  if (!plan.lanes.inner_fast || rows > max_grid_x / max_cluster) return false;
  if (plan.groups > 0 && (columns < worthwhile || rows >= enough_blocks / 2)) return false;
  int inner = log2_ceil(max_threads, 10), cluster = 1;
  const auto fits = [&] { return columns <= static_cast<index_t>(held) << (inner + cluster); };
  const auto fits_half = [&] { return columns <= static_cast<index_t>(held) << (inner - 1 + cluster); };
  while (1U << cluster < max_cluster && (!fits() || rows << cluster < enough_blocks)) ++cluster;
  if (!fits()) return false;
  while (inner > 8 && fits_half() && columns >> (inner + cluster) < 8 * width) --inner;
  plan.lanes = {inner, 0, true};
  plan.inner_mask = (1 << inner) - 1;
  plan.log2_cluster = cluster;
  plan.groups = static_cast<int>(ceil_div(columns, static_cast<index_t>(width) << (inner + cluster)));
  return true;
}

/// Runs an operation on every row. Sources and sinks without cursors are read and written element by element.
template <class Op, class Source, class Sink>
inline void row_wise(const Op& operation, const Source& source, Sink sink, index_t rows, index_t columns,
                     const launch_context& context) {
  if (rows <= 0 || columns <= 0) return;
  constexpr int V = row_vector<Source>;
  constexpr auto kernel = row_kernel<Op, Source, Sink>;
  constexpr int threads = row_threads<Op, Source, Sink>;
  bool inner_fast = true, vectors = false, has_cursor = true;
  if constexpr (requires { source.inner_is_contiguous(); }) inner_fast = source.inner_is_contiguous();
  if constexpr (HasCursor<Source> && HasCursor<Sink>) {
    has_cursor = source.has_cursor() && sink.has_cursor();
    vectors = has_cursor && source.template in_vectors<V>() && sink.template in_vectors<V>() && inner_fast;
  }
  // A light operation gains by more threads a row when there are few rows; others only when there are very few.
  const int least = Op::light || rows < 32 ? V : V * row_groups<Source, V>;
  row_plan plan = plan_rows(rows, columns, V * row_groups<Source, V>, V, least, threads, inner_fast, vectors);
  if (!has_cursor) plan.groups = 0;
  row_plan shared = plan;
  if (has_cursor && share_rows(shared, rows, columns, V * row_groups<Source, V>, V, threads) &&
      may_use_clusters<kernel>(threads, context))
    plan = shared;
  std::size_t staged_bytes = 0;
  if constexpr (row_leaves < Sink >> 0) {
    if (plan.groups > 0 && vectors && plan.lanes.log2_outer > 0) staged_bytes = sink.plan_staging(columns);
    plan.staged = staged_bytes > 0;
  }
  const unsigned cluster = 1U << plan.log2_cluster;
  launch_clusters(cluster, kernel, dim3(blocks_for(rows, plan.lanes.outer_lanes()) * cluster),
                  dim3(static_cast<unsigned>(plan.lanes.threads())), staged_bytes, context, source, sink, operation,
                  rows, columns, plan);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
