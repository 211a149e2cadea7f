// Elements and rows picked by tensors of indices, and their gradients' counterparts in ops/scatter.hpp.
//
// Indices are integers on the same device. Of gather, index_select, embedding and one_hot they must lie in
// [0, extent), as PyTorch's; of take, as NumPy's, negative ones count from the end. What is out of range throws an
// IndexError on Cpu before anything is written. A kernel on Cuda can't throw: it gives 0 there and leaves a record,
// which the next synchronisation with that device (cuda::synchronize, item, to(cpu), to_vector, …) throws as a
// DeviceError.
#pragma once

#include "heddle/kernels/cpu/indices.hpp"
#include "heddle/ops/map.hpp"
#include "heddle/ops/rearrange.hpp"
#include "heddle/ops/select.hpp"
#include "heddle/ops/shape.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// Integers that may say where elements are.
template <class X>
inline constexpr bool is_index_v = false;
template <class X>
requires Expression<X>
inline constexpr bool is_index_v<X> = kind_of<value_type_of_t<X>> == kind::integer;
template <class X>
concept IndexExpression = is_index_v<X>;

/// Indices as a tensor of int32 or int64: as it is where it is one.
template <class I>
auto index_tensor(I&& index) {
  using T = value_type_of_t<I>;
  using Held = std::conditional_t<std::is_same_v<T, std::int32_t>, std::int32_t, std::int64_t>;
  return as_tensor<Held>(as_formula(std::forward<I>(index)));
}

/// What kernels read of a tensor of indices.
template <class T, int Rank, class Device>
index_source source_of_indices(const Tensor<T, Rank, Device>& index, index_t extent, bool negative) {
  return {index.data(), sizeof(T) == 8, negative, extent};
}

/// On Cpu: throws for an index out of range.
template <class T, int Rank, class Device>
void check_on_host([[maybe_unused]] const Tensor<T, Rank, Device>& index, [[maybe_unused]] bool negative,
                   [[maybe_unused]] index_t extent, [[maybe_unused]] int axis_number,
                   [[maybe_unused]] const char* operation) {
  if constexpr (std::is_same_v<Device, Cpu>)
    on_cpu::check_indices(index.data(), index.shape(), index.strides(), negative, extent, axis_number, operation);
}

/// Elements of a formula by indices: output axis i steps through the operand as `operand_axis[i]` says and through the
/// indices as `index_axis[i]` says (-1: not at all).
template <class Operand, class IndexTensor, int Rank>
class gather_formula : public producer<gather_formula<Operand, IndexTensor, Rank>> {
 public:
  using value_type = typename Operand::value_type;
  using device_type = typename Operand::device_type;
  static constexpr int rank = Rank;
  static constexpr producer_work work = producer_work::reduction;

  /// Which axes the output has, and the one of the operand that the indices are for.
  struct plan {
    const char* operation;
    int axis;
    bool negative;
    Shape<Rank> shape;
    int operand_axis[static_cast<std::size_t>(axis_capacity<Rank>)];
    int index_axis[static_cast<std::size_t>(axis_capacity<Rank>)];
  };

  gather_formula(Operand operand, IndexTensor index, const plan& how)
      : operand_(std::move(operand)), index_(std::move(index)), plan_(how) {
    require_same_device(operand_.device(), index_.device());
    checked_shape(plan_.shape);
  }
  Shape<rank> shape() const { return plan_.shape; }
  device_type device() const { return operand_.device(); }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool = false) const {
    operand_.for_each_tensor(visit, true);
    visit(index_, true);
  }

  template <class Bound>
  void run(const Bound& bound) const {
    const index_t extent = operand_.shape()[plan_.axis];
    check_on_host(index_, plan_.negative, extent, plan_.axis, plan_.operation);
    with_source(operand_, [&](const auto& from) {
      using From = std::remove_cvref_t<decltype(from)>;
      constexpr int first = output_rows<Bound>;
      auto table = output_table<From::leaves + 1>(bound);
      for (int i = 0; i < Rank; ++i) {
        const int own = plan_.operand_axis[i], its = plan_.index_axis[i];
        for (int r = 0; r < From::leaves; ++r)
          table.stride[first + r][i] = own < 0 ? 0 : operand_stride(from, r, own, 0);
        table.stride[first + From::leaves][i] = its < 0 ? 0 : index_.strides()[its];
      }
      table.merge();
      index_t along[static_cast<std::size_t>(From::leaves > 0 ? From::leaves : 1)] = {};
      for (int r = 0; r < From::leaves; ++r) along[r] = operand_stride(from, r, plan_.axis, 0);
      const index_source indices = source_of_indices(index_, extent, plan_.negative);
      const auto locator = [&]<class Index>(std::type_identity<Index>) {
        return gather_locator<From::leaves, Rank, Index>(table, first, indices, along);
      };
      move_elements(table, locator, formula_elements<From>{from}, compute_type<value_type>{}, bound, device(),
                    move_name{plan_.operation, plan_.axis, extent});
    });
  }

 private:
  Operand operand_;
  IndexTensor index_;
  plan plan_;
};

