// Elements moved unchanged in long runs into a dense output, 16 bytes a thread: rows gathered by an index, triangles. A
// source that is not aligned as the output is read in aligned pieces of 16 bytes all the same: the second half of what
// a thread needs is the first half of what its neighbour has read, and the two are shifted together. So each sector of
// the source is read once.
#pragma once

#include "heddle/kernels/cuda/copy_source.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int copy_block = 256;

template <class Locator, int Rank>
struct copy_runs_arguments {
  output_axes<Rank, std::int32_t> axes;
  Locator locator;
  copy_source source;
  unsigned char* to;
  uint4 fill;  ///< 16 bytes of fill values
  index_check check;
};

template <int Bytes, class Locator, int Rank>
__global__ void __launch_bounds__(copy_block)
    copy_runs_kernel(const __grid_constant__ copy_runs_arguments<Locator, Rank> arguments) {
  using Bits = bits_of<Bytes>;
  constexpr int lanes = 16 / Bytes;
  const std::int32_t size = arguments.axes.size;
  const std::int64_t begin = (static_cast<std::int64_t>(blockIdx.x) * copy_block + threadIdx.x) * lanes;
  const std::int32_t first = begin < size ? static_cast<std::int32_t>(begin) : size - 1;
  const bool mine = begin < size;
  coordinates_of<Rank, std::int32_t> coordinate;
  arguments.axes.decode(first, coordinate);
  location<1, std::int32_t> found;
  const place where = arguments.locator.locate(coordinate, found);
  const bool whole = mine && arguments.locator.run(coordinate, arguments.axes.left(coordinate)) >= lanes;

  const unsigned char* const source = arguments.source.from + static_cast<index_t>(found.offset[0]) * Bytes;
  const unsigned shift = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(source) & 15U);
  const unsigned char* const piece = source - shift;
  const bool safe = whole && where == place::element && piece >= arguments.source.low &&
                    piece + (shift == 0 ? 16 : 32) <= arguments.source.high;
  uint4 left{}, right{};
  if (safe) left = *reinterpret_cast<const uint4*>(piece);
  // Every lane takes part: the neighbour's piece serves where it is the next one.
  const unsigned long long address = safe ? reinterpret_cast<unsigned long long>(piece) : 0ULL;
  const unsigned long long neighbour = __shfl_down_sync(0xffffffffU, address, 1);
  right.x = __shfl_down_sync(0xffffffffU, left.x, 1);
  right.y = __shfl_down_sync(0xffffffffU, left.y, 1);
  right.z = __shfl_down_sync(0xffffffffU, left.z, 1);
  right.w = __shfl_down_sync(0xffffffffU, left.w, 1);
  if (!mine) return;

  uint4 result = arguments.fill;
  if (safe) {
    const bool last_lane = threadIdx.x % 32 == 31;
    if (shift != 0 && (last_lane || neighbour != address + 16)) right = *reinterpret_cast<const uint4*>(piece + 16);
    result = shift == 0 ? left : shifted_together(left, right, shift);
  } else if (whole && where != place::element) {
    if constexpr (Locator::reads_indices) {
      if (where == place::out_of_range) arguments.check.report(found.index);
    }
  } else {
    unsigned word[4] = {};
#pragma unroll 1
    for (int j = 0; j < lanes && first + j < size; ++j) {
      arguments.axes.decode(first + j, coordinate);
      location<1, std::int32_t> one;
      const place there = arguments.locator.locate(coordinate, one);
      Bits bits = first_bits<Bits>(arguments.fill);
      if (there == place::element)
        bits = *reinterpret_cast<const Bits*>(arguments.source.from + static_cast<index_t>(one.offset[0]) * Bytes);
      if constexpr (Locator::reads_indices) {
        if (there == place::out_of_range) arguments.check.report(one.index);
      }
#pragma unroll
      for (int k = 0; k < lanes; ++k)
        if (k == j) put_bits(word, k, bits);
    }
    result = {word[0], word[1], word[2], word[3]};
  }
  const unsigned word[4] = {result.x, result.y, result.z, result.w};
  write_vector<Bits>(arguments.to + static_cast<index_t>(first) * Bytes, word, size - first);
}

/// Moves elements of `Bytes` bytes each into a dense output. The innermost axis must have stride 1 in the source, whose
/// elements lie densely.
template <int Bytes, int Rows, int Rank, class Locator>
void copy_runs(const axis_table<Rows, Rank>& table, const Locator& locator, const copy_source& source, void* out,
               uint4 fill, const index_check& check, const launch_context& context) {
  const copy_runs_arguments<Locator, Rank> arguments{output_axes<Rank, std::int32_t>(table), locator, source,
                                                     static_cast<unsigned char*>(out),       fill,    check};
  constexpr int lanes = 16 / Bytes;
  launch(copy_runs_kernel<Bytes, Locator, Rank>, grid_for(arguments.axes.size, copy_block * lanes), copy_block, 0,
         context, arguments);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
