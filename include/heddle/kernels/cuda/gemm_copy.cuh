// How one operand's tiles get from global to shared memory: asynchronously from sm_80 on, through registers before.
// Which dimension is contiguous, and whether 16 bytes may be moved at once, are run-time data of one piece of code.
#pragma once

#include <cstdint>
#include <type_traits>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cuda/lanes.cuh"
#include "heddle/kernels/gemm_shape.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// Whether global memory is copied to shared memory without passing through registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr bool has_async_copies = false;
#else
inline constexpr bool has_async_copies = true;
#endif

/// Elements of shared memory that a thread reads at once.
template <class T, int Count>
struct alignas(sizeof(T) * Count) staged_vector {
  T value[static_cast<unsigned>(Count)];
};

/// Writes 16 bytes to shared memory in one access, which the compiler sometimes would take apart.
__device__ __forceinline__ void store_16_bytes(unsigned to, const float* from) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(from[0]), "f"(from[1]), "f"(from[2]),
               "f"(from[3])
               : "memory");
}
__device__ __forceinline__ void store_16_bytes(unsigned to, const double* from) {
  asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(to), "d"(from[0]), "d"(from[1]) : "memory");
}
template <class T>
__device__ __forceinline__ unsigned shared_address(const T* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// Starts a copy of Bytes bytes, of which `wanted` come from global memory and the rest are zeros.
template <int Bytes>
__device__ __forceinline__ void copy_async(unsigned to, const void* from, int wanted) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(Bytes), "r"(wanted)
               : "memory");
}
template <int Bytes>
__device__ __forceinline__ void copy_async(unsigned to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(Bytes) : "memory");
}
/// Waits for all copies of the calling thread.
__device__ __forceinline__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// Moves tiles of Width rows × Depth along k, which lie [k][row] in shared memory, Pitch elements from one k to the
/// next. B is taken as the transposed matrix, whose rows are C's columns. A thread moves either vectors of 16 bytes
/// along the rows, or single elements of one k (of each 8) and every Threads / 8th row. Its lanes are then spread over
/// 8 k × 4 rows or over neighbouring rows, whichever are nearer in memory; both ways no bank is hit twice, since Pitch
/// is 16 bytes beyond a multiple of 128. Guarded: rows may be missing.
template <class T, int Width, int Depth, int Pitch, int Threads, bool Guarded>
class tile_copier {
  static constexpr int vector = 16 / static_cast<int>(sizeof(T));
  static constexpr int row_step = Threads / 8, row_passes = Width / row_step, depth_passes = Depth / 8;
  static constexpr int line_lanes = Width / vector, line_step = Threads / line_lanes;
  static constexpr int vector_passes = Depth / line_step;
  static constexpr int passes = row_passes * depth_passes;
  static_assert(Width % row_step == 0 && Depth % 8 == 0 && Threads % line_lanes == 0 && Depth % line_step == 0);
  static_assert(passes <= 32 && row_step <= warp_size && warp_size % row_step == 0);

 public:
  /// data: the tile's first element; rows: how many rows of the matrix lie at and after it.
  __device__ tile_copier(const T* data, index_t row_stride, index_t k_stride, index_t rows, bool vectors, T* shared)
      : vectors_(vectors), k_stride_(k_stride) {
    const int thread = static_cast<int>(threadIdx.x);
    const int lane = thread % warp_size, warp = thread / warp_size;
    int row;
    if (vectors) {
      row = thread % line_lanes * vector;
      k_ = thread / line_lanes;
      step_ = line_step * k_stride * static_cast<index_t>(sizeof(T));
    } else {
      const bool k_fast = (k_stride < 0 ? -k_stride : k_stride) < (row_stride < 0 ? -row_stride : row_stride);
      row = k_fast ? warp * 4 + lane / 8 : lane % row_step;
      k_ = k_fast ? lane % 8 : warp + row_step / 4 * (lane / row_step);
      step_ = row_step * row_stride * static_cast<index_t>(sizeof(T));
    }
    next_ = data + row * row_stride + k_ * k_stride;
    const int place = k_ * Pitch + row;
    if constexpr (Guarded) {
      in_rows_ = 0;
#pragma unroll
      for (int i = 0; i < row_passes; ++i) {
        in_rows_ |= static_cast<unsigned>(row + (vectors ? 0 : i * row_step) < rows) << i;
      }
    }
    shared_ = shared + place;
    address_ = shared_address(shared_);
  }

  /// Starts copying the first tile, or any where rows are guarded. Of it k_count lines exist: the others become zeros.
  __device__ __forceinline__ void start_some(int k_count) {
    const char* from = reinterpret_cast<const char*>(next_);
    if (vectors_) {
#pragma unroll
      for (int i = 0; i < vector_passes; ++i, from += step_) {
        const bool wanted = k_ + i * line_step < k_count && (!Guarded || (in_rows_ & 1U));
        copy<vector>(i, i * line_step * Pitch, from, wanted);
      }
    } else {
#pragma unroll
      for (int i = 0; i < row_passes; ++i, from += step_) {
#pragma unroll
        for (int d = 0; d < depth_passes; ++d) {
          const bool wanted = k_ + d * 8 < k_count && (!Guarded || (in_rows_ >> i & 1U));
          copy<1>(i * depth_passes + d, i * row_step + d * 8 * Pitch,
                  reinterpret_cast<const T*>(from) + d * 8 * k_stride_, wanted);
        }
      }
    }
    next_ += k_count * k_stride_;
  }

