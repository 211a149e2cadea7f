// What a matrix product is asked for, in the words both devices' kernels share.
#pragma once

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// The most batch dimensions that a product has after collapsing.
inline constexpr int gemm_max_batch_rank = 8;

/// C(m, n) = sum over k of A(m, k) B(k, n), once for each batch; the batches are numbered row-major over batch_extent.
struct gemm_shape {
  index_t m = 0, n = 0, k = 0;
  index_t batches = 1;  ///< the product of the batch extents
  int batch_rank = 0;
  index_t batch_extent[gemm_max_batch_rank] = {};
};

/// One operand, read only. Strides are in elements, of any sign; 0 repeats an element, a row, a column or a batch.
template <class T>
struct gemm_operand {
  using value_type = T;
  const T* data = nullptr;  ///< element (0, 0) of batch 0
  index_t row_stride = 0;
  index_t column_stride = 0;
  index_t batch_stride[gemm_max_batch_rank] = {};  ///< one for each of the shape's batch dimensions
};

/// Where the operand's matrix of one batch begins.
template <class T>
HEDDLE_HOST_DEVICE inline const T* batch_data(const gemm_operand<T>& operand, const gemm_shape& shape, index_t batch) {
  const T* data = operand.data;
  for (int d = shape.batch_rank - 1; d > 0; --d) {
    const index_t outer = batch / shape.batch_extent[d];
    data += (batch - outer * shape.batch_extent[d]) * operand.batch_stride[d];
    batch = outer;
  }
  if (shape.batch_rank > 0) data += batch * operand.batch_stride[0];
  return data;
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
