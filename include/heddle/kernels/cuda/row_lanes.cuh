// The threads of one row: how they lie, what they compute with and how they combine what each of them has.
#pragma once

#include <cstring>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cuda/cluster.cuh"
#include "heddle/kernels/cuda/lanes.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// How rows are laid over the device.
struct row_plan {
  lane_layout lanes;
  int groups = 0;        ///< of V * lanes columns each, in registers; 0: the row is too long
  int inner_mask = 0;    ///< inner lanes of a block - 1
  int log2_cluster = 0;  ///< blocks that share a row, as a power of 2
  bool vectors = false;  ///< a thread takes V neighbouring columns at once
  bool staged = false;   ///< what the epilogue reads for every row alike goes through shared memory

  /// The threads that share a row, as a power of 2.
  HEDDLE_HOST_DEVICE int log2_lanes() const { return lanes.log2_inner + log2_cluster; }
};

/// As CUDA's expf, to the bit.
__device__ __forceinline__ float row_exp(float x) {
  float result;
  asm("{\n\t"
      ".reg .f32 t, n, f, p;\n\t"
      ".reg .b32 i;\n\t"
      "fma.rn.sat.f32 t, %1, 0f3BBB989D, 0f3F000000;\n\t"
      "fma.rm.f32 t, t, 0f437C0000, 0f4B400001;\n\t"
      "sub.f32 n, 0f4B40007F, t;\n\t"
      "fma.rn.f32 f, %1, 0f3FB8AA3B, n;\n\t"
      "fma.rn.f32 f, %1, 0f32A57060, f;\n\t"
      "mov.b32 i, t;\n\t"
      "shl.b32 i, i, 23;\n\t"
      "mov.b32 p, i;\n\t"
      "ex2.approx.ftz.f32 f, f;\n\t"
      "mul.f32 %0, f, p;\n\t"
      "}"
      : "=f"(result)
      : "f"(x));
  return result;
}
__device__ inline double row_exp(double x) { return ::exp(x); }
__device__ inline float row_log(float x) { return logf(x); }
__device__ inline double row_log(double x) { return ::log(x); }
__device__ inline float row_fma(float x, float y, float z) { return fmaf(x, y, z); }
__device__ inline double row_fma(double x, double y, double z) { return ::fma(x, y, z); }
__device__ inline float row_rsqrt(float x) { return rsqrtf(x); }
__device__ inline double row_rsqrt(double x) { return ::rsqrt(x); }
__device__ inline float row_abs(float x) { return fabsf(x); }
__device__ inline double row_abs(double x) { return fabs(x); }
/// The greater one; of a number and NaN the number (a NaN shows in the sum of the exponentials instead).
__device__ inline float row_max(float x, float y) { return fmaxf(x, y); }
__device__ inline double row_max(double x, double y) { return fmax(x, y); }
template <class Value>
__device__ inline Value minus_infinity() {
  return static_cast<Value>(-__int_as_float(0x7f800000));
}

struct combine_sum {
  template <class T>
  __device__ __forceinline__ void operator()(T& left, const T& right) const {
    left += right;
  }
};

/// shuffle_xor of a value made of numbers, without the copies that its general form makes in PTX.
template <int Distance>
__device__ __forceinline__ float shuffle_number(float x) {
  float y;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;" : "=f"(y) : "f"(x), "n"(Distance));
  return y;
}
template <int Distance>
__device__ __forceinline__ double shuffle_number(double x) {
  return __hiloint2double(__shfl_xor_sync(0xffffffffU, __double2hiint(x), Distance),
                          __shfl_xor_sync(0xffffffffU, __double2loint(x), Distance));
}
template <int Distance, class Real, class T>
__device__ __forceinline__ T shuffle_numbers(const T& value) {
  constexpr int count = static_cast<int>(sizeof(T) / sizeof(Real));
  Real numbers[count];
  memcpy(numbers, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < count; ++i) numbers[i] = shuffle_number<Distance>(numbers[i]);
  T result;
  memcpy(&result, numbers, sizeof(T));
  return result;
}

/// The shared memory in which threads combine values, and that of the outcomes.
template <class Real>
struct row_scratch {
  static constexpr int width = 4;  ///< numbers that a value may consist of
  alignas(16) Real parts[width * 512];
  alignas(16) Real outcomes[width * 128];
  alignas(16) Real blocks[code_has_clusters ? 2 : 1][code_has_clusters ? width * 8 : 1];  ///< the cluster's outcomes
};

/// How a thread of a row-wise kernel combines what it has with the others of its row: first within its warp ("near"),
/// then one warp combines those outcomes for all ("far"), and so do the blocks of a cluster. The order depends on the
/// plan alone. All threads of a block must call, and all blocks of a cluster equally often, once at least.
template <class Real>
class row_lanes {
 public:
  __device__ __forceinline__ row_lanes(const row_plan& plan, row_scratch<Real>& scratch, int lane)
      : lane_(lane),
        log2_inner_(plan.lanes.log2_inner),
        log2_outer_(plan.lanes.log2_outer),
        inner_fast_(plan.lanes.inner_fast),
        log2_cluster_(plan.log2_cluster),
        scratch_(scratch) {
    // Says that this block runs, so that others may write to its shared memory.
    if (in_cluster()) cluster_arrive();
  }