  /// Starts copying the next tile, which has all lines.
  __device__ __forceinline__ void start() {
    if constexpr (Guarded) {
      start_some(Depth);
    } else {
      static_assert(depth_passes == 1);
      const char* from = reinterpret_cast<const char*>(next_);
      if (vectors_) {
#pragma unroll
        for (int i = 0; i < vector_passes; ++i, from += step_) copy<vector>(i, i * line_step * Pitch, from);
      } else {
#pragma unroll
        for (int i = 0; i < row_passes; ++i, from += step_) copy<1>(i, i * row_step, from);
      }
      next_ += Depth * k_stride_;
    }
  }

  /// From now on tiles go so many elements further in shared memory.
  __device__ __forceinline__ void move(int elements) {
    shared_ += elements;
    address_ += static_cast<unsigned>(elements * static_cast<int>(sizeof(T)));
  }

  /// Puts what was started last into shared memory, where that isn't asynchronous.
  __device__ __forceinline__ void finish() {
    if constexpr (has_async_copies) return;
    if (vectors_) {
#pragma unroll
      for (int i = 0; i < vector_passes; ++i)
        store_16_bytes(address_ + static_cast<unsigned>(i * line_step * Pitch) * static_cast<unsigned>(sizeof(T)),
                       held_ + i * vector);
    } else {
#pragma unroll
      for (int i = 0; i < passes; ++i) shared_[i / depth_passes * row_step + i % depth_passes * 8 * Pitch] = held_[i];
    }
  }

 private:
  template <int Count>
  __device__ __forceinline__ void copy([[maybe_unused]] int pass, [[maybe_unused]] int place, const void* from,
                                       bool wanted) {
    constexpr int bytes = Count * static_cast<int>(sizeof(T));
    if constexpr (has_async_copies) {
      copy_async<bytes>(address_ + static_cast<unsigned>(place) * static_cast<unsigned>(sizeof(T)), from,
                        wanted ? bytes : 0);
    } else {
      staged_vector<T, Count> line{};
      if (wanted) line = *static_cast<const staged_vector<T, Count>*>(from);
#pragma unroll
      for (int v = 0; v < Count; ++v) held_[pass * Count + v] = line.value[v];
    }
  }
  template <int Count>
  __device__ __forceinline__ void copy([[maybe_unused]] int pass, [[maybe_unused]] int place, const void* from) {
    if constexpr (has_async_copies) {
      copy_async<Count* static_cast<int>(sizeof(T))>(
          address_ + static_cast<unsigned>(place) * static_cast<unsigned>(sizeof(T)), from);
    } else {
      copy<Count>(pass, place, from, true);
    }
  }

  bool vectors_;
  int k_;          // of the thread's first element
  const T* next_;  // it in the next tile
  T* shared_;      // where it goes
  unsigned address_;
  index_t k_stride_;
  index_t step_;          // in bytes: along the rows or lines
  unsigned in_rows_ = 0;  // bit i: the rows of pass i exist
  T held_[static_cast<unsigned>(has_async_copies ? 1 : passes)];
};

/// Whether an operand may be read in vectors of 16 bytes along one dimension: `count` neighbours, and each of the
/// `others` lines of them begins at 16 bytes.
template <class T>
bool moves_in_vectors(const gemm_operand<T>& operand, index_t stride, index_t other_stride, index_t count,
                      index_t others, const gemm_shape& shape) {
  constexpr index_t vector = 16 / static_cast<index_t>(sizeof(T));
  bool fits = stride == 1 && count % vector == 0 && (others == 1 || other_stride % vector == 0) &&
              reinterpret_cast<std::uintptr_t>(operand.data) % 16 == 0;
  for (int d = 0; d < shape.batch_rank; ++d)
    fits = fits && (shape.batch_extent[d] == 1 || operand.batch_stride[d] % vector == 0);
  return fits;
}

/// Adds where the matrices of one batch begin. Not unrolled: one division at a time keeps its registers few.
__device__ inline void gemm_batch_offsets(const gemm_shape& shape, const index_t* a_stride, const index_t* b_stride,
                                          index_t batch, index_t& a_offset, index_t& b_offset) {
#pragma unroll 1
  for (int d = shape.batch_rank - 1; d >= 0; --d) {
    const index_t outer = d > 0 ? batch / shape.batch_extent[d] : 0;
    const index_t here = batch - outer * shape.batch_extent[d];
    a_offset += here * a_stride[d];
    b_offset += here * b_stride[d];
    batch = outer;
  }
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
