// Tensors joined along an axis, and taken apart again. Joining is one kernel; taking apart gives views.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "heddle/ops/map.hpp"
#include "heddle/ops/rearrange.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// Part of a bound output: `extent` places of one axis from `start` on, with the epilogue's leaves moved along.
template <class Bound, int... S>
Bound bound_part(const Bound& bound, int axis_number, index_t start, index_t extent, std::integer_sequence<int, S...>) {
  Bound part = bound;
  part.shape[axis_number] = extent;
  part.out += start * bound.out_stride[axis_number];
  ((part.table.data[S] = advanced<typename leaf_type<S, typename Bound::form_type>::type>(
        bound.table.data[S], start * bound.table.stride[S][axis_number])),
   ...);
  return part;
}

/// The shape of operands of one rank joined along an axis. Throws ShapeError where another axis differs.
template <int Rank>
void join_shape(Shape<Rank>& joined, const Shape<Rank>& next, int axis_number, const char* name) {
  for (int i = 0; i < Rank; ++i) {
    if (i == axis_number || joined[i] == next[i]) continue;
    throw ShapeError(Message{} << name << " along axis " << axis_number << ": shapes " << joined << " and " << next
                               << " differ in axis " << i << " too");
  }
  joined[axis_number] += next[axis_number];
}

/// Tensors of one type in a row, at most `Pieces` of them in one kernel.
template <int Axis, int Pieces, class Tensors>
class concat_tensors : public producer<concat_tensors<Axis, Pieces, Tensors>> {
  using tensor_type = std::remove_cvref_t<decltype(std::declval<const Tensors&>()[0])>;

 public:
  using value_type = typename tensor_type::value_type;
  using device_type = typename tensor_type::device_type;
  static constexpr int rank = tensor_type::rank;
  static constexpr producer_work work = producer_work::reduction;

  concat_tensors(Tensors tensors, const char* name) : tensors_(std::move(tensors)), name_(name) {
    if (tensors_.size() == 0) throw ShapeError(Message{} << name << " of no tensors");
    shape_ = tensors_[0].shape();
    for (std::size_t i = 1; i < tensors_.size(); ++i) {
      require_same_device(tensors_[0].device(), tensors_[i].device());
      join_shape(shape_, tensors_[i].shape(), Axis, name);
    }
    checked_shape(shape_);
  }
  Shape<rank> shape() const { return shape_; }
  device_type device() const { return tensors_[0].device(); }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool = false) const {
    for (const tensor_type& tensor : tensors_) visit(tensor, true);
  }

  template <class Bound>
  void run(const Bound& bound) const {
    constexpr auto leaves = std::make_integer_sequence<int, Bound::leaves>{};
    index_t start = 0;
    for (std::size_t begin = 0; begin < tensors_.size(); begin += Pieces) {
      const std::size_t left = tensors_.size() - begin;
      const std::size_t count = left < static_cast<std::size_t>(Pieces) ? left : static_cast<std::size_t>(Pieces);
      index_t extent = 0;
      for (std::size_t i = begin; i < begin + count; ++i) extent += tensors_[i].shape()[Axis];
      const Bound part = bound_part(bound, Axis, start, extent, leaves);
      if (part.shape.size() > 0) run_pieces(part, begin, count);
      start += extent;
    }
  }

 private:
  template <class Bound>
  void run_pieces(const Bound& bound, std::size_t begin, std::size_t count) const {
    constexpr int position = output_rows<Bound>;
    auto table = output_table<1 + Pieces>(bound);
    index_t inner = 1;  // of each place of the axis
    for (int i = rank - 1; i >= Axis; --i) {
      table.stride[position][i] = inner;
      if (i > Axis) inner *= bound.shape[i];
    }
    index_t ends[static_cast<std::size_t>(Pieces)];
    tensor_elements<value_type, Pieces> elements;
    index_t end = 0;
    for (std::size_t p = 0; p < static_cast<std::size_t>(Pieces); ++p) {
      // Rows without a piece repeat the first one's strides, so that they don't keep axes from merging.
      const tensor_type& tensor = tensors_[begin + (p < count ? p : 0)];
      const auto row = static_cast<std::size_t>(position) + 1 + p;
      for (int i = 0; i < rank; ++i) table.stride[row][i] = stride_along(tensor, i);
      if (p < count && tensor.size() > 0) {
        elements.tensor[p] = {tensor.data(), tensor.shape(), tensor.strides()};
        elements.tensor[p].origin = tensor.data() - end * stride_along(tensor, Axis);
      }
      if (p < count) end += tensor.shape()[Axis];
      ends[p] = end * inner;
    }
    table.merge();
    const auto locator = [&]<class Index>(std::type_identity<Index>) {
      return concat_locator<Pieces, rank, Index>(table, position, ends);
    };
    move_elements(table, locator, elements, compute_type<value_type>{}, bound, device(), move_name{name_});
  }

  /// Any stride is right along an axis of extent 1: the one that lets it merge with what lies inside of it.
  static index_t stride_along(const tensor_type& tensor, int i) {
    if (tensor.shape()[i] != 1) return tensor.strides()[i];
    return i + 1 < rank ? tensor.shape()[i + 1] * stride_along(tensor, i + 1) : 1;
  }

  Tensors tensors_;
  Shape<rank> shape_;
  const char* name_;
};