  template <class T, class Combine>
  __device__ __forceinline__ T combine(T value, Combine combine) const {
    return far(near(value, combine), combine);
  }
  template <class T, class Combine>
  __device__ __forceinline__ T near(T value, Combine combine) const {
    if (inner_fast_ && log2_inner_ >= 5) {
      combine(value, shuffle_numbers<16, Real>(value));
      combine(value, shuffle_numbers<8, Real>(value));
      combine(value, shuffle_numbers<4, Real>(value));
      combine(value, shuffle_numbers<2, Real>(value));
      combine(value, shuffle_numbers<1, Real>(value));
    } else {
      const int stride = inner_fast_ ? 1 : 1 << log2_outer_;
      for (int distance = ::min(stride << log2_inner_, warp_size) / 2; distance >= stride; distance /= 2)
        combine(value, shuffle_xor(value, distance));
    }
    return value;
  }
  /// Whether other warps share the row.
  __device__ __forceinline__ bool has_peers() const {
    return inner_fast_ ? log2_inner_ > 5 : log2_inner_ > 0 && log2_inner_ + log2_outer_ > 5;
  }
  template <class T, class Combine>
  __device__ __forceinline__ T far(T value, Combine combine) const {
    static_assert(sizeof(T) <= row_scratch<Real>::width * sizeof(Real));
    if (in_cluster()) return far_in_cluster(value, combine);
    if (!has_peers()) return value;
    T* const parts = reinterpret_cast<T*>(scratch_.parts);
    T* const outcomes = reinterpret_cast<T*>(scratch_.outcomes);
    const unsigned thread = threadIdx.x, warp = thread / warp_size, lane = thread % warp_size;
    unsigned row;
    if (inner_fast_) {
      const unsigned peers = 1U << (log2_inner_ - 5);
      row = warp >> (log2_inner_ - 5);
      if (lane == 0) parts[warp] = value;
      __syncthreads();
      if ((warp & (peers - 1)) == 0) {
        value = parts[warp + (lane & (peers - 1))];
        for (unsigned distance = peers / 2; distance > 0; distance /= 2)
          combine(value, shuffle_xor(value, static_cast<int>(distance)));
        if (lane == 0) outcomes[row] = value;
      }
    } else {
      const unsigned rows = 1U << log2_outer_;
      const unsigned peers = log2_outer_ < 5 ? 1U << (log2_inner_ + log2_outer_ - 5) : 1U << log2_inner_;
      row = thread & (rows - 1);
      if (log2_outer_ >= 5 || lane < rows) parts[log2_outer_ < 5 ? warp * rows + row : thread] = value;
      __syncthreads();
      if (thread < rows) {
        for (unsigned peer = 1; peer < peers; ++peer) combine(value, parts[peer * rows + row]);
        outcomes[row] = value;
      }
    }
    __syncthreads();
    return outcomes[row];
  }

 protected:
  const int lane_;  ///< the thread's place along the row

 private:
  __device__ __forceinline__ bool in_cluster() const { return code_has_clusters && log2_cluster_ > 0; }
  /// For a row that has all of its blocks' threads, whole warps side by side. Each block tells its outcome to all;
  /// there are two places for it, used by turns, so that none is written again before it was read.
  template <class T, class Combine>
  __device__ __forceinline__ T far_in_cluster(T value, Combine combine) const {
    T* const parts = reinterpret_cast<T*>(scratch_.parts);
    T* const blocks = reinterpret_cast<T*>(scratch_.blocks[code_has_clusters ? turn_ & 1 : 0]);
    const unsigned warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
    const auto over_peers = [&](unsigned peers) {
      for (unsigned distance = peers / 2; distance > 0; distance /= 2)
        combine(value, shuffle_xor(value, static_cast<int>(distance)));
    };
    if (lane == 0) parts[warp] = value;
    __syncthreads();
    if (turn_ == 0) cluster_wait();
    if (warp == 0) {
      const unsigned peers = 1U << (log2_inner_ - 5);
      value = parts[lane & (peers - 1)];
      over_peers(peers);
      if (lane == 0) {
        T* const place = blocks + (static_cast<unsigned>(lane_) >> log2_inner_);
        for (unsigned block = 0; block < 1U << log2_cluster_; ++block) cluster_store(place, block, value);
      }
      __syncwarp();
    }
    cluster_arrive();
    cluster_wait();
    ++turn_;
    value = blocks[lane & ((1U << log2_cluster_) - 1)];
    over_peers(1U << log2_cluster_);
    return value;
  }

  const int log2_inner_, log2_outer_;
  const bool inner_fast_;
  const int log2_cluster_;
  mutable int turn_ = 0;
  row_scratch<Real>& scratch_;
};

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
