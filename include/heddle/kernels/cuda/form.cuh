// Formulas on CUDA: a form is evaluated over a few lanes in registers. Everything on the way down to a functor is
// __device__ only, so that the compiler refuses a functor which the device can't call instead of dropping the call.
#pragma once

#include "heddle/core/cast.hpp"
#include "heddle/expr/form.hpp"
#include "heddle/expr/numbers.hpp"
#include "heddle/expr/space.hpp"
#include "heddle/kernels/cuda/launch.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// What a kernel's parameters may take together: 32,764 bytes since CUDA 12.1, 4,096 before.
#if defined(CUDART_VERSION) && CUDART_VERSION < 12010
inline constexpr int max_parameter_bytes = 4096;
#else
inline constexpr int max_parameter_bytes = 32764;
#endif

/// One leaf's elements in registers.
template <class T, int Lanes>
struct register_lanes {
  T lane[Lanes];
};

template <class Form, int Lanes, class Slots>
struct registers_of;
template <class Form, int Lanes, int... S>
struct registers_of<Form, Lanes, std::integer_sequence<int, S...>> {
  using type = pack<register_lanes<typename leaf_type<S, Form>::type, Lanes>...>;
};
template <class Form, int Leaves, int Lanes>
using registers_t = typename registers_of<Form, Lanes, std::make_integer_sequence<int, Leaves>>::type;

template <class Argument, class T>
__device__ __forceinline__ auto as_argument(T value) {
  if constexpr (std::is_void_v<Argument> || std::is_same_v<Argument, T>)
    return value;
  else
    return cast_element<Argument>(value);
}

/// Functors may have a form of their own for results of 16 bits: `narrow<Result>(x...)`, in float, next to operator().
template <class Result, class F, class... A>
__device__ __forceinline__ auto call(const F& functor, A... arguments) {
  if constexpr (is_16bit_float_v<Result> && requires { functor.template narrow<Result>(arguments...); })
    return functor.template narrow<Result>(arguments...);
  else
    return functor(arguments...);
}

/// The value of a form at one lane; `hole` is the producer's value.
template <class Form>
struct lane_value;
template <class T, int Slot>
struct lane_value<leaf_form<T, Slot>> {
  template <class Registers, class Hole>
  static __device__ __forceinline__ compute_type<T> at(const leaf_form<T, Slot>&, const Registers& registers,
                                                       const Hole&, int j) {
    return static_cast<compute_type<T>>(slot<Slot>(registers).lane[j]);
  }
};
template <class T>
struct lane_value<constant_form<T>> {
  template <class Registers, class Hole>
  static __device__ __forceinline__ T at(const constant_form<T>& form, const Registers&, const Hole&, int) {
    return form.value;
  }
};
template <>
struct lane_value<hole_form> {
  template <class Registers, class Hole>
  static __device__ __forceinline__ Hole at(const hole_form&, const Registers&, const Hole& hole, int) {
    return hole;
  }
};
template <class F, class Argument, class Result, class... Children>
struct lane_value<map_form<F, Argument, Result, Children...>> {
  template <class Registers, class Hole>
  static __device__ __forceinline__ compute_type<Result> at(const map_form<F, Argument, Result, Children...>& form,
                                                            const Registers& registers, const Hole& hole, int j) {
    return at(form, registers, hole, j, std::make_integer_sequence<int, static_cast<int>(sizeof...(Children))>{});
  }

 private:
  template <class Registers, class Hole, int... I>
  static __device__ __forceinline__ compute_type<Result> at(const map_form<F, Argument, Result, Children...>& form,
                                                            const Registers& registers, const Hole& hole, int j,
                                                            std::integer_sequence<int, I...>) {
    return cast_element<compute_type<Result>>(call<Result>(
        form.functor, as_argument<Argument>(lane_value<Children>::at(slot<I>(form.children), registers, hole, j))...));
  }
};