/// Formulas of one element type in a row, each by a kernel of its own into its part of the output.
template <int Axis, class... Operands>
class concat_formulas : public producer<concat_formulas<Axis, Operands...>> {
  using first_type = slot_type_t<0, pack<Operands...>>;

 public:
  using value_type = typename first_type::value_type;
  using device_type = typename joint_device<typename Operands::device_type...>::type;
  static constexpr int rank = first_type::rank;
  static constexpr producer_work work = producer_work::reduction;

  explicit concat_formulas(Operands... operands) : operands_{{std::move(operands)}...} {
    shape_ = slot<0>(operands_).shape();
    shape_[Axis] = 0;
    each([&](const auto& one) {
      require_same_device(device(), one.device());
      join_shape(shape_, one.shape(), Axis, "concat");
    });
    checked_shape(shape_);
  }
  Shape<rank> shape() const { return shape_; }
  device_type device() const { return slot<0>(operands_).device(); }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool = false) const {
    each([&](const auto& one) { one.for_each_tensor(visit, true); });
  }

  template <class Bound>
  void run(const Bound& bound) const {
    move_from<0>(bound, 0);
  }

 private:
  /// Every operand's producers are computed before the first element is written: what they throw leaves the output.
  template <int I, class Bound>
  void move_from(const Bound& bound, index_t start) const {
    if constexpr (I < static_cast<int>(sizeof...(Operands))) {
      const auto& one = slot<I>(operands_);
      const index_t extent = one.shape()[Axis];
      with_source(one, [&](const auto& from) {
        move_from<I + 1>(bound, start + extent);
        const Bound part = bound_part(bound, Axis, start, extent, std::make_integer_sequence<int, Bound::leaves>{});
        if (part.shape.size() > 0) move_part(from, part);
      });
    }
  }

  template <class From, class Bound>
  void move_part(const From& from, const Bound& part) const {
    auto table = output_table<From::leaves>(part);
    for (int i = 0; i < rank; ++i)
      for (int r = 0; r < From::leaves; ++r) table.stride[output_rows<Bound> + r][i] = operand_stride(from, r, i, 0);
    table.merge();
    const axis_change unchanged[static_cast<std::size_t>(rank)] = {};
    const auto locator = [&]<class Index>(std::type_identity<Index>) {
      return remap_locator<constant_rule, From::leaves, rank, Index>(table, output_rows<Bound>, unchanged);
    };
    move_elements(table, locator, formula_elements<From>{from}, compute_type<value_type>{}, part, device(),
                  move_name{"concat"});
  }

  template <class F>
  void each(F&& f) const {
    [&]<int... I>(std::integer_sequence<int, I...>) { (f(slot<I>(operands_)), ...); }
    (std::make_integer_sequence<int, static_cast<int>(sizeof...(Operands))>{});
  }

  pack<Operands...> operands_;
  Shape<rank> shape_;
};

