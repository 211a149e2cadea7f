// Elements put, or added, where tensors of indices say, and the gradients of the operations that read by indices. What
// goes to one place is added up in the order of the source: the same bits every time, on any device, without atomics.
// Indices as in ops/index.hpp: below 0 or beyond the extent is an error, on Cuda at the next synchronisation, and such
// an element goes nowhere.
#pragma once

#include "heddle/kernels/cpu/scatter.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/create.hpp"
#include "heddle/ops/index.hpp"
#include "heddle/ops/join.hpp"
#include "heddle/ops/reductions.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/scatter.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

/// `Base` with the elements of `Source` put (or with Join: joined to what is there by a rule) along an axis. A vector
/// of indices serves all lines.
template <bool Join, class Base, class Source, class IndexTensor, int Rank, int Axis>
class scatter_formula : public producer<scatter_formula<Join, Base, Source, IndexTensor, Rank, Axis>> {
 public:
  using value_type = typename Base::value_type;
  using device_type = typename IndexTensor::device_type;
  static constexpr int rank = Rank;
  static constexpr producer_work work = producer_work::row_wise;
  static constexpr bool shared_indices = IndexTensor::rank == 1 && Rank > 1;

  scatter_formula(Base base, Source source, IndexTensor index, const Shape<Rank>& shape, const char* name,
                  index_t skipped, scatter_rule rule = scatter_rule::add)
      : base_(std::move(base)),
        source_(std::move(source)),
        index_(std::move(index)),
        shape_(shape),
        name_(name),
        skipped_(skipped),
        rule_(rule) {
    if (shape_[Axis] >= INT64_C(0xffffffff) || length() >= INT64_C(0xffffffff))
      throw UnsupportedError(Message{} << name << " along an axis of 2^32 elements or more");
  }
  Shape<rank> shape() const { return shape_; }
  device_type device() const { return index_.device(); }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool = false) const {
    base_.for_each_tensor(visit, true);
    source_.for_each_tensor(visit, true);
    visit(index_, true);
  }

  template <class Bound>
  void run(const Bound& bound) const {
    check_on_host(index_, false, shape_[Axis], Axis, name_);
    with_source(base_,
                [&](const auto& base) { with_source(source_, [&](const auto& source) { run(bound, base, source); }); });
  }

 private:
  index_t length() const { return index_.shape()[shared_indices ? 0 : Axis]; }
  index_t index_extent(int i) const {
    if constexpr (shared_indices)
      return i == Axis ? index_.shape()[0] : 1;
    else
      return index_.shape()[i];
  }
  index_t index_stride(int i) const {
    if constexpr (shared_indices)
      return i == Axis ? index_.strides()[0] : 0;
    else
      return index_.strides()[i];
  }

  template <class Bound, class BaseBound, class SourceBound>
  void run(const Bound& bound, const BaseBound& base, const SourceBound& source) const {
    using State = accumulator_type<value_type>;
    using Stored = compute_type<value_type>;
    constexpr int base_row = output_rows<Bound>;
    constexpr int source_row = base_row + BaseBound::leaves;
    constexpr int index_row = source_row + SourceBound::leaves;
    // Two more rows: the indices (on Cuda the number of their line), and the place along the axis.
    auto table = output_table<BaseBound::leaves + SourceBound::leaves + 2>(bound);
    index_t limits[static_cast<std::size_t>(Rank)];
    for (int i = 0; i < Rank; ++i) {
      for (int r = 0; r < BaseBound::leaves; ++r) table.stride[base_row + r][i] = operand_stride(base, r, i, 0);
      for (int r = 0; r < SourceBound::leaves; ++r) table.stride[source_row + r][i] = operand_stride(source, r, i, 0);
      table.stride[index_row][i] = index_stride(i);
      table.stride[index_row + 1][i] = i == Axis ? 1 : 0;
      limits[i] = shared_indices || i == Axis ? bound.shape[i] : index_extent(i);
      table.alone[i] = limits[i] != bound.shape[i];
    }
    const index_source indices{index_.data(), sizeof(typename IndexTensor::value_type) == 8, false, shape_[Axis]};
    if constexpr (runs_here<device_type>() && std::is_same_v<device_type, Cpu>) {
      on_cpu::scatter<Join, State, Stored>(table, Axis, limits, on_cpu::elements<BaseBound>(base),
                                           on_cpu::elements<SourceBound>(source), on_cpu::writer<Bound>(bound), indices,
                                           shape_[Axis], length(), skipped_, rule_);
    } else {
#if HEDDLE_CUDA_COMPILER
      axis_table<2, Rank> index_table;
      index_t line_stride[static_cast<std::size_t>(Rank)] = {};
      index_t lines = 1;
      for (int i = Rank - 1; i >= 0; --i) {
        index_table.extent[i] = index_extent(i);
        index_table.stride[1][i] = index_stride(i);
        if (i == Axis) continue;
        line_stride[i] = shared_indices ? 0 : lines;
        index_table.stride[0][i] = lines;
        lines *= index_extent(i);
      }
      for (int i = 0; i < Rank; ++i) table.stride[index_row][i] = line_stride[i];
      const on_cuda::launch_context context = on_cuda::current_context(device().index, name_);
      on_cuda::scatter<Join, State, Stored>(table, Axis, limits, on_cuda::elements<BaseBound>(base),
                                            on_cuda::elements<SourceBound>(source), on_cuda::writer<Bound>(bound),
                                            index_table, indices, length(), skipped_, rule_,
                                            on_cuda::index_check(Axis, shape_[Axis], context), context);
#endif
    }
  }

  Base base_;
  Source source_;
  IndexTensor index_;
  Shape<Rank> shape_;
  const char* name_;
  index_t skipped_;  ///< an index whose elements go nowhere; -1: none
  scatter_rule rule_;
};

