// Products of a matrix with a few vectors: what counts is reading the matrix once, 16 bytes a thread and access.
#pragma once

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/expr/space.hpp"
#include "heddle/kernels/cuda/gemm_copy.cuh"
#include "heddle/kernels/cuda/lanes.cuh"
#include "heddle/kernels/cuda/launch.cuh"
#include "heddle/kernels/gemm_shape.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// A thin product: `wide` results for each of at most thin_limit vectors. The matrix is B, and the vectors are A's
/// rows; or the matrix is A, and the vectors are B's columns.
inline constexpr int thin_limit = 4;
inline constexpr int thin_threads = 128;

/// How a launch goes about it. Lanes of 16 bytes lie along k, a warp a result, or along the results, 4 threads' lanes
/// for each of 32 k at a time.
struct thin_plan {
  index_t wide = 0;
  int thin = 0;
  bool matrix_is_a = false, along_k = false;
  bool vectors = false;    ///< 16 bytes may be read at once, of the vectors too where lanes lie along k
  bool scattered = false;  ///< the vectors' elements would be read one by one from all over memory: tiles do better
  fast_divisor blocks;     ///< of one batch
  index_t first_batch = 0;
};

template <class T, class Sink>
__global__ void __launch_bounds__(thin_threads, 4)
    thin_gemm_kernel(const __grid_constant__ Sink sink, const __grid_constant__ gemm_shape shape,
                     const __grid_constant__ gemm_operand<T> a, const __grid_constant__ gemm_operand<T> b,
                     const __grid_constant__ thin_plan plan) {
  constexpr int vector = 16 / static_cast<int>(sizeof(T)), warps = thin_threads / warp_size, ahead = 4;
  constexpr int pitch = 4 * warps + 4;  // so that no bank is hit twice
  __shared__ T partial[static_cast<unsigned>(thin_limit * vector * pitch)];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % warp_size, warp = thread / warp_size;
  const std::uint32_t batch_number = plan.blocks.divide(blockIdx.x);
  const index_t batch = plan.first_batch + batch_number;
  const int wides = plan.along_k ? warps : 4 * vector;  // results of the block for each vector
  const index_t first = static_cast<index_t>(blockIdx.x - batch_number * plan.blocks.divisor) * wides;

  const index_t wide_stride = plan.matrix_is_a ? a.row_stride : b.column_stride;
  const index_t k_stride = plan.matrix_is_a ? a.column_stride : b.row_stride;
  const index_t thin_stride = plan.matrix_is_a ? b.column_stride : a.row_stride;
  const index_t thin_k_stride = plan.matrix_is_a ? b.row_stride : a.column_stride;
  index_t a_offset = 0, b_offset = 0;
  gemm_batch_offsets(shape, a.batch_stride, b.batch_stride, batch, a_offset, b_offset);
  const T* matrix = plan.matrix_is_a ? a.data + a_offset : b.data + b_offset;
  const T* thin[thin_limit];
#pragma unroll
  for (int t = 0; t < thin_limit; ++t)
    thin[t] = (plan.matrix_is_a ? b.data + b_offset : a.data + a_offset) + (t < plan.thin ? t : 0) * thin_stride;

  // The thread's lanes begin at this result and this k, and go on along one of them.
  const index_t result = first + (plan.along_k ? warp : thread % 4 * vector);
  index_t k = plan.along_k ? lane * vector : thread / 4;
  const index_t k_step = plan.along_k ? warp_size * vector : thin_threads / 4;
  const index_t lane_stride = plan.along_k ? k_stride : wide_stride;
  const index_t thin_lane_stride = plan.along_k ? thin_k_stride : 0;
  matrix += result * wide_stride;
  T sum[thin_limit][static_cast<unsigned>(vector)] = {};
  if (result < plan.wide) {
    if (plan.vectors) {
#pragma unroll 1
      for (; k + (ahead - 1) * k_step < shape.k; k += ahead * k_step) {
        staged_vector<T, vector> line[ahead];
#pragma unroll
        for (int u = 0; u < ahead; ++u)
          line[u] = *reinterpret_cast<const staged_vector<T, vector>*>(matrix + (k + u * k_step) * k_stride);
#pragma unroll
        for (int u = 0; u < ahead; ++u) {
#pragma unroll
          for (int t = 0; t < thin_limit; ++t) {
            if (t >= plan.thin) break;
            const T* from = thin[t] + (k + u * k_step) * thin_k_stride;
            staged_vector<T, vector> x;
            if (plan.along_k) {
              x = *reinterpret_cast<const staged_vector<T, vector>*>(from);
            } else {
#pragma unroll
              for (int l = 0; l < vector; ++l) x.value[l] = *from;
            }
#pragma unroll
            for (int l = 0; l < vector; ++l) sum[t][l] += line[u].value[l] * x.value[l];
          }
        }
      }
    }
    for (; k < shape.k; k += k_step) {
#pragma unroll
      for (int l = 0; l < vector; ++l) {
        if (plan.along_k ? k + l >= shape.k : result + l >= plan.wide) break;
        const T element = matrix[k * k_stride + l * lane_stride];
#pragma unroll
        for (int t = 0; t < thin_limit; ++t) sum[t][l] += element * thin[t][k * thin_k_stride + l * thin_lane_stride];
      }
    }
  }

  // Threads of a warp that have other k of the same results, then the lanes or the warps, always in the same order.
#pragma unroll 1
  for (int distance = plan.along_k ? 1 : 4; distance < warp_size; distance *= 2) {
#pragma unroll
    for (int t = 0; t < thin_limit; ++t) {
#pragma unroll
      for (int l = 0; l < vector; ++l) sum[t][l] += __shfl_xor_sync(0xffffffffU, sum[t][l], distance);
    }
  }
  if (lane < 4) {
#pragma unroll
    for (int t = 0; t < thin_limit; ++t) {
#pragma unroll
      for (int l = 0; l < vector; ++l) partial[(t * vector + l) * pitch + warp * 4 + lane] = sum[t][l];
    }
  }
  __syncthreads();
  const int t = thread / wides, here = thread % wides;
  if (t >= plan.thin || first + here >= plan.wide) return;
  const int from = plan.along_k ? t * vector * pitch + here * 4 : (t * vector + here % vector) * pitch + here / vector;
  const int terms = plan.along_k ? vector : warps, step = plan.along_k ? pitch : 4;
  T total = partial[from];
  for (int i = 1; i < terms; ++i) total += partial[from + i * step];
  sink.store(sink.at(batch), plan.matrix_is_a ? first + here : t, plan.matrix_is_a ? t : first + here, total);
}

