// softmax and log_softmax along one axis. A row whose elements fit the registers of its threads (16 a thread, up to
// 8192 a row) is read once and written once; a longer one is read a second time, after one pass that finds its maximum
// and its sum together.
#pragma once

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cuda/lanes.cuh"
#include "heddle/kernels/cuda/launch.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int softmax_max_threads = 512;
inline constexpr int softmax_held = 16;  ///< elements of a row that a thread keeps in registers

__device__ inline float row_exp(float x) { return expf(x); }
__device__ inline double row_exp(double x) { return ::exp(x); }
__device__ inline float row_log(float x) { return logf(x); }
__device__ inline double row_log(double x) { return ::log(x); }
/// The greater one; of a number and NaN the number (a NaN shows in the sum of the exponentials instead).
__device__ inline float row_max(float x, float y) { return fmaxf(x, y); }
__device__ inline double row_max(double x, double y) { return fmax(x, y); }

template <class Value>
struct combine_max {
  __device__ void operator()(Value& left, Value right) const { left = row_max(left, right); }
};
template <class Value>
struct combine_sum {
  __device__ void operator()(Value& left, Value right) const { left += right; }
};

template <class Value>
__device__ inline Value minus_infinity() {
  return static_cast<Value>(-__int_as_float(0x7f800000));
}

/// Loads the elements first, first + lanes, … of a row, Count of them; those beyond the row's end become -inf. Their
/// addresses are clamped, not their loads skipped, so that all loads of a group are under way together.
template <int Count, class Source, class Index, class Value>
__device__ inline void load_group(const Source& source, const typename Source::Position& position, Index first,
                                  int lanes, Index columns, Value* values) {
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    const Index column = first + i * lanes;
    const Value value = source.load(position, static_cast<index_t>(::min(column, columns - 1)));
    values[i] = column < columns ? value : minus_infinity<Value>();
  }
}

template <bool Log, class Source, class Sink>
__device__ inline void softmax_in_registers(const Source& source, const Sink& sink, index_t row, int columns,
                                            const lane_layout& layout,
                                            typename Source::value_type (*scratch)[softmax_max_threads]) {
  using Value = typename Source::value_type;
  const int lanes = layout.inner_lanes(), lane = layout.inner();
  Value x[softmax_held];
#pragma unroll
  for (int i = 0; i < softmax_held; ++i) x[i] = minus_infinity<Value>();
  if (columns > 0) {
    const typename Source::Position position = source.at(row);
    load_group<1>(source, position, lane, lanes, columns, x);
    if (columns > lanes) load_group<1>(source, position, lane + lanes, lanes, columns, x + 1);
    if (columns > 2 * lanes) load_group<2>(source, position, lane + 2 * lanes, lanes, columns, x + 2);
#pragma unroll
    for (int i = 4; i < softmax_held; i += 4) {
      if (columns > i * lanes) load_group<4>(source, position, lane + i * lanes, lanes, columns, x + i);
    }
  }
  Value greatest = x[0];
#pragma unroll
  for (int i = 1; i < softmax_held; ++i) greatest = row_max(greatest, x[i]);
  greatest = combine_lanes<true>(greatest, layout, scratch[0], combine_max<Value>{});

  Value part[4] = {};
#pragma unroll
  for (int i = 0; i < softmax_held; ++i) {
    x[i] -= greatest;
    if (i * lanes < columns) {
      const Value power = row_exp(x[i]);
      part[i % 4] += power;
      if constexpr (!Log) x[i] = power;
    }
  }
  Value sum = (part[0] + part[1]) + (part[2] + part[3]);
  sum = combine_lanes<true>(sum, layout, scratch[1], combine_sum<Value>{});
  const Value scale = Log ? row_log(sum) : Value{1} / sum;
  if (columns > 0) {
    const typename Sink::Position position = sink.at(row);
#pragma unroll
    for (int i = 0; i < softmax_held; ++i) {
      const int column = lane + i * lanes;
      if (column < columns) {
        sink.store(position, index_t{0}, static_cast<index_t>(column), Log ? x[i] - scale : x[i] * scale);
      }
    }
  }
}