/// Throws ShapeError unless the indices lie within the tensor but along the axis, and within the source.
template <int Rank, int SourceRank>
void require_scatter(const Shape<Rank>& shape, const Shape<Rank>& index, const Shape<SourceRank>& source,
                     int axis_number, const char* name) {
  for (int i = 0; i < Rank; ++i) {
    if (i != axis_number && index[i] > shape[i])
      throw ShapeError(Message{} << name << " along axis " << axis_number << ": indices of shape " << index
                                 << " reach beyond a tensor of shape " << shape << " in axis " << i);
    if constexpr (SourceRank > 0) {
      if (index[i] > source[i])
        throw ShapeError(Message{} << name << ": there are indices of shape " << index
                                   << ", but only elements of shape " << source);
    }
  }
}

template <bool Join, int A, class X, class I, class S>
auto scattered(X&& x, I&& index, S&& source, const char* name, scatter_rule rule = scatter_rule::add) {
  using Node = formula_of_t<X&&>;
  using T = typename Node::value_type;
  constexpr int axis_number = normalized_axis<A, Node::rank>();
  static_assert(std::remove_cvref_t<I>::rank == Node::rank, "the indices have the rank of the tensor");
  auto indices = index_tensor(std::forward<I>(index));
  auto elements = [&] {
    if constexpr (Expression<S>)
      return converted_formula<T>(std::forward<S>(source));
    else
      return operand_formula<T>(source);
  }();
  const auto shape = x.shape();
  static_assert(decltype(elements)::rank == Node::rank || decltype(elements)::rank == 0,
                "the source has the rank of the tensor");
  require_same_device(x.device(), indices.device());
  if constexpr (Expression<S>) require_same_device(x.device(), elements.device());
  require_scatter(shape, indices.shape(), elements.shape(), axis_number, name);
  return scatter_formula<Join, Node, decltype(elements), decltype(indices), Node::rank, axis_number>(
      as_formula(std::forward<X>(x)), std::move(elements), std::move(indices), shape, name, -1, rule);
}