// ---- gather ----

/// out[i, j, …] = x[i, …, index[i, j, …], …] along an axis: the result has the index's shape, which may be smaller than
/// x's along the other axes. Maps above and below ride in the same kernel. Throws ShapeError; see above for indices.
/// Example: `hd::gather(probabilities, hd::axis<1>, labels.unsqueeze(hd::axis<1>))`.
template <Expression X, int A, IndexExpression I>
auto gather(X&& x, axis_t<A>, I&& index) {
  using Node = formula_of_t<X&&>;
  constexpr int rank = Node::rank;
  constexpr int axis_number = normalized_axis<A, rank>();
  static_assert(std::remove_cvref_t<I>::rank == rank, "gather's indices have the rank of the tensor");
  auto indices = index_tensor(std::forward<I>(index));
  using Formula = gather_formula<Node, decltype(indices), rank>;
  typename Formula::plan plan{"gather", axis_number, false, indices.shape(), {}, {}};
  for (int i = 0; i < rank; ++i) {
    plan.operand_axis[i] = i == axis_number ? -1 : i;
    plan.index_axis[i] = i;
    if (i != axis_number && plan.shape[i] > x.shape()[i])
      throw ShapeError(Message{} << "gather along axis " << axis_number << ": indices of shape " << plan.shape
                                 << " reach beyond a tensor of shape " << x.shape() << " in axis " << i);
  }
  return Formula(as_formula(std::forward<X>(x)), std::move(indices), plan);
}
template <Expression X, IndexExpression I, int A>
auto gather(X&& x, I&& index, axis_t<A>) {
  return gather(std::forward<X>(x), axis<A>, std::forward<I>(index));
}
template <int A, Expression X, IndexExpression I>
auto gather(X&& x, I&& index) {
  return gather(std::forward<X>(x), axis<A>, std::forward<I>(index));
}

// ---- take, index_select, embedding ----

template <int Axis, class X, class I>
auto taken(X&& x, I&& index, bool negative, const char* operation) {
  using Node = formula_of_t<X&&>;
  auto indices = index_tensor(std::forward<I>(index));
  constexpr int index_rank = decltype(indices)::rank;
  constexpr int rank = Node::rank - 1 + index_rank;
  using Formula = gather_formula<Node, decltype(indices), rank>;
  typename Formula::plan plan{operation, Axis, negative, {}, {}, {}};
  const auto from = x.shape();
  for (int i = 0; i < rank; ++i) {
    const bool of_index = i >= Axis && i < Axis + index_rank;
    const int own = of_index ? -1 : (i < Axis ? i : i - index_rank + 1);
    plan.operand_axis[i] = own;
    plan.index_axis[i] = of_index ? i - Axis : -1;
    if constexpr (rank > 0) plan.shape[i] = of_index ? indices.shape()[i - Axis] : from[own];
  }
  return Formula(as_formula(std::forward<X>(x)), std::move(indices), plan);
}

/// Slices of x along an axis, one for each index, as NumPy's: the index's axes take the place of the axis. Negative
/// indices count from the end. Example: `hd::take(table, hd::axis<0>, ids)`.
template <Expression X, int A, IndexExpression I>
auto take(X&& x, axis_t<A>, I&& index) {
  return taken<normalized_axis<A, std::remove_cvref_t<X>::rank>()>(std::forward<X>(x), std::forward<I>(index), true,
                                                                   "take");
}
template <Expression X, IndexExpression I, int A>
auto take(X&& x, I&& index, axis_t<A>) {
  return take(std::forward<X>(x), axis<A>, std::forward<I>(index));
}
/// Without an axis: elements of x by their place in row-major order.
template <Expression X, IndexExpression I>
auto take(X&& x, I&& index) {
  return taken<0>(flatten(std::forward<X>(x)), std::forward<I>(index), true, "take");
}

/// Slices of x along an axis, one for each index of a vector. Example: `hd::index_select(x, hd::axis<0>, rows)`.
template <Expression X, int A, IndexExpression I>
auto index_select(X&& x, axis_t<A>, I&& index) {
  static_assert(std::remove_cvref_t<I>::rank == 1, "index_select's indices are a vector; take has any rank");
  return taken<normalized_axis<A, std::remove_cvref_t<X>::rank>()>(std::forward<X>(x), std::forward<I>(index), false,
                                                                   "index_select");
}
template <Expression X, IndexExpression I, int A>
auto index_select(X&& x, I&& index, axis_t<A>) {
  return index_select(std::forward<X>(x), axis<A>, std::forward<I>(index));
}
template <int A, Expression X, IndexExpression I>
auto index_select(X&& x, I&& index) {
  return index_select(std::forward<X>(x), axis<A>, std::forward<I>(index));
}