/// How to go about a thin product.
template <class T>
inline thin_plan plan_thin_gemm(const gemm_shape& shape, const gemm_operand<T>& a, const gemm_operand<T>& b) {
  thin_plan plan;
  plan.matrix_is_a = shape.m > shape.n;
  plan.wide = plan.matrix_is_a ? shape.m : shape.n;
  plan.thin = static_cast<int>(plan.matrix_is_a ? shape.n : shape.m);
  const gemm_operand<T>& matrix = plan.matrix_is_a ? a : b;
  const gemm_operand<T>& vectors = plan.matrix_is_a ? b : a;
  const index_t wide_stride = plan.matrix_is_a ? a.row_stride : b.column_stride;
  const index_t k_stride = plan.matrix_is_a ? a.column_stride : b.row_stride;
  const index_t thin_stride = plan.matrix_is_a ? b.column_stride : a.row_stride;
  const index_t thin_k_stride = plan.matrix_is_a ? b.row_stride : a.column_stride;
  plan.along_k = (k_stride < 0 ? -k_stride : k_stride) < (wide_stride < 0 ? -wide_stride : wide_stride);
  plan.vectors = plan.along_k ? moves_in_vectors(matrix, k_stride, wide_stride, shape.k, plan.wide, shape) &&
                                    moves_in_vectors(vectors, thin_k_stride, thin_stride, shape.k, plan.thin, shape)
                              : moves_in_vectors(matrix, wide_stride, k_stride, plan.wide, shape.k, shape);
  plan.scattered = plan.along_k && thin_k_stride != 1;
  return plan;
}

/// As gemm, where shape.m or shape.n is at most thin_limit.
template <class T, class Sink>
inline void launch_thin_gemm(const Sink& sink, const gemm_shape& shape, const gemm_operand<T>& a,
                             const gemm_operand<T>& b, const launch_context& context,
                             index_t block_limit = max_grid_x) {
  constexpr int vector = 16 / static_cast<int>(sizeof(T));
  thin_plan plan = plan_thin_gemm(shape, a, b);
  const index_t blocks = ceil_div(plan.wide, plan.along_k ? thin_threads / warp_size : 4 * vector);
  plan.blocks = fast_divisor(static_cast<std::uint32_t>(blocks));
  const index_t step = block_limit / blocks > 1 ? block_limit / blocks : 1;
  for (; plan.first_batch < shape.batches; plan.first_batch += step) {
    const index_t batches = step < shape.batches - plan.first_batch ? step : shape.batches - plan.first_batch;
    launch(thin_gemm_kernel<T, Sink>, grid_for(batches * blocks, 1), dim3(thin_threads), 0, context, sink, shape, a, b,
           plan);
  }
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