/// x with source[i, j, …] put at [i, …, index[i, j, …], …] along an axis; of several for one place the last counts. The
/// source is a tensor, a formula or a number. Throws ShapeError. Example: `hd::scatter(x, hd::axis<1>, index, 1.0)`.
template <Expression X, int A, IndexExpression I, Operand S>
auto scatter(X&& x, axis_t<A>, I&& index, S&& source) {
  return scattered<false, A>(std::forward<X>(x), std::forward<I>(index), std::forward<S>(source), "scatter");
}
template <int A, Expression X, IndexExpression I, Operand S>
auto scatter(X&& x, I&& index, S&& source) {
  return scatter(std::forward<X>(x), axis<A>, std::forward<I>(index), std::forward<S>(source));
}
/// x with source[i, j, …] added at [i, …, index[i, j, …], …] along an axis, in the order of the source. Half and
/// bfloat16 add up in float. Throws ShapeError. Example: `hd::scatter_add(sums, hd::axis<0>, groups, values)`.
template <Expression X, int A, IndexExpression I, Operand S>
auto scatter_add(X&& x, axis_t<A>, I&& index, S&& source) {
  return scattered<true, A>(std::forward<X>(x), std::forward<I>(index), std::forward<S>(source), "scatter_add");
}
template <int A, Expression X, IndexExpression I, Operand S>
auto scatter_add(X&& x, I&& index, S&& source) {
  return scatter_add(std::forward<X>(x), axis<A>, std::forward<I>(index), std::forward<S>(source));
}

/// a / max(b, 1), rounded down for integers.
struct mean_of_joined : promoting {
  static constexpr const char* name = "scatter_reduce";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T total, T count) const {
    if constexpr (std::is_integral_v<T>)
      return count < T(1) ? total : floor_divide_function{}(total, count);
    else
      return count < T(1) ? total : total / count;
  }
};

/// How scatter_reduce joins the elements that go to one place.
enum class scatter_reduction { sum, prod, mean, amin, amax };

/// x with source[i, j, …] joined at [i, …, index[i, j, …], …] along an axis by their sum, product, mean, least or
/// greatest; without `include_self` what x has there doesn't count. Where nothing goes x stays. Integer means are
/// rounded down; NaN stays. Throws ShapeError.
/// Example: `hd::scatter_reduce(x, hd::axis<0>, groups, values, hd::scatter_reduction::amax)`.
template <Expression X, int A, IndexExpression I, Expression S>
auto scatter_reduce(X&& x, axis_t<A>, I&& index, S&& source, scatter_reduction how, bool include_self = true) {
  using T = value_type_of_t<X>;
  const auto indices = index_tensor(std::forward<I>(index));
  auto whole = eval(std::forward<X>(x));
  const bool counts = how == scatter_reduction::mean;
  const scatter_rule rule = how == scatter_reduction::prod   ? scatter_rule::multiply
                            : how == scatter_reduction::amin ? scatter_rule::least
                            : how == scatter_reduction::amax ? scatter_rule::greatest
                                                             : scatter_rule::add;
  if (!include_self) {
    using Value = compute_type<T>;
    const Value start = how == scatter_reduction::prod   ? static_cast<Value>(1)
                        : how == scatter_reduction::amin ? greatest_value<Value>
                        : how == scatter_reduction::amax ? lowest_value<Value>
                                                         : static_cast<Value>(0);
    whole = scattered<false, A>(whole, indices, start, "scatter_reduce");
  }
  auto joined = eval(scattered<true, A>(whole, indices, std::forward<S>(source), "scatter_reduce", rule));
  if (!counts) return joined;
  const auto own = full_like(joined, include_self ? 1 : 0);
  const auto number = eval(scattered<true, A>(own, indices, 1, "scatter_reduce"));
  return eval(promoted_map(mean_of_joined{}, joined, number));
}

/// Puts slices of a source into a base, or adds them, where a vector of indices says.
template <int Axis, bool Join = true, class Base, class I, class S, int Rank>
auto added_slices(Base base, I&& index, S&& source, const Shape<Rank>& shape, const char* name, index_t skipped = -1) {
  auto indices = index_tensor(std::forward<I>(index));
  static_assert(decltype(indices)::rank == 1, "the indices are a vector");
  auto elements = [&] {
    if constexpr (Expression<S>)
      return converted_formula<typename Base::value_type>(std::forward<S>(source));
    else
      return operand_formula<typename Base::value_type>(source);
  }();
  if constexpr (Expression<S>) {
    Shape<Rank> wanted = shape;
    wanted[Axis] = indices.shape()[0];
    if (!(elements.shape() == wanted))
      throw ShapeError(Message{} << name << " along axis " << Axis << " of shape " << shape << " with "
                                 << indices.shape()[0] << " indices: the source has shape " << elements.shape()
                                 << ", not " << wanted);
    require_same_device(indices.device(), elements.device());
  }
  return scatter_formula<Join, Base, decltype(elements), decltype(indices), Rank, Axis>(
      std::move(base), std::move(elements), std::move(indices), shape, name, skipped);
}

