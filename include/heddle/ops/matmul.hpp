// The matrix product.
#pragma once

#include "heddle/expr/producer.hpp"
#include "heddle/kernels/cpu/gemm.hpp"
#include "heddle/kernels/gemm_shape.hpp"
#include "heddle/ops/map.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/gemm.cuh"
#include "heddle/kernels/cuda/gemm_sink.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

/// The product of two formulas by NumPy's rules. Operands that are not tensors are computed into tensors first, since a
/// product reads each element many times.
template <class A, class B>
class matmul_formula : public producer<matmul_formula<A, B>> {
  static constexpr int batch_rank = greatest<A::rank - 2, B::rank - 2>();
  static constexpr bool has_rows = A::rank > 1;
  static constexpr bool has_columns = B::rank > 1;
  static_assert(A::rank > 0 && B::rank > 0, "matmul takes operands of rank 1 and more");
  static_assert(batch_rank <= gemm_max_batch_rank, "matmul takes at most 8 batch axes");

 public:
  using value_type = tensor_result_t<typename A::value_type, typename B::value_type>;
  using device_type = typename joint_device<typename A::device_type, typename B::device_type>::type;
  static constexpr int rank = batch_rank + (has_rows ? 1 : 0) + (has_columns ? 1 : 0);
  static constexpr producer_work work = producer_work::matmul;

  explicit matmul_formula(A a, B b) : a_(std::move(a)), b_(std::move(b)) {
    require_same_device(a_.device(), b_.device());
    if (a_.shape()[A::rank - 1] != b_.shape()[has_columns ? B::rank - 2 : 0])
      throw ShapeError(Message{} << "matmul: shapes " << a_.shape() << " and " << b_.shape() << ": the inner extents "
                                 << a_.shape()[A::rank - 1] << " and " << b_.shape()[has_columns ? B::rank - 2 : 0]
                                 << " differ");
    batches_ = batch_shape();
  }

  Shape<rank> shape() const {
    Shape<rank> shape;
    if constexpr (rank > 0) {
      if constexpr (batch_rank > 0) {
        for (int i = 0; i < batch_rank; ++i) shape[i] = batches_[i];
      }
      if constexpr (has_rows) shape[batch_rank] = a_.shape()[A::rank - 2];
      if constexpr (has_columns) shape[rank - 1] = b_.shape()[B::rank - 1];
    }
    return shape;
  }
  device_type device() const { return a_.device(); }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool = false) const {
    a_.for_each_tensor(visit, true);
    b_.for_each_tensor(visit, true);
  }

  template <class Bound>
  void run(const Bound& bound) const {
    using T = value_type;
    const auto a = as_tensor<T>(a_);
    const auto b = as_tensor<T>(b_);
    gemm_shape problem;
    problem.m = has_rows ? a.shape()[has_rows ? A::rank - 2 : 0] : 1;
    problem.k = a.shape()[A::rank - 1];
    problem.n = has_columns ? b.shape()[B::rank - 1] : 1;
    gemm_operand<T> left{a.data(), has_rows ? a.strides()[has_rows ? A::rank - 2 : 0] : 0, a.strides()[A::rank - 1]};
    gemm_operand<T> right{b.data(), b.strides()[has_columns ? B::rank - 2 : 0],
                          has_columns ? b.strides()[B::rank - 1] : 0};
    if constexpr (batch_rank > 0) {
      for (int i = 0; i < batch_rank; ++i) {
        problem.batch_extent[i] = batches_[i];
        problem.batches *= batches_[i];
        left.batch_stride[i] = batch_stride<A::rank>(a, i);
        right.batch_stride[i] = batch_stride<B::rank>(b, i);
      }
      problem.batch_rank = batch_rank;
    }
    constexpr int row_axis = has_rows ? batch_rank : -1;
    constexpr int column_axis = has_columns ? rank - 1 : -1;
    using Accumulator = accumulator_type<T>;
    if constexpr (runs_here<device_type>() && std::is_same_v<device_type, Cpu>) {
      on_cpu::gemm<Accumulator>(on_cpu::sink<Bound>(bound, row_axis, column_axis).template values<Accumulator>(),
                                problem, left, right);
    } else {
#if HEDDLE_CUDA_COMPILER
      on_cuda::gemm<Accumulator>(on_cuda::gemm_sink<Bound>(bound, row_axis, column_axis), problem, left, right,
                                 on_cuda::current_context(device().index, "matmul"));
#endif
    }
  }

 private:
  Shape<batch_rank> batch_shape() const {
    Shape<batch_rank> batches = shape_of_ones<batch_rank>();
    bool fits = true;
    if constexpr (A::rank > 2) fits = broadcast_into(batches, leading(a_.shape()));
    if constexpr (B::rank > 2) fits = fits && broadcast_into(batches, leading(b_.shape()));
    if (!fits)
      throw ShapeError(Message{} << "matmul: the batch axes of shapes " << a_.shape() << " and " << b_.shape()
                                 << " can't be broadcast together");
    return batches;
  }
  template <int Rank>
  static Shape<Rank - 2> leading(const Shape<Rank>& shape) {
    Shape<Rank - 2> first;
    for (int i = 0; i < Rank - 2; ++i) first[i] = shape[i];
    return first;
  }
  template <int Rank, class X>
  static index_t batch_stride(const X& x, int batch_axis) {
    const int own = batch_axis - (batch_rank - (Rank - 2));
    return Rank <= 2 || own < 0 || x.shape()[own] == 1 ? 0 : x.strides()[own];
  }

  A a_;
  B b_;
  [[no_unique_address]] Shape<batch_rank> batches_;
};

/// The matrix product: (…, m, k) × (…, k, n) gives (…, m, n), batch axes broadcast; a rank-1 operand is a row on the
/// left and a column on the right, and that axis is left out. Half and bfloat16 add up in float, integers in int64 (and
/// wrap to their type). K = 0 gives zeros. Maps above ride in the epilogue. Throws ShapeError. Example: `y =
/// hd::relu(hd::matmul(x, w) + b);`
template <Expression A, Expression B>
auto matmul(A&& a, B&& b) {
  return matmul_formula<formula_of_t<A&&>, formula_of_t<B&&>>(as_formula(std::forward<A>(a)),
                                                              as_formula(std::forward<B>(b)));
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
