// Elements in order along an axis. A NaN is greater than every number, as NumPy and PyTorch have it: last of all, and
// first where the order is descending.
#pragma once

#include <utility>

#include "heddle/kernels/cpu/sort.hpp"
#include "heddle/ops/create.hpp"
#include "heddle/ops/map.hpp"
#include "heddle/ops/rearrange.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/sort.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

/// A line that is sorted counts its places in 32 bits.
inline void require_sortable(index_t length, const char* name) {
  if (length >= INT64_C(0xffffffff))
    throw UnsupportedError(Message{} << name << " along an axis of " << length << " elements: 2^32 - 2 at most");
}

/// The values along an axis in order, or (Indices) where they stand.
template <bool Indices, class Operand, int Axis>
class sort_formula : public producer<sort_formula<Indices, Operand, Axis>> {
 public:
  using value_type = std::conditional_t<Indices, std::int64_t, typename Operand::value_type>;
  using device_type = typename Operand::device_type;
  static constexpr int rank = Operand::rank;
  static constexpr producer_work work = producer_work::row_wise;
  static constexpr const char* name = Indices ? "argsort" : "sort";

  sort_formula(Operand operand, bool descending) : operand_(std::move(operand)), descending_(descending) {
    require_sortable(operand_.shape()[Axis], name);
  }
  Shape<rank> shape() const { return operand_.shape(); }
  device_type device() const { return operand_.device(); }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool = false) const {
    operand_.for_each_tensor(visit, true);
  }

  template <class Bound>
  void run(const Bound& bound) const {
    with_source(operand_, [&](const auto& from) {
      using From = std::remove_cvref_t<decltype(from)>;
      using Value = compute_type<typename From::out_type>;
      using Keys = sort_key<Value>;
      constexpr int rows = output_rows<Bound> + From::leaves;
      auto table = output_table<From::leaves>(bound);
      for (int i = 0; i < rank; ++i)
        for (int r = 0; r < From::leaves; ++r) table.stride[output_rows<Bound> + r][i] = operand_stride(from, r, i, 0);
      const auto lines = line_axes<rows, rank>::from(table, Axis);
      const index_t length = bound.shape[Axis];
      if constexpr (runs_here<device_type>() && std::is_same_v<device_type, Cpu>) {
        const on_cpu::writer<Bound> writer(bound);
        on_cpu::sort_lines<Indices>(lines, on_cpu::elements<From>(from), length, length, descending_,
                                    [&](index_t line, const auto* items) {
                                      on_cpu::store_line(lines, writer, 0, line, items, length, [&](const auto& item) {
                                        if constexpr (Indices)
                                          return static_cast<std::int64_t>(item.index);
                                        else
                                          return Keys::value_of(item.key, descending_);
                                      });
                                    });
      } else {
#if HEDDLE_CUDA_COMPILER
        using Lines = std::remove_cvref_t<decltype(lines)>;
        using Elements = on_cuda::elements<From>;
        using Writer = on_cuda::writer<Bound>;
        const on_cuda::formula_items<Indices, Lines, Elements> source{lines, Elements(from), descending_};
        const on_cuda::launch_context context = on_cuda::current_context(device().index, name);
        const bool crosswise = lines.crosswise(0, Lines::held);
        const auto emit = [&] {
          if constexpr (Indices)
            return on_cuda::emit_indices<Lines, Writer>{lines, Writer(bound)};
          else
            return on_cuda::emit_values<Lines, Writer, Value>{lines, Writer(bound), descending_};
        }();
        on_cuda::sort_lines<Indices, typename Keys::type>(source, emit, lines.count(), length, length, crosswise,
                                                          context);
#endif
      }
    });
  }

 private:
  Operand operand_;
  bool descending_;
};

