// Elements moved unchanged into a dense output, 16 bytes a thread. A source that is not aligned as the output is read
// in aligned pieces of 16 bytes all the same: the second half of what a thread needs is the first half of what its
// neighbour has read, and the two are shifted together. So each sector of the source is read once.
#pragma once

#include "heddle/kernels/cuda/elements.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int copy_block = 256;

/// The memory that a plain copy reads: the locator's offsets count from `from`, and nothing outside of low and high is
/// touched.
struct copy_source {
  const unsigned char* from = nullptr;
  const unsigned char* low = nullptr;
  const unsigned char* high = nullptr;

  copy_source() = default;
  /// Elements of `bytes` bytes that reach from the first one as `span` tells.
  copy_source(const void* data, const OffsetSpan& span, index_t bytes)
      : from(static_cast<const unsigned char*>(data)), low(from + span.lowest * bytes), high(from + (span.highest + 1) * bytes) {}
  template <class Locator, class Coordinates>
  __device__ __forceinline__ bool covers(const Locator&, const Coordinates&, const unsigned char* begin,
                                         const unsigned char* end) const {
    return begin >= low && end <= high;
  }
};

/// The same for the pieces of a concatenation; `from` is the first piece's.
template <int Pieces>
struct copy_sources {
  const unsigned char* from = nullptr;
  copy_source piece[static_cast<std::size_t>(Pieces)];

  template <class Locator, class Coordinates>
  __device__ __forceinline__ bool covers(const Locator& locator, const Coordinates& coordinate,
                                         const unsigned char* begin, const unsigned char* end) const {
    const int p = locator.piece_at(coordinate);
    return begin >= piece[p].low && end <= piece[p].high;
  }
};

template <class Locator, class Source, int Rank>
struct copy_arguments {
  output_axes<Rank> axes;
  Locator locator;
  Source source;
  unsigned char* to;
  uint4 fill;  ///< 16 bytes of fill values
  index_check check;
};

template <int Bytes>
using bits_of = std::conditional_t<Bytes == 1, unsigned char,
                                   std::conditional_t<Bytes == 2, unsigned short,
                                                      std::conditional_t<Bytes == 4, unsigned, unsigned long long>>>;

/// The 16 bytes that begin `shift` bytes into two neighbouring pieces.
__device__ __forceinline__ uint4 shifted_together(uint4 left, uint4 right, unsigned shift) {
  unsigned word[8] = {left.x, left.y, left.z, left.w, right.x, right.y, right.z, right.w};
#pragma unroll
  for (int w = 0; w < 6; ++w) word[w] = (shift & 8U) != 0 ? word[w + 2] : word[w];
#pragma unroll
  for (int w = 0; w < 5; ++w) word[w] = (shift & 4U) != 0 ? word[w + 1] : word[w];
  const unsigned bits = (shift & 3U) * 8U;
  return {__funnelshift_r(word[0], word[1], bits), __funnelshift_r(word[1], word[2], bits),
          __funnelshift_r(word[2], word[3], bits), __funnelshift_r(word[3], word[4], bits)};
}