template <class T>
__device__ __forceinline__ T load_leaf(const void* data, index_t offset) {
  if constexpr (std::is_same_v<T, element_number>)
    return {number_at(data, offset)};
  else
    return static_cast<const T*>(data)[offset];
}
template <class Form, class Registers, int... S>
__device__ __forceinline__ void load_element(Registers& registers, const void* const* data, const index_t* offset,
                                             std::integer_sequence<int, S...>) {
  ((slot<S>(registers).lane[0] = load_leaf<typename leaf_type<S, Form>::type>(data[S], offset[S])), ...);
}

/// A group of axes walked by one linear index, for all rows (the leaves, and the output last).
template <int Rows, int Rank>
struct axis_group {
  static constexpr int capacity = Rank > 0 ? Rank : 1;
  int rank = 0;
  bool small = true;  ///< the group's size is below 2^31, so that indices are divided by multiplication
  index_t extent[static_cast<std::size_t>(capacity)] = {};
  fast_divisor divisor[static_cast<std::size_t>(capacity)];
  index_t stride[static_cast<std::size_t>(capacity)][static_cast<std::size_t>(Rows > 0 ? Rows : 1)] = {};

  /// Adds the offsets of a linear index to each row's. Small: the group is known to be so.
  template <bool Small = false>
  __device__ __forceinline__ void advance(index_t linear, index_t* offset) const {
    if (rank == 0) return;
    if (rank == 1) {
#pragma unroll
      for (int r = 0; r < Rows; ++r) offset[r] += linear * stride[0][r];
      return;
    }
#pragma unroll
    for (int a = capacity - 1; a >= 0; --a) {
      if (a >= rank) continue;
      index_t coordinate = linear;
      if (a > 0) {
        if (Small || small) {
          const std::uint32_t n = static_cast<std::uint32_t>(linear);
          const std::uint32_t quotient = divisor[a].divide(n);
          coordinate = n - quotient * divisor[a].divisor;
          linear = quotient;
        } else {
          const index_t quotient = linear / extent[a];
          coordinate = linear - quotient * extent[a];
          linear = quotient;
        }
      }
#pragma unroll
      for (int r = 0; r < Rows; ++r) offset[r] += coordinate * stride[a][r];
    }
  }
};

/// Copies the chosen axes of a bound formula into a group, collapsed; the output's strides, if wanted, in the last row.
template <int Rows, class Bound>
axis_group<Rows, Bound::rank> group_axes(const Bound& bound, const bool* chosen) {
  constexpr int capacity = axis_group<Rows, Bound::rank>::capacity;
  axis_group<Rows, Bound::rank> group;
  index_t stride[static_cast<std::size_t>(Rows > 0 ? Rows : 1)][static_cast<std::size_t>(capacity)] = {};
  index_t size = 1;
  if constexpr (Bound::rank > 0) {
    for (int i = 0; i < Bound::rank; ++i) {
      if (!chosen[i]) continue;
      for (int r = 0; r < Bound::leaves; ++r) stride[r][group.rank] = bound.table.stride[r][i];
      if constexpr (Rows > Bound::leaves) stride[Bound::leaves][group.rank] = bound.out_stride[i];
      size *= bound.shape[i];
      group.extent[group.rank++] = bound.shape[i];
    }
  }
  group.rank = collapse_axes(group.rank, group.extent, &stride[0][0], Rows, capacity, false);
  group.small = size <= fast_division_limit;
  for (int a = 0; a < group.rank; ++a) {
    if (group.small) group.divisor[a] = fast_divisor(static_cast<std::uint32_t>(group.extent[a]));
    for (int r = 0; r < Rows; ++r) group.stride[a][r] = stride[r][a];
  }
  return group;
}

/// An operand formula as a kernel reads it: `outer` walks the axes that are kept, `inner` those that are reduced.
template <class Bound>
class source {
 protected:
  static constexpr int rows = Bound::leaves;
  static constexpr int held_rows = rows > 0 ? rows : 1;
  using Form = typename Bound::form_type;

 public:
  using value_type = compute_type<typename Bound::out_type>;
  struct Position {
    index_t offset[static_cast<std::size_t>(held_rows)];
  };

  source(const Bound& bound, const bool* inner) : form_(bound.form) {
    bool outer[static_cast<std::size_t>(Bound::rank > 0 ? Bound::rank : 1)] = {};
    for (int i = 0; i < Bound::rank; ++i) outer[i] = !inner[i];
    outer_ = group_axes<rows>(bound, outer);
    inner_ = group_axes<rows>(bound, inner);
    for (int r = 0; r < rows; ++r) data_[r] = bound.table.data[r];
  }