template <class T, class X>
auto converted_formula(X&& x) {
  if constexpr (std::is_same_v<value_type_of_t<X>, T>)
    return as_formula(std::forward<X>(x));
  else
    return map_formula(conversion<T>{}, as_formula(std::forward<X>(x)));
}

/// As many tensors as one kernel joins.
inline constexpr int concat_pieces = 16;

template <class T, int Rank, class Device, class X>
inline constexpr bool is_tensor_of_v = false;
template <class T, int Rank, class Device, class X>
requires is_tensor_v<X>
inline constexpr bool is_tensor_of_v<T, Rank, Device, X> =
    std::is_same_v<typename tensor_base_t<X>::value_type, T> && tensor_base_t<X>::rank == Rank &&
    std::is_same_v<typename tensor_base_t<X>::device_type, Device>;

/// Tensors or formulas one behind the other along an axis; the other axes must agree. Different element types become
/// their common one. Tensors of one type are joined by one kernel. Throws ShapeError.
/// Example: `hd::concat<1>(a, b, c)`, `hd::concat(hd::axis<-1>, a, b)`.
template <int A, Expression First, Expression... Rest>
auto concat(First&& first, Rest&&... rest) {
  using Leading = std::remove_cvref_t<First>;
  static_assert(((std::remove_cvref_t<Rest>::rank == Leading::rank) && ...), "concat joins tensors of one rank");
  constexpr int axis_number = normalized_axis<A, Leading::rank>();
  using T = typename joint_tensor_type<value_type_of_t<First>, value_type_of_t<Rest>...>::type;
  using Device = typename Leading::device_type;
  if constexpr (is_tensor_of_v<T, Leading::rank, Device, First> &&
                (is_tensor_of_v<T, Leading::rank, Device, Rest> && ...)) {
    using Tensors = std::array<Tensor<const T, Leading::rank, Device>, 1 + sizeof...(Rest)>;
    constexpr int count = static_cast<int>(1 + sizeof...(Rest));
    return concat_tensors<axis_number, (count < concat_pieces ? count : concat_pieces), Tensors>(
        Tensors{Tensor<const T, Leading::rank, Device>(first), Tensor<const T, Leading::rank, Device>(rest)...},
        "concat");
  } else {
    return concat_formulas<axis_number, decltype(converted_formula<T>(std::forward<First>(first))),
                           decltype(converted_formula<T>(std::forward<Rest>(rest)))...>(
        converted_formula<T>(std::forward<First>(first)), converted_formula<T>(std::forward<Rest>(rest))...);
  }
}
template <int A, Expression First, Expression... Rest>
auto concat(axis_t<A>, First&& first, Rest&&... rest) {
  return concat<A>(std::forward<First>(first), std::forward<Rest>(rest)...);
}
/// As many tensors as a vector holds.
template <int A, class T, int Rank, class Device>
auto concat(const std::vector<Tensor<T, Rank, Device>>& tensors) {
  using Tensors = std::vector<Tensor<const std::remove_const_t<T>, Rank, Device>>;
  return concat_tensors<normalized_axis<A, Rank>(), concat_pieces, Tensors>(Tensors(tensors.begin(), tensors.end()),
                                                                            "concat");
}
template <int A, class T, int Rank, class Device>
auto concat(axis_t<A>, const std::vector<Tensor<T, Rank, Device>>& tensors) {
  return concat<A>(tensors);
}