/// Rows of a table of weights: a row for each index, of whatever rank. The weights may come first too.
/// Example: `hd::embedding(tokens, weight)` of shapes (8, 128) and (50257, 768) has shape (8, 128, 768).
template <Expression I, Expression W>
auto embedding(I&& index, W&& weight) {
  if constexpr (is_index_v<I>) {
    static_assert(std::remove_cvref_t<W>::rank == 2, "embedding takes rows of a matrix of weights");
    return taken<0>(std::forward<W>(weight), std::forward<I>(index), false, "embedding");
  } else {
    static_assert(is_index_v<W>, "embedding takes integers as indices");
    return embedding(std::forward<W>(weight), std::forward<I>(index));
  }
}

// ---- one_hot ----

/// 1 at each index along a new last axis, 0 elsewhere.
template <class T, class IndexTensor>
class one_hot_formula : public producer<one_hot_formula<T, IndexTensor>> {
 public:
  using value_type = T;
  using device_type = typename IndexTensor::device_type;
  static constexpr int rank = IndexTensor::rank + 1;
  static constexpr producer_work work = producer_work::reduction;

  one_hot_formula(IndexTensor index, index_t classes) : index_(std::move(index)), classes_(classes) {
    checked_shape(shape());
  }
  Shape<rank> shape() const {
    Shape<rank> shape;
    for (int i = 0; i < rank - 1; ++i) shape[i] = index_.shape()[i];
    shape[rank - 1] = classes_;
    return shape;
  }
  device_type device() const { return index_.device(); }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool = false) const {
    visit(index_, true);
  }

  template <class Bound>
  void run(const Bound& bound) const {
    check_on_host(index_, false, classes_, rank - 1, "one_hot");
    with_source(constant<T>(compute_type<T>{1}), [&](const auto& one) {
      using One = std::remove_cvref_t<decltype(one)>;
      constexpr int first = output_rows<Bound>;
      auto table = output_table<2>(bound);
      for (int i = 0; i < rank - 1; ++i) table.stride[first][i] = index_.strides()[i];
      table.stride[first + 1][rank - 1] = 1;
      table.merge();
      const index_source indices = source_of_indices(index_, classes_, false);
      const auto locator = [&]<class Index>(std::type_identity<Index>) {
        return one_hot_locator<rank, Index>(table, first, indices);
      };
      move_elements(table, locator, formula_elements<One>{one}, compute_type<T>{}, bound, device(),
                    move_name{"one_hot", rank - 1, classes_});
    });
  }

 private:
  IndexTensor index_;
  index_t classes_;
};

/// A new last axis of `classes` places with 1 at the index and 0 elsewhere, int64 unless another type is asked for.
/// Example: `hd::one_hot<float>(labels, 10)`.
template <Element T = std::int64_t, IndexExpression I>
auto one_hot(I&& index, index_t classes) {
  if (classes < 0) throw ShapeError(Message{} << "one_hot: " << classes << " classes, wanted 0 or more");
  auto indices = index_tensor(std::forward<I>(index));
  return one_hot_formula<T, decltype(indices)>(std::move(indices), classes);
}

// ---- masks ----

/// x with `value` where the mask is true (not 0), broadcast together. The value is converted to x's element type.
/// Example: `hd::masked_fill(scores, mask, -INFINITY)`.
template <Expression X, Expression M, ScalarArgument S>
auto masked_fill(X&& x, M&& mask, S value) {
  using T = value_type_of_t<X>;
  return map_formula(where_function{}, as_formula(std::forward<M>(mask)), operand_formula<T>(value),
                     as_formula(std::forward<X>(x)));
}

/// Each element repeated along an axis. Example: `hd::repeat_interleave(x, 2, hd::axis<0>)` of [1, 2] is [1, 1, 2, 2].
template <Expression X, int A>
auto repeat_interleave(X&& x, index_t times, axis_t<A>) {
  const auto whole = eval(std::forward<X>(x));
  constexpr int rank = decltype(whole)::rank;
  constexpr int axis_number = normalized_axis<A, rank>();
  if (times < 0) throw ShapeError(Message{} << "repeat_interleave: " << times << " times");
  Shape<rank + 1> wide;
  Shape<rank> shape = whole.shape();
  for (int i = 0; i <= rank; ++i) wide[i] = i == axis_number + 1 ? times : shape[i <= axis_number ? i : i - 1];
  shape[axis_number] = extent_product(shape[axis_number], times);
  checked_shape(shape);
  return reshape(whole.unsqueeze(axis<axis_number + 1>).expand(wide), shape);
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