  __device__ __forceinline__ Position at(index_t outer) const {
    Position position{};
    outer_.advance(outer, position.offset);
    return position;
  }
  __device__ __forceinline__ value_type load(const Position& position, index_t inner) const {
    Position here = position;
    inner_.advance(inner, here.offset);
    registers_t<Form, Bound::leaves, 1> registers;
    load_element<Form>(registers, data_, here.offset, std::make_integer_sequence<int, Bound::leaves>{});
    return static_cast<value_type>(lane_value<Form>::at(form_, registers, 0, 0));
  }
  /// True if neighbours along the inner index are nearer to each other in memory than neighbours along the outer one.
  bool inner_is_contiguous() const { return nearness(inner_) <= nearness(outer_); }
  bool outer_is_contiguous() const { return !inner_is_contiguous(); }

 private:
  static index_t nearness(const axis_group<rows, Bound::rank>& group) {
    if (group.rank == 0) return INT64_MAX;
    index_t widest = 0;
    for (int r = 0; r < rows; ++r) {
      const index_t step =
          group.stride[group.rank - 1][r] < 0 ? -group.stride[group.rank - 1][r] : group.stride[group.rank - 1][r];
      widest = step > widest ? step : widest;
    }
    return widest;
  }

 protected:
  Form form_;
  const void* data_[static_cast<std::size_t>(held_rows)];
  axis_group<rows, Bound::rank> outer_;
  axis_group<rows, Bound::rank> inner_;
};

/// Output and epilogue as a kernel writes them: `outer` walks the remaining axes, row and column one axis each (-1:
/// none).
template <class Bound>
class sink {
  static constexpr int rows = Bound::leaves + 1;
  using Form = typename Bound::form_type;
  using Out = typename Bound::out_type;

 public:
  struct Position {
    index_t offset[static_cast<std::size_t>(rows)];
  };

  sink(const Bound& bound, int row_axis, int column_axis) : form_(bound.form), out_(bound.out) {
    bool outer[static_cast<std::size_t>(Bound::rank > 0 ? Bound::rank : 1)] = {};
    for (int i = 0; i < Bound::rank; ++i) outer[i] = i != row_axis && i != column_axis;
    outer_ = group_axes<rows>(bound, outer);
    for (int r = 0; r < rows; ++r) {
      row_stride_[r] = row_axis < 0 ? 0 : stride_of(bound, r, row_axis);
      column_stride_[r] = column_axis < 0 ? 0 : stride_of(bound, r, column_axis);
    }
    for (int r = 0; r < Bound::leaves; ++r) data_[r] = bound.table.data[r];
  }

  __device__ __forceinline__ Position at(index_t outer) const {
    Position position{};
    outer_.advance(outer, position.offset);
    return position;
  }
  template <class V>
  __device__ __forceinline__ void store(const Position& position, index_t row, index_t column, V value) const {
    index_t offset[static_cast<std::size_t>(rows)];
#pragma unroll
    for (int r = 0; r < rows; ++r) offset[r] = position.offset[r] + row * row_stride_[r] + column * column_stride_[r];
    registers_t<Form, Bound::leaves, 1> registers;
    load_element<Form>(registers, data_, offset, std::make_integer_sequence<int, Bound::leaves>{});
    out_[offset[Bound::leaves]] = cast_element<Out>(lane_value<Form>::at(form_, registers, value, 0));
  }

 private:
  static index_t stride_of(const Bound& bound, int r, int axis_number) {
    return r < Bound::leaves ? bound.table.stride[r][axis_number] : bound.out_stride[axis_number];
  }

 protected:
  Form form_;
  Out* out_;
  const void* data_[static_cast<std::size_t>(Bound::leaves > 0 ? Bound::leaves : 1)];
  axis_group<rows, Bound::rank> outer_;
  index_t row_stride_[static_cast<std::size_t>(rows)];
  index_t column_stride_[static_cast<std::size_t>(rows)];
};

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