/// The elements in ascending order along an axis, the last one where none is named; in descending order if asked for.
/// -0 stands before 0, although they are equal: what sorts the values alone tells them apart (argsort does not, and
/// keeps their order). Example: `hd::sort(x, hd::axis<0>)`, `hd::sort(x, hd::axis<-1>, true)`.
template <Expression X, int A = -1>
auto sort(X&& x, axis_t<A> = {}, bool descending = false) {
  using Node = formula_of_t<X&&>;
  return sort_formula<false, Node, normalized_axis<A, Node::rank>()>(as_formula(std::forward<X>(x)), descending);
}
/// Where the elements of the sorted axis stand, as int64; equal elements (0 and -0, NaNs) keep their order.
/// Example: `hd::gather<1>(x, hd::argsort(x, hd::axis<1>))` is sorted.
template <Expression X, int A = -1>
auto argsort(X&& x, axis_t<A> = {}, bool descending = false) {
  using Node = formula_of_t<X&&>;
  return sort_formula<true, Node, normalized_axis<A, Node::rank>()>(as_formula(std::forward<X>(x)), descending);
}

/// The k greatest elements along an axis, the greatest first, and where they stand; or the least ones, the least first.
/// Of equal elements the one with the lower index goes first. Throws ShapeError if there are not as many. Example:
/// `auto [values, indices] = hd::topk(scores, 5);`
template <Expression X, int A = -1>
auto topk(X&& x, index_t k, axis_t<A> = {}, bool largest = true) {
  using Node = formula_of_t<X&&>;
  using T = typename Node::value_type;
  using Device = typename Node::device_type;
  constexpr int rank = Node::rank;
  constexpr int axis_number = normalized_axis<A, rank>();
  const Node node = as_formula(std::forward<X>(x));
  Shape<rank> shape = node.shape();
  const index_t length = shape[axis_number];
  require_sortable(length, "topk");
  if (k < 0 || k > length)
    throw ShapeError(Message{} << "topk: " << k << " elements of axis " << axis_number << " with extent " << length
                               << " of shape " << shape);
  shape[axis_number] = k;
  std::pair<Tensor<T, rank, Device>, Tensor<std::int64_t, rank, Device>> result{
      empty<T>(shape, node.device()), empty<std::int64_t>(shape, node.device())};
  auto& values = result.first;
  auto& indices = result.second;
  if (shape.size() == 0) return result;
  if constexpr (!std::is_same_v<Device, Cpu>) record_uses(node, values);
  with_source(node, [&](const auto& from) {
    using From = std::remove_cvref_t<decltype(from)>;
    axis_table<2 + From::leaves, rank> table;
    for (int i = 0; i < rank; ++i) {
      table.extent[i] = shape[i];
      table.stride[0][i] = values.strides()[i];
      table.stride[1][i] = indices.strides()[i];
      for (int r = 0; r < From::leaves; ++r) table.stride[2 + r][i] = operand_stride(from, r, i, 0);
    }
    const auto lines = line_axes<2 + From::leaves, rank>::from(table, axis_number);
    if constexpr (runs_here<Device>() && std::is_same_v<Device, Cpu>) {
      const on_cpu::elements<From> elements(from);
      on_cpu::sort_lines<true>(lines, elements, length, k, largest, [&](index_t line, const auto* items) {
        index_t offset[2 + From::leaves];
        lines.at(line, offset);
        for (index_t i = 0; i < k; ++i) {
          const auto place = static_cast<index_t>(items[i].index);
          index_t own[2 + From::leaves];
          for (int r = 0; r < 2 + From::leaves; ++r) own[r] = offset[r] + (r < 2 ? i : place) * lines.along[r];
          values.data()[own[0]] = static_cast<T>(elements.load(own + 2, 0));
          indices.data()[own[1]] = place;
        }
      });
    } else {
#if HEDDLE_CUDA_COMPILER
      using Lines = std::remove_cvref_t<decltype(lines)>;
      using Elements = on_cuda::elements<From>;
      const on_cuda::formula_items<true, Lines, Elements> source{lines, Elements(from), largest};
      const on_cuda::emit_both<Lines, Elements, T> emit{lines, Elements(from), values.data(), indices.data()};
      on_cuda::sort_lines<true, typename sort_key<compute_type<T>>::type>(
          source, emit, lines.count(), length, k, lines.crosswise(0, Lines::held),
          on_cuda::current_context(node.device().index, "topk"));
#endif
    }
  });
  return result;
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