template <int Bytes, class Locator, class Source, int Rank>
__global__ void __launch_bounds__(copy_block)
    copy_runs_kernel(const __grid_constant__ copy_arguments<Locator, Source, Rank> arguments) {
  using Bits = bits_of<Bytes>;
  constexpr int lanes = 16 / Bytes;
  const index_t vector = static_cast<index_t>(blockIdx.x) * copy_block + threadIdx.x;
  const index_t first = vector * lanes;
  const index_t size = arguments.axes.size;
  index_t coordinate[axis_capacity<Rank>];
  typename Locator::offsets offset = {}, step;
  place found = place::fill;
  bool whole = first + lanes <= size;
  if (whole) {
    arguments.axes.decode(first, coordinate);
    const index_t left = arguments.axes.inner_extent() - arguments.axes.inner_coordinate(coordinate);
    whole = left >= lanes && arguments.locator.run(coordinate, left, step) >= lanes;
    if (whole) found = arguments.locator.locate(coordinate, offset);
  }
  const unsigned char* const source = arguments.source.from + offset[0] * Bytes;
  const unsigned shift = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(source) & 15U);
  const unsigned char* const piece = source - shift;
  const bool safe = whole && found == place::element &&
                    arguments.source.covers(arguments.locator, coordinate, piece, piece + (shift == 0 ? 16 : 32));

  uint4 left{}, right{};
  if (safe) left = *reinterpret_cast<const uint4*>(piece);
  // Every lane takes part: the neighbour's piece serves where it is the next one.
  const unsigned long long address = safe ? reinterpret_cast<unsigned long long>(piece) : 0ULL;
  const unsigned long long neighbour = __shfl_down_sync(0xffffffffU, address, 1);
  right.x = __shfl_down_sync(0xffffffffU, left.x, 1);
  right.y = __shfl_down_sync(0xffffffffU, left.y, 1);
  right.z = __shfl_down_sync(0xffffffffU, left.z, 1);
  right.w = __shfl_down_sync(0xffffffffU, left.w, 1);
  if (first >= size) return;

  unsigned char* const to = arguments.to + first * Bytes;
  if (safe) {
    const bool last_lane = threadIdx.x % 32 == 31;
    if (shift != 0 && (last_lane || neighbour != address + 16)) right = *reinterpret_cast<const uint4*>(piece + 16);
    *reinterpret_cast<uint4*>(to) = shift == 0 ? left : shifted_together(left, right, shift);
    return;
  }
  if (whole && found != place::element) {
    if constexpr (Locator::reads_indices) {
      if (found == place::out_of_range) arguments.check.report(offset[0]);
    }
    *reinterpret_cast<uint4*>(to) = arguments.fill;
    return;
  }
#pragma unroll 1
  for (int j = 0; j < lanes && first + j < size; ++j) {
    arguments.axes.decode(first + j, coordinate);
    typename Locator::offsets own = {};
    const place one = arguments.locator.locate(coordinate, own);
    Bits bits;
    if (one == place::element)
      bits = *reinterpret_cast<const Bits*>(arguments.source.from + own[0] * Bytes);
    else
      bits = static_cast<Bits>(arguments.fill.x | (Bytes == 8 ? static_cast<unsigned long long>(arguments.fill.y) << 32
                                                              : 0ULL));
    if constexpr (Locator::reads_indices) {
      if (one == place::out_of_range) arguments.check.report(own[0]);
    }
    reinterpret_cast<Bits*>(to)[j] = bits;
  }
}

/// Whether the output is dense in the table's order and begins at a multiple of 16 bytes.
template <class Table>
bool is_dense_output(const Table& table, const void* out) {
  index_t step = 1;
  for (int a = Table::capacity - 1; a >= 0; --a) {
    if (a >= table.rank) continue;
    if (table.stride[0][a] != step) return false;
    step *= table.extent[a];
  }
  return reinterpret_cast<std::uintptr_t>(out) % 16 == 0;
}

/// Whether runs along the innermost axis are long enough that most threads stay within one.
template <class Table>
bool has_long_runs(const Table& table) {
  index_t inner = 1;
  for (int a = 0; a < Table::capacity; ++a)
    if (a == table.rank - 1) inner = table.extent[a];
  return inner >= 64;
}

/// Moves elements of `Bytes` bytes each into a dense output. The innermost axis must have stride 1 in the source.
template <int Bytes, int Rows, int Rank, class Locator, class Source>
void copy_runs(const axis_table<Rows, Rank>& table, const Locator& locator, const Source& source, void* out, uint4 fill,
               const index_check& check, const launch_context& context) {
  const copy_arguments<Locator, Source, Rank> arguments{
      output_axes<Rank>(table), locator, source, static_cast<unsigned char*>(out), fill, check};
  constexpr int lanes = 16 / Bytes;
  launch(copy_runs_kernel<Bytes, Locator, Source, Rank>, grid_for((arguments.axes.size + lanes - 1) / lanes, copy_block),
         copy_block, 0, context, arguments);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
