// Elements moved unchanged into a dense output whose neighbours come from near one another: pad, roll, tile, concat. A
// block takes a stretch of the output, finds which stretch of each source that needs, reads it into shared memory in
// aligned pieces of 16 bytes, and puts the output together from there, 16 bytes a thread: rows of any length and
// alignment cost each sector of the source once.
#pragma once

#include "heddle/kernels/cuda/copy_source.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int staged_block = 256;
inline constexpr int staged_unroll = 2;  ///< vectors of 16 bytes that a thread writes

template <class Locator, int Rank>
struct copy_staged_arguments {
  output_axes<Rank, std::int32_t> axes;
  Locator locator;
  copy_source source[static_cast<std::size_t>(Locator::pieces)];
  unsigned char* to;
  uint4 fill;  ///< 16 bytes of fill values
};

/// Reads 16 bytes, or the elements among them that belong to the source.
template <class Bits>
__device__ __forceinline__ uint4 read_piece(const unsigned char* at, const copy_source& source) {
  if (at >= source.low && at + 16 <= source.high) return *reinterpret_cast<const uint4*>(at);
  unsigned word[4] = {};
#pragma unroll
  for (int i = 0; i < 16 / static_cast<int>(sizeof(Bits)); ++i) {
    const Bits* const one = reinterpret_cast<const Bits*>(at) + i;
    if (reinterpret_cast<const unsigned char*>(one) >= source.low &&
        reinterpret_cast<const unsigned char*>(one) < source.high)
      put_bits(word, i, *one);
  }
  return {word[0], word[1], word[2], word[3]};
}

/// The elements of a vector: how far each is from its source's lowest element. A run is found at once.
template <int Lanes>
struct vector_places {
  static constexpr unsigned nowhere = 0xffffffffU;
  unsigned at[Lanes];             ///< nowhere: fill
  unsigned long long pieces = 0;  ///< four bits an element
  bool one_run = false;           ///< all are neighbours in one source

  __device__ __forceinline__ int piece(int j) const { return static_cast<int>(pieces >> (4 * j) & 15U); }
};

template <int Bytes, int Lanes, class Arguments>
__device__ __forceinline__ vector_places<Lanes> find_places(const Arguments& arguments, std::int32_t first) {
  using Locator = std::remove_cvref_t<decltype(arguments.locator)>;
  vector_places<Lanes> places;
#pragma unroll
  for (int k = 0; k < Lanes; ++k) places.at[k] = vector_places<Lanes>::nowhere;
#pragma unroll 1
  for (std::int32_t j = 0; j < Lanes && first + j < arguments.axes.size;) {
    typename Locator::coordinates coordinate;
    arguments.axes.decode(first + j, coordinate);
    location<1, std::int32_t> found;
    const place where = arguments.locator.locate(coordinate, found);
    const std::int32_t run = arguments.locator.run(coordinate, ::min(arguments.axes.left(coordinate), Lanes - j));
    const std::int32_t step = arguments.locator.step(0, found.piece);
    const copy_source& source = arguments.source[found.piece];
    const unsigned at =
        static_cast<unsigned>(found.offset[0]) + static_cast<unsigned>((source.from - source.low) / Bytes);
    places.one_run = run == Lanes && step == 1 && where == place::element;
#pragma unroll
    for (int k = 0; k < Lanes; ++k) {
      if (k < j || k >= j + run) continue;
      if (where == place::element) places.at[k] = at + static_cast<unsigned>((k - j) * step);
      places.pieces |= static_cast<unsigned long long>(found.piece) << (4 * k);
    }
    j += run;
  }
  return places;
}

/// The least and the greatest value of a warp's lanes. All lanes must call it.
__device__ __forceinline__ void warp_range(unsigned& low, unsigned& high) {
#if __CUDA_ARCH__ >= 800
  low = __reduce_min_sync(0xffffffffU, low);
  high = __reduce_max_sync(0xffffffffU, high);
#else
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    low = ::min(low, __shfl_xor_sync(0xffffffffU, low, step));
    high = ::max(high, __shfl_xor_sync(0xffffffffU, high, step));
  }
#endif
}

