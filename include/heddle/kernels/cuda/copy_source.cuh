// What kernels share that copy elements unchanged, whatever their type: only its width counts.
#pragma once

#include "heddle/kernels/cuda/elements.cuh"
#include "heddle/kernels/rearrange.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// The memory of one piece that a copy reads: a locator's offsets count from `from`, and nothing outside of low and
/// high is touched.
struct copy_source {
  const unsigned char* from = nullptr;
  const unsigned char* low = nullptr;
  const unsigned char* high = nullptr;

  copy_source() = default;
  /// Elements of `bytes` bytes that reach from the first one as `span` tells; offsets count from `origin`.
  copy_source(const void* first, const void* origin, const OffsetSpan& span, index_t bytes)
      : from(static_cast<const unsigned char*>(origin)),
        low(static_cast<const unsigned char*>(first) + span.lowest * bytes),
        high(static_cast<const unsigned char*>(first) + (span.highest + 1) * bytes) {}
};

/// The unsigned number of that many bytes.
template <int Bytes>
using bits_of = std::conditional_t<
    Bytes == 1, unsigned char,
    std::conditional_t<Bytes == 2, unsigned short, std::conditional_t<Bytes == 4, unsigned, unsigned long long>>>;

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

/// The i-th element of 16 bytes that are held as words.
template <class Bits>
__device__ __forceinline__ Bits bits_at(const unsigned* word, int i) {
  constexpr int bytes = static_cast<int>(sizeof(Bits));
  if constexpr (bytes == 8)
    return word[2 * i] | static_cast<unsigned long long>(word[2 * i + 1]) << 32;
  else
    return static_cast<Bits>(word[i * bytes / 4] >> (i * bytes % 4 * 8));
}
/// Puts it there; the words must have been 0.
template <class Bits>
__device__ __forceinline__ void put_bits(unsigned* word, int i, Bits bits) {
  constexpr int bytes = static_cast<int>(sizeof(Bits));
  if constexpr (bytes == 8) {
    word[2 * i] = static_cast<unsigned>(bits);
    word[2 * i + 1] = static_cast<unsigned>(bits >> 32);
  } else {
    word[i * bytes / 4] |= static_cast<unsigned>(bits) << (i * bytes % 4 * 8);
  }
}
template <class Bits>
__device__ __forceinline__ Bits first_bits(const uint4& value) {
  const unsigned word[2] = {value.x, value.y};
  return bits_at<Bits>(word, 0);
}

/// Writes 16 bytes, of which only the first `count` elements belong to the output.
template <class Bits>
__device__ __forceinline__ void write_vector(unsigned char* to, const unsigned* word, int count) {
  constexpr int lanes = 16 / static_cast<int>(sizeof(Bits));
  if (count >= lanes) {
    *reinterpret_cast<uint4*>(to) = {word[0], word[1], word[2], word[3]};
  } else {
#pragma unroll
    for (int j = 0; j < lanes; ++j)
      if (j < count) reinterpret_cast<Bits*>(to)[j] = bits_at<Bits>(word, j);
  }
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
