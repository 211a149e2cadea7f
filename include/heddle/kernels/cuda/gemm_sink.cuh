// Output and epilogue of a matrix product: several neighbouring columns at once, by accesses of 16 bytes where the
// layouts allow it.
#pragma once

#include "heddle/kernels/cuda/vectors.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// A bound formula as a product's kernel writes it. Row and column are one axis each (-1: none); the batches walk the
/// others.
template <class Bound>
class gemm_sink : public sink<Bound> {
  using Base = sink<Bound>;
  static constexpr int rows = Bound::leaves + 1;
  static constexpr int widest = 4;  // lanes at once
  using Form = typename Bound::form_type;
  using Out = typename Bound::out_type;
  using leaves = std::make_integer_sequence<int, Bound::leaves>;

 public:
  using typename Base::Position;
  /// A place in one row, which moves on to other rows; what the epilogue reads there alike in all rows is read once.
  template <int Lanes>
  struct Lines : Position {
    registers_t<Form, Bound::leaves, Lanes> held;
    Out* out;
    index_t out_step;
    bool in_vectors, moves[static_cast<std::size_t>(rows)];
  };

  gemm_sink(const Bound& bound, int row_axis, int column_axis) : Base(bound, row_axis, column_axis) {
    in_vectors_ = column_axis >= 0 && bound.shape[column_axis >= 0 ? column_axis : 0] % widest == 0 &&
                  this->column_stride_[Bound::leaves] == 1 && all_fit(leaves{});
  }

  /// Whether neighbouring columns lie together in the output and in what the epilogue reads, 16 bytes after 16 bytes.
  __device__ __forceinline__ bool in_vectors() const { return in_vectors_; }

  /// Lane l goes `step` l columns further, where bit l of `wanted` is set; in vectors, `step` is 1 and all are wanted.
  template <int Lanes>
  __device__ __forceinline__ Lines<Lanes> lines(index_t batch, index_t row, index_t column, int step,
                                                unsigned wanted) const {
    static_assert(widest % Lanes == 0);
    Lines<Lanes> lines;
    static_cast<Position&>(lines) = this->at(batch);
#pragma unroll
    for (int r = 0; r < rows; ++r) lines.offset[r] += row * this->row_stride_[r] + column * this->column_stride_[r];
    lines.out = this->out_ + lines.offset[Bound::leaves];
    lines.out_step = this->row_stride_[Bound::leaves];
    lines.in_vectors = in_vectors_;
#pragma unroll
    for (int r = 0; r < Bound::leaves; ++r) lines.moves[r] = this->row_stride_[r] != 0;
    if (wanted != 0) load<false>(lines, 0, step, wanted, leaves{});
    return lines;
  }
  /// `row`: how many rows after the first; out has come there already.
  template <int Lanes, class V>
  __device__ __forceinline__ void store_lanes(Lines<Lanes>& lines, const V (&value)[Lanes], int row, int step,
                                              unsigned wanted) const {
    load<true>(lines, row, step, wanted, leaves{});
    vector_of<Out, Lanes> result;
#pragma unroll
    for (int l = 0; l < Lanes; ++l)
      result.lane[l] = cast_element<Out>(lane_value<Form>::at(this->form_, lines.held, value[l], l));
    if (lines.in_vectors) {
      *reinterpret_cast<vector_of<Out, Lanes>*>(lines.out) = result;
    } else {
#pragma unroll
      for (int l = 0; l < Lanes; ++l) {
        if (wanted >> l & 1U) lines.out[l * (step * this->column_stride_[Bound::leaves])] = result.lane[l];
      }
    }
  }

 private:
  /// Reads the leaves that are alike in all rows, or those that move with them.
  template <bool Moving, int Lanes, int... S>
  __device__ __forceinline__ void load([[maybe_unused]] Lines<Lanes>& lines, [[maybe_unused]] int row,
                                       [[maybe_unused]] int step, [[maybe_unused]] unsigned wanted,
                                       std::integer_sequence<int, S...>) const {
    ((lines.moves[S] == Moving ? load_leaf_lanes<S>(slot<S>(lines.held), lines.offset[S] + row * this->row_stride_[S],
                                                    step, wanted, lines.in_vectors)
                               : void()),
     ...);
  }
  template <int S, class T, int Lanes>
  __device__ __forceinline__ void load_leaf_lanes(register_lanes<T, Lanes>& to, index_t offset, int step,
                                                  unsigned wanted, bool in_vectors) const {
    if (in_vectors) {
      if constexpr (!is_number_v<T>) load_vector<Lanes>(to, this->data_[S], offset, this->column_stride_[S], Lanes);
      return;
    }
#pragma unroll
    for (int l = 0; l < Lanes; ++l) {
      to.lane[l] = T{};
      if (wanted >> l & 1U) to.lane[l] = load_leaf<T>(this->data_[S], offset + l * (step * this->column_stride_[S]));
    }
  }

  template <int... S>
  bool all_fit(std::integer_sequence<int, S...>) const {
    return fits<Out>(this->out_, Bound::leaves) && (... && fits<typename leaf_type<S, Form>::type>(this->data_[S], S));
  }
  template <class T>
  bool fits(const void* data, int r) const {
    if (is_number_v<T>) return false;
    if (this->column_stride_[r] == 0) return true;
    bool fits = this->column_stride_[r] == 1 && this->row_stride_[r] % widest == 0 &&
                reinterpret_cast<std::uintptr_t>(data) % alignof(vector_of<T, widest>) == 0;
    for (int a = 0; a < this->outer_.rank; ++a) fits = fits && this->outer_.stride[a][r] % widest == 0;
    return fits;
  }

  bool in_vectors_;
};

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