template <int Bytes, class Locator, int Rank>
__global__ void __launch_bounds__(staged_block)
    copy_staged_kernel(const __grid_constant__ copy_staged_arguments<Locator, Rank> arguments) {
  using Bits = bits_of<Bytes>;
  constexpr int lanes = 16 / Bytes;
  constexpr int pieces = Locator::pieces;
  constexpr unsigned nowhere = vector_places<lanes>::nowhere;
  // Stretches that together are no longer than the tile, each with what else is in its first and last sector.
  constexpr unsigned room = staged_block * staged_unroll * 16 + 64 * pieces;
  __shared__ alignas(16) unsigned char staged[room];
  __shared__ unsigned low_of[pieces], high_of[pieces], start_of[pieces];

  const int thread = static_cast<int>(threadIdx.x);
  const index_t base = static_cast<index_t>(blockIdx.x) * (staged_block * staged_unroll * lanes);
  if (thread < pieces) {
    low_of[thread] = nowhere;
    high_of[thread] = 0;
    start_of[thread] = nowhere;
  }
  __syncthreads();

  vector_places<lanes> places[staged_unroll];
#pragma unroll
  for (int u = 0; u < staged_unroll; ++u) {
    const index_t first = base + (u * staged_block + thread) * lanes;
    places[u] = find_places<Bytes, lanes>(
        arguments, first < arguments.axes.size ? static_cast<std::int32_t>(first) : arguments.axes.size);
  }
#pragma unroll 1
  for (int p = 0; p < pieces; ++p) {
    unsigned low = nowhere, high = 0;  // high: the element behind the last; nowhere + 1 is 0
#pragma unroll
    for (int u = 0; u < staged_unroll; ++u) {
#pragma unroll
      for (int j = 0; j < lanes; ++j) {
        const unsigned at = pieces == 1 || places[u].piece(j) == p ? places[u].at[j] : nowhere;
        low = ::min(low, at);
        high = ::max(high, at + 1);
      }
    }
    warp_range(low, high);
    if (thread % 32 == 0 && high > 0) {
      atomicMin(&low_of[p], low);
      atomicMax(&high_of[p], high);
    }
  }
  __syncthreads();

  // Each stretch behind the one before, as far as there is room.
  unsigned used = 0;
#pragma unroll 1
  for (int p = 0; p < pieces; ++p) {
    const unsigned low = low_of[p], high = high_of[p];
    if (high == 0) continue;
    const copy_source& source = arguments.source[p];
    const unsigned char* const begin = source.low + static_cast<std::size_t>(low) * Bytes;
    const unsigned before = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(begin) & 31U);
    const std::size_t bytes = (static_cast<std::size_t>(high - low) * Bytes + before + 15) / 16 * 16;
    if (bytes > room - used) continue;
    for (unsigned at = static_cast<unsigned>(thread) * 16; at < bytes; at += staged_block * 16)
      *reinterpret_cast<uint4*>(staged + used + at) = read_piece<Bits>(begin - before + at, source);
    if (thread == 0) start_of[p] = used + before;
    used += static_cast<unsigned>(bytes);
  }
  __syncthreads();

#pragma unroll
  for (int u = 0; u < staged_unroll; ++u) {
    const index_t first = base + (u * staged_block + thread) * lanes;
    if (first >= arguments.axes.size) continue;
    unsigned word[4] = {};
    const int piece = pieces == 1 ? 0 : places[u].piece(0);
    if (places[u].one_run && start_of[piece] != nowhere) {
      const unsigned byte = start_of[piece] + (places[u].at[0] - low_of[piece]) * Bytes;
      const unsigned shift = byte & 15U;
      const uint4* const from = reinterpret_cast<const uint4*>(staged + (byte - shift));
      const uint4 left = from[0];
      const uint4 both = shift == 0 ? left : shifted_together(left, from[1], shift);
      word[0] = both.x, word[1] = both.y, word[2] = both.z, word[3] = both.w;
    } else {
#pragma unroll
      for (int j = 0; j < lanes; ++j) {
        const unsigned at = places[u].at[j];
        const int own = pieces == 1 ? 0 : places[u].piece(j);
        Bits bits = first_bits<Bits>(arguments.fill);
        if (at != nowhere) {
          const unsigned start = start_of[own];
          bits = start != nowhere
                     ? *reinterpret_cast<const Bits*>(staged + start + (at - low_of[own]) * Bytes)
                     : *reinterpret_cast<const Bits*>(arguments.source[own].low + static_cast<std::size_t>(at) * Bytes);
        }
        put_bits(word, j, bits);
      }
    }
    write_vector<Bits>(arguments.to + first * Bytes, word,
                       static_cast<int>(::min(static_cast<index_t>(lanes), arguments.axes.size - first)));
  }
}

/// Moves elements of `Bytes` bytes each into a dense output. Each source must lie densely in memory.
template <int Bytes, int Rows, int Rank, class Locator>
void copy_staged(const axis_table<Rows, Rank>& table, const Locator& locator, const copy_source* sources, void* out,
                 uint4 fill, const launch_context& context) {
  static_assert(Locator::pieces <= 16, "a piece is told by four bits");
  copy_staged_arguments<Locator, Rank> arguments{
      output_axes<Rank, std::int32_t>(table), locator, {}, static_cast<unsigned char*>(out), fill};
  for (int p = 0; p < Locator::pieces; ++p) arguments.source[p] = sources[p];
  constexpr int lanes = 16 / Bytes;
  launch(copy_staged_kernel<Bytes, Locator, Rank>, grid_for(arguments.axes.size, staged_block * staged_unroll * lanes),
         staged_block, 0, context, arguments);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
