// The matrix product: which kernel serves it.
#pragma once

#include "heddle/kernels/cuda/gemm_general.cuh"
#include "heddle/kernels/cuda/gemm_simt.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// sink(batch)[m, n] = sum over k of a[m, k] b[k, n], accumulated in Acc (float for half and bfloat16, std::int64_t for
/// integers), for every batch; zeros where K is 0. Operands may have any strides, and offsets beyond 2^31.
template <class Acc, class Sink, class A, class B>
inline void gemm(const Sink& sink, const gemm_shape& shape, const gemm_operand<A>& a, const gemm_operand<B>& b,
                 const launch_context& context) {
  if (shape.batches <= 0 || shape.m <= 0 || shape.n <= 0) return;
  if constexpr (std::is_floating_point_v<Acc> && std::is_same_v<A, Acc> && std::is_same_v<B, Acc>) {
    simt_gemm<Acc>(sink, shape, a, b, context);
  } else {
    general_gemm<Acc>(sink, shape, a, b, context);
  }
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