/// Tensors of one shape side by side along a new axis of the result. Throws ShapeError.
/// Example: `hd::stack<0>(a, b)` of two vectors has two rows.
template <int A, Expression First, Expression... Rest>
auto stack(First&& first, Rest&&... rest) {
  constexpr int rank = std::remove_cvref_t<First>::rank;
  static_assert(((std::remove_cvref_t<Rest>::rank == rank) && ...), "stack joins tensors of one rank");
  constexpr int new_axis = normalized_axis<A, rank + 1>();
  const Shape<rank> shape = first.shape();
  const auto require_same = [&](const Shape<rank>& other) {
    if (!(other == shape)) throw ShapeError(Message{} << "stack: shapes " << shape << " and " << other << " differ");
  };
  (require_same(rest.shape()), ...);
  return concat<new_axis>(eval(std::forward<First>(first)).unsqueeze(axis<new_axis>),
                          eval(std::forward<Rest>(rest)).unsqueeze(axis<new_axis>)...);
}
template <int A, Expression First, Expression... Rest>
auto stack(axis_t<A>, First&& first, Rest&&... rest) {
  return stack<A>(std::forward<First>(first), std::forward<Rest>(rest)...);
}
/// As many tensors as a vector holds.
template <int A, class T, int Rank, class Device>
auto stack(const std::vector<Tensor<T, Rank, Device>>& tensors) {
  constexpr int new_axis = normalized_axis<A, Rank + 1>();
  std::vector<Tensor<const std::remove_const_t<T>, Rank + 1, Device>> wider;
  wider.reserve(tensors.size());
  for (const auto& tensor : tensors) {
    if (!(tensor.shape() == tensors[0].shape()))
      throw ShapeError(Message{} << "stack: shapes " << tensors[0].shape() << " and " << tensor.shape() << " differ");
    wider.push_back(Tensor<const std::remove_const_t<T>, Rank, Device>(tensor).unsqueeze(axis<new_axis>));
  }
  return concat<new_axis>(wider);
}
template <int A, class T, int Rank, class Device>
auto stack(axis_t<A>, const std::vector<Tensor<T, Rank, Device>>& tensors) {
  return stack<A>(tensors);
}

// ---- taking apart ----

/// A view of `count` places of one axis from `start` on. Throws IndexError. Example: `hd::narrow(x, hd::axis<0>, 2,
/// 3)`.
template <int A, class T, int Rank, class Device>
Tensor<T, Rank, Device> narrow(const Tensor<T, Rank, Device>& x, axis_t<A>, index_t start, index_t count) {
  constexpr int a = normalized_axis<A, Rank>();
  if (start < 0 || count < 0 || start > x.shape()[a] - count)
    throw IndexError(Message{} << "narrow: " << count << " places from " << start << " on of axis " << a
                               << " with extent " << x.shape()[a] << " of shape " << x.shape());
  return x.slice(axis<A>, range(start, start + count));
}