template <bool Log, class Source, class Sink>
__device__ inline void softmax_in_passes(const Source& source, const Sink& sink, index_t row, index_t columns,
                                         const lane_layout& layout,
                                         typename Source::value_type (*scratch)[softmax_max_threads]) {
  using Value = typename Source::value_type;
  constexpr int group = 4;
  const int lanes = layout.inner_lanes(), lane = layout.inner();
  Value greatest = minus_infinity<Value>(), sum = 0;
  if (columns > 0) {
    const typename Source::Position position = source.at(row);
#pragma unroll 1
    for (index_t column = lane; column < columns; column += group * lanes) {
      Value x[group];
      load_group<group>(source, position, column, lanes, columns, x);
      const Value above = row_max(greatest, row_max(row_max(x[0], x[1]), row_max(x[2], x[3])));
      // So far nothing but -inf: the exponentials are 0 whatever is subtracted, as long as it is finite.
      const Value shift = above == minus_infinity<Value>() ? Value{0} : above;
      sum *= row_exp(greatest - shift);
      sum += (row_exp(x[0] - shift) + row_exp(x[1] - shift)) + (row_exp(x[2] - shift) + row_exp(x[3] - shift));
      greatest = above;
    }
  }
  const Value own = greatest;
  greatest = combine_lanes<true>(greatest, layout, scratch[0], combine_max<Value>{});
  sum *= row_exp(own - greatest);
  sum = combine_lanes<true>(sum, layout, scratch[1], combine_sum<Value>{});
  const Value scale = Log ? row_log(sum) : Value{1} / sum;
  if (columns > 0) {
    const typename Source::Position from = source.at(row);
    const typename Sink::Position to = sink.at(row);
#pragma unroll 1
    for (index_t column = lane; column < columns; column += group * lanes) {
      Value x[group];
      load_group<group>(source, from, column, lanes, columns, x);
#pragma unroll
      for (int i = 0; i < group; ++i) {
        const index_t place = column + i * lanes;
        const Value shifted = x[i] - greatest;
        if (place < columns) sink.store(to, index_t{0}, place, Log ? shifted - scale : row_exp(shifted) * scale);
      }
    }
  }
}

template <bool Log, class Source, class Sink>
__global__ void __launch_bounds__(softmax_max_threads, 1)
    softmax_kernel(const __grid_constant__ Source source, const __grid_constant__ Sink sink, index_t rows,
                   index_t columns, lane_layout layout) {
  __shared__ typename Source::value_type scratch[2][softmax_max_threads];
  const index_t row = (static_cast<index_t>(blockIdx.x) << layout.log2_outer) + layout.outer();
  const index_t own_columns = row < rows ? columns : 0;
  if (columns <= static_cast<index_t>(softmax_held) << layout.log2_inner) {
    softmax_in_registers<Log>(source, sink, row, static_cast<int>(own_columns), layout, scratch);
  } else {
    softmax_in_passes<Log>(source, sink, row, own_columns, layout, scratch);
  }
}

inline lane_layout plan_softmax(index_t rows, index_t columns, bool inner_fast) {
  // Fewer threads than this leave an H200 idle: then more of them share a row.
  constexpr index_t enough_threads = 16384;
  int inner = 0, outer = 0;
  if (inner_fast) {
    inner = columns <= 32 * softmax_held ? log2_ceil(columns, 5) : log2_ceil(ceil_div(columns, softmax_held), 9);
    while (inner < 9 && (rows << inner) < enough_threads && (columns >> inner) >= 4) ++inner;
    outer = inner < 7 ? 7 - inner : 0;
    return {inner, outer, true};
  }
  outer = 5;
  inner = log2_ceil(ceil_div(columns, 8), 4);
  // Narrower groups of rows keep the elements of longer rows in registers; 8 floats are still whole sectors.
  while (outer > 3 && (index_t{softmax_held} << inner) < columns) --outer, ++inner;
  if ((index_t{softmax_held} << inner) < columns) outer = 5, inner = 4;
  if (inner + outer < 7) outer = 7 - inner;
  return {inner, outer, false};
}

/// sink[row, j] = ::exp(source[row, j]) / sum over k of ::exp(source[row, k]), or its logarithm. A NaN makes its row
/// NaN, and so does a row of nothing but -inf. A source that has the members inner_is_contiguous() and
/// outer_is_contiguous() is read in that order.
template <bool Log, class Source, class Sink>
inline void softmax(const Source& source, const Sink& sink, index_t rows, index_t columns,
                    const launch_context& context) {
  if (rows <= 0 || columns <= 0) return;
  bool inner_fast = true;
  if constexpr (requires { source.inner_is_contiguous(), source.outer_is_contiguous(); }) {
    inner_fast = source.inner_is_contiguous() || !source.outer_is_contiguous();
  }
  const lane_layout layout = plan_softmax(rows, columns, inner_fast);
  launch(softmax_kernel<Log, Source, Sink>, dim3(blocks_for(rows, layout.outer_lanes())),
         dim3(static_cast<unsigned>(layout.threads())), 0, context, source, sink, rows, columns, layout);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
