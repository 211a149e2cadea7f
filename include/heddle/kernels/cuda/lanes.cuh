// How the threads of a block share a two-dimensional problem (outer: results, inner: what is combined), and how the
// threads of one result combine their values. Reductions and row-wise kernels stand on it.
#pragma once

#include <cstring>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int warp_size = 32;

/// The value that the lane `lane ^ mask` of the warp has, for any trivially copyable type. All lanes must call it.
template <class T>
__device__ inline T shuffle_xor(T value, int mask) {
  constexpr int words = static_cast<int>((sizeof(T) + 3) / 4);
  unsigned packed[words] = {};
  memcpy(packed, &value, sizeof(T));
#pragma unroll
  for (int w = 0; w < words; ++w) packed[w] = __shfl_xor_sync(0xffffffffu, packed[w], mask);
  memcpy(&value, packed, sizeof(T));
  return value;
}

/// A block of 2^log2_inner × 2^log2_outer threads. The dimension along which neighbouring threads lie ("fast") is a
/// run-time choice, so that one kernel coalesces its loads whichever dimension is contiguous in memory.
struct lane_layout {
  int log2_inner = 0;
  int log2_outer = 0;
  bool inner_fast = true;

  HEDDLE_HOST_DEVICE int inner_lanes() const { return 1 << log2_inner; }
  HEDDLE_HOST_DEVICE int outer_lanes() const { return 1 << log2_outer; }
  HEDDLE_HOST_DEVICE int threads() const { return 1 << (log2_inner + log2_outer); }

  /// The calling thread's place along the inner and the outer dimension.
  __device__ int inner() const {
    const int thread = static_cast<int>(threadIdx.x);
    return inner_fast ? thread & (inner_lanes() - 1) : thread >> log2_outer;
  }
  __device__ int outer() const {
    const int thread = static_cast<int>(threadIdx.x);
    return inner_fast ? thread >> log2_inner : thread & (outer_lanes() - 1);
  }
};

/// Combines the values of all threads that share a result, in an order that depends on the layout alone. Everyone gets
/// the outcome, or only the thread whose inner place is 0. `scratch` has a place for each thread; all threads of the
/// block must call, and between two calls with the same scratch there must be a barrier. combine(left, right) changes
/// left.
template <bool Everyone, class T, class Combine>
__device__ inline T combine_lanes(T value, const lane_layout& layout, T* scratch, Combine combine) {
  const int stride = layout.inner_fast ? 1 : layout.outer_lanes();
  const int span = stride << layout.log2_inner;
  for (int distance = ::min(span, warp_size) / 2; distance >= stride; distance /= 2) {
    combine(value, shuffle_xor(value, distance));
  }
  if (span > warp_size && layout.log2_inner > 0) {
    const int thread = static_cast<int>(threadIdx.x);
    if (thread % warp_size < stride) scratch[thread] = value;
    __syncthreads();
    if (Everyone || layout.inner() == 0) {
      const int step = ::max(stride, warp_size);
      const T* values = scratch + (layout.inner_fast ? thread & ~(span - 1) : layout.outer());
      value = values[0];
      for (int offset = step; offset < span; offset += step) combine(value, values[offset]);
    }
  }
  return value;
}

/// The least n with 2^n >= count, at most `limit`.
inline int log2_ceil(index_t count, int limit) {
  int n = 0;
  while (n < limit && (index_t{1} << n) < count) ++n;
  return n;
}

/// The grid of a kernel that does not stride: as many blocks as it takes. Beyond CUDA's limit of 2^31 - 1, which no
/// output that fits a device's memory reaches, the launch fails.
inline unsigned blocks_for(index_t count, index_t block) {
  const index_t blocks = count / block + (count % block != 0);
  return blocks < 0xffffffff ? static_cast<unsigned>(blocks) : 0xffffffffU;
}

inline index_t ceil_div(index_t a, index_t b) { return a / b + (a % b != 0); }

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
