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
class gemm_sink {
  static constexpr int rows = Bound::leaves + 1;
  static constexpr int widest = 4;  // lanes at once
  using Form = typename Bound::form_type;
  using Out = typename Bound::out_type;
  using leaves = std::make_integer_sequence<int, Bound::leaves>;

 public:
  struct Position {
    index_t offset[static_cast<std::size_t>(rows)];
  };
  /// A place in one row, which moves on to other rows; what the epilogue reads there alike in all rows is read once.
  template <int Lanes>
  struct Lines : Position {
    registers_t<Form, Bound::leaves, Lanes> held;
    Out* out;
    index_t out_step;
    bool in_vectors, moves[static_cast<std::size_t>(rows)];
  };

  gemm_sink(const Bound& bound, int row_axis, int column_axis) : form_(bound.form), out_(bound.out) {
    bool outer[static_cast<std::size_t>(Bound::rank > 0 ? Bound::rank : 1)] = {};
    for (int i = 0; i < Bound::rank; ++i) outer[i] = i != row_axis && i != column_axis;
    outer_ = group_axes<rows>(bound, outer);
    for (int r = 0; r < rows; ++r) {
      row_stride_[r] = row_axis < 0 ? 0 : stride_of(bound, r, row_axis);
      column_stride_[r] = column_axis < 0 ? 0 : stride_of(bound, r, column_axis);
    }
    for (int r = 0; r < Bound::leaves; ++r) data_[r] = bound.table.data[r];
    in_vectors_ = column_axis >= 0 && bound.shape[column_axis >= 0 ? column_axis : 0] % widest == 0 &&
                  column_stride_[Bound::leaves] == 1 && all_fit(leaves{});
  }

  /// Whether neighbouring columns lie together in the output and in what the epilogue reads, 16 bytes after 16 bytes.
  __device__ __forceinline__ bool in_vectors() const { return in_vectors_; }

  __device__ __forceinline__ Position at(index_t batch) const {
    Position position{};
    outer_.advance(batch, position.offset);
    return position;
  }
  /// Lane l goes `step` l columns further, where bit l of `wanted` is set; in vectors, `step` is 1 and all are wanted.
  template <int Lanes>
  __device__ __forceinline__ Lines<Lanes> lines(index_t batch, index_t row, index_t column, int step,
                                                unsigned wanted) const {
    static_assert(widest % Lanes == 0);
    Lines<Lanes> lines;
    static_cast<Position&>(lines) = at(batch);
#pragma unroll
    for (int r = 0; r < rows; ++r) lines.offset[r] += row * row_stride_[r] + column * column_stride_[r];
    lines.out = out_ + lines.offset[Bound::leaves];
    lines.out_step = row_stride_[Bound::leaves];
    lines.in_vectors = in_vectors_;
#pragma unroll
    for (int r = 0; r < Bound::leaves; ++r) lines.moves[r] = row_stride_[r] != 0;
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
      result.lane[l] = cast_element<Out>(lane_value<Form>::at(form_, lines.held, value[l], l));
    if (lines.in_vectors) {
      *reinterpret_cast<vector_of<Out, Lanes>*>(lines.out) = result;
    } else {
#pragma unroll
      for (int l = 0; l < Lanes; ++l) {
        if (wanted >> l & 1U) lines.out[l * (step * column_stride_[Bound::leaves])] = result.lane[l];
      }
    }
  }
  template <class V>
  __device__ __forceinline__ void store(const Position& position, index_t row, index_t column, V value) const {
    index_t offset[static_cast<std::size_t>(rows)];
#pragma unroll
    for (int r = 0; r < rows; ++r) offset[r] = position.offset[r] + row * row_stride_[r] + column * column_stride_[r];
    registers_t<Form, Bound::leaves, 1> registers;
    load_element<Form>(registers, data_, offset, leaves{});
    out_[offset[Bound::leaves]] = cast_element<Out>(lane_value<Form>::at(form_, registers, value, 0));
  }

 private:
  /// Reads the leaves that are alike in all rows, or those that move with them.
  template <bool Moving, int Lanes, int... S>
  __device__ __forceinline__ void load([[maybe_unused]] Lines<Lanes>& lines, [[maybe_unused]] int row,
                                       [[maybe_unused]] int step, [[maybe_unused]] unsigned wanted,
                                       std::integer_sequence<int, S...>) const {
    ((lines.moves[S] == Moving ? load_leaf_lanes<S>(slot<S>(lines.held), lines.offset[S] + row * row_stride_[S], step,
                                                    wanted, lines.in_vectors)
                               : void()),
     ...);
  }
  template <int S, class T, int Lanes>
  __device__ __forceinline__ void load_leaf_lanes(register_lanes<T, Lanes>& to, index_t offset, int step,
                                                  unsigned wanted, bool in_vectors) const {
    if (in_vectors) {
      if constexpr (!is_number_v<T>) load_vector<Lanes>(to, data_[S], offset, column_stride_[S], Lanes);
      return;
    }
#pragma unroll
    for (int l = 0; l < Lanes; ++l) {
      to.lane[l] = T{};
      if (wanted >> l & 1U) to.lane[l] = load_leaf<T>(data_[S], offset + l * (step * column_stride_[S]));
    }
  }

  static index_t stride_of(const Bound& bound, int r, int axis_number) {
    return r < Bound::leaves ? bound.table.stride[r][axis_number] : bound.out_stride[axis_number];
  }
  template <int... S>
  bool all_fit(std::integer_sequence<int, S...>) const {
    return fits<Out>(out_, Bound::leaves) && (... && fits<typename leaf_type<S, Form>::type>(data_[S], S));
  }
  template <class T>
  bool fits(const void* data, int r) const {
    if (is_number_v<T>) return false;
    if (column_stride_[r] == 0) return true;
    bool fits = column_stride_[r] == 1 && row_stride_[r] % widest == 0 &&
                reinterpret_cast<std::uintptr_t>(data) % alignof(vector_of<T, widest>) == 0;
    for (int a = 0; a < outer_.rank; ++a) fits = fits && outer_.stride[a][r] % widest == 0;
    return fits;
  }

  Form form_;
  Out* out_;
  const void* data_[static_cast<std::size_t>(Bound::leaves > 0 ? Bound::leaves : 1)];
  axis_group<rows, Bound::rank> outer_;
  index_t row_stride_[static_cast<std::size_t>(rows)];
  index_t column_stride_[static_cast<std::size_t>(rows)];
  bool in_vectors_;
};

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