/// Views of parts of `size` places along an axis, the last one of what is left. Throws ShapeError for a size that is
/// not positive. Example: `for (auto& part : hd::split(x, 32)) …`
template <Expression X, std::integral I, int A = 0>
auto split(X&& x, I size, axis_t<A> = {}) {
  const auto whole = eval(std::forward<X>(x));
  constexpr int a = normalized_axis<A, decltype(whole)::rank>();
  const index_t extent = whole.shape()[a];
  const auto step = static_cast<index_t>(size);
  if (step < 0 || (step == 0 && extent != 0))
    throw ShapeError(Message{} << "split: parts of " << step << " along axis " << a << " of shape " << whole.shape()
                               << ": a part has at least one place");
  std::vector<std::remove_cvref_t<decltype(whole)>> parts;
  index_t start = 0;
  do {
    parts.push_back(narrow(whole, axis<A>, start, extent - start < step ? extent - start : step));
    start += step;
  } while (start < extent);
  return parts;
}
/// Views of parts of the given sizes, which must add up to the extent. Throws ShapeError.
/// Example: `auto [weights, bias] = hd::split(x, {784, 1}, hd::axis<1>);`
template <Expression X, std::size_t N, int A = 0>
auto split(X&& x, const Extent (&sizes)[N], axis_t<A> = {}) {
  const auto whole = eval(std::forward<X>(x));
  constexpr int a = normalized_axis<A, decltype(whole)::rank>();
  index_t sum = 0;
  bool negative = false;
  for (const Extent& size : sizes) {
    sum += size.value;
    negative = negative || size.value < 0;
  }
  if (negative || sum != whole.shape()[a]) {
    Message message;
    message << "split: parts of";
    for (const Extent& size : sizes) message << ' ' << size.value;
    throw ShapeError(message << " along axis " << a << " of shape " << whole.shape()
                             << ": none is negative, and they add up to " << whole.shape()[a]);
  }
  std::array<std::remove_cvref_t<decltype(whole)>, N> parts;
  index_t start = 0;
  for (std::size_t i = 0; i < N; ++i) {
    parts[i] = narrow(whole, axis<A>, start, sizes[i].value);
    start += sizes[i].value;
  }
  return parts;
}

/// Views of at most `count` equal parts along an axis; where the extent can't be divided the last is smaller, or there
/// are fewer of them, as PyTorch's. Throws ShapeError for a count that is not positive.
template <Expression X, std::integral I, int A = 0>
auto chunk(X&& x, I count, axis_t<A> along = {}) {
  const auto whole = eval(std::forward<X>(x));
  const index_t extent = whole.shape()[normalized_axis<A, decltype(whole)::rank>()];
  const auto parts = static_cast<index_t>(count);
  if (parts <= 0)
    throw ShapeError(Message{} << "chunk: " << parts << " parts of shape " << whole.shape() << ", wanted at least 1");
  if (extent == 0) {
    using Part = std::remove_cvref_t<decltype(whole)>;
    return std::vector<Part>(static_cast<std::size_t>(parts), whole);
  }
  return split(whole, 1 + (extent - 1) / parts, along);
}
/// The same for a number of parts known to the compiler, which must divide the extent. Throws ShapeError.
/// Example: `auto [q, k, v] = hd::chunk<3>(qkv, hd::axis<-1>);`
template <int Count, Expression X, int A = 0>
auto chunk(X&& x, axis_t<A> = {}) {
  static_assert(Count > 0, "chunk makes at least one part");
  const auto whole = eval(std::forward<X>(x));
  constexpr int a = normalized_axis<A, decltype(whole)::rank>();
  const index_t extent = whole.shape()[a];
  if (extent % Count != 0)
    throw ShapeError(Message{} << "chunk: axis " << a << " of shape " << whole.shape() << " can't be cut into " << Count
                               << " equal parts");
  std::array<std::remove_cvref_t<decltype(whole)>, static_cast<std::size_t>(Count)> parts;
  for (std::size_t i = 0; i < parts.size(); ++i)
    parts[i] = narrow(whole, axis<A>, static_cast<index_t>(i) * (extent / Count), extent / Count);
  return parts;
}

/// A view that runs backwards along some axes; along all of them where none is named. Of a formula: of its result.
/// Example: `hd::flip(x, hd::axis<1>)`, `hd::flip(x, hd::axes<0, 1>)`.
template <Expression X, int... A>
auto flip(X&& x, axes_t<A...>) {
  auto view = eval(std::forward<X>(x));
  ((view = view.slice(axis<A>, range(_, _, -1))), ...);
  return view;
}
template <Expression X, int A>
auto flip(X&& x, axis_t<A>) {
  return flip(std::forward<X>(x), axes<A>);
}
template <Expression X>
auto flip(X&& x) {
  return [&]<int... A>(std::integer_sequence<int, A...>) { return flip(std::forward<X>(x), axes<A...>); }
  (std::make_integer_sequence<int, std::remove_cvref_t<X>::rank>{});
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