/// x with slices of the source added along an axis where a vector of indices says, in the order of the source. Throws
/// ShapeError. Example: `hd::index_add(x, hd::axis<0>, rows, values)`.
template <Expression X, int A, IndexExpression I, Expression S>
auto index_add(X&& x, axis_t<A>, I&& index, S&& source) {
  using Node = formula_of_t<X&&>;
  const auto shape = x.shape();
  return added_slices<normalized_axis<A, Node::rank>()>(as_formula(std::forward<X>(x)), std::forward<I>(index),
                                                        std::forward<S>(source), shape, "index_add");
}

/// x with slices of the source put along an axis where a vector of indices says; of several for one place the last
/// counts. Throws ShapeError. Example: `hd::index_copy(x, hd::axis<0>, rows, values)`.
template <Expression X, int A, IndexExpression I, Expression S>
auto index_copy(X&& x, axis_t<A>, I&& index, S&& source) {
  using Node = formula_of_t<X&&>;
  const auto shape = x.shape();
  return added_slices<normalized_axis<A, Node::rank>(), false>(as_formula(std::forward<X>(x)), std::forward<I>(index),
                                                               std::forward<S>(source), shape, "index_copy");
}
/// x with a number in the slices along an axis that a vector of indices names. Throws Error for an integer beyond the
/// range of x's type. Example: `hd::index_fill(x, hd::axis<1>, columns, 0)`.
template <Expression X, int A, IndexExpression I, ScalarArgument S>
auto index_fill(X&& x, axis_t<A>, I&& index, S value) {
  using Node = formula_of_t<X&&>;
  const auto shape = x.shape();
  return added_slices<normalized_axis<A, Node::rank>(), false>(
      as_formula(std::forward<X>(x)), std::forward<I>(index),
      checked_element<typename Node::value_type>("index_fill", value), shape, "index_fill");
}

// ---- gradients ----

/// The gradient of gather with respect to a tensor of that shape: dy added up where it was read; 0 elsewhere.
template <Expression G, int A, IndexExpression I, int Rank>
auto gather_grad(G&& dy, axis_t<A>, I&& index, const Shape<Rank>& shape) {
  using T = value_type_of_t<G>;
  auto indices = index_tensor(std::forward<I>(index));
  auto elements = as_formula(std::forward<G>(dy));
  constexpr int axis_number = normalized_axis<A, Rank>();
  require_same_device(indices.device(), elements.device());
  require_scatter(shape, indices.shape(), elements.shape(), axis_number, "gather_grad");
  return scatter_formula<true, constant<T>, decltype(elements), decltype(indices), Rank, axis_number>(
      constant<T>(compute_type<T>{}), std::move(elements), std::move(indices), shape, "gather_grad", -1);
}
/// The gradient of index_select with respect to a tensor of that shape.
template <Expression G, int A, IndexExpression I, int Rank>
auto index_select_grad(G&& dy, axis_t<A>, I&& index, const Shape<Rank>& shape) {
  using T = value_type_of_t<G>;
  return added_slices<normalized_axis<A, Rank>()>(constant<T>(compute_type<T>{}), std::forward<I>(index),
                                                  std::forward<G>(dy), shape, "index_select_grad");
}
/// The gradient of embedding with respect to a table of `rows` rows: rows that were never picked get 0, and so does the
/// row `padding_index` if it is not negative. Example: `dw = hd::embedding_grad(dy, tokens, 50257);`
template <Expression G, IndexExpression I>
auto embedding_grad(G&& dy, I&& index, index_t rows, index_t padding_index = -1) {
  using T = value_type_of_t<G>;
  constexpr int rank = std::remove_cvref_t<G>::rank;
  static_assert(rank == std::remove_cvref_t<I>::rank + 1, "dy has one axis more than the indices");
  const index_t width = dy.shape()[rank - 1], count = index.shape().size();
  if (dy.shape().size() != count * width)
    throw ShapeError(Message{} << "embedding_grad: dy of shape " << dy.shape() << " for indices of shape "
                               << index.shape());
  return added_slices<0>(constant<T>(compute_type<T>{}), flatten(std::forward<I>(index)),
                         reshape(std::forward<G>(dy), Shape<2>{count, width}), Shape<2>{rows, width}, "embedding_grad",
                         padding_index);
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
