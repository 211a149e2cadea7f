// Tensors surrounded, rotated, repeated, and their triangles: each axis by a rule of its own.
#pragma once

#include "heddle/ops/map.hpp"
#include "heddle/ops/rearrange.hpp"
#include "heddle/ops/shape.hpp"

namespace heddle {

/// What pad puts beyond the ends of an axis.
enum class pad_mode {
  constant,   ///< a value
  reflect,    ///< the tensor mirrored, its ends not repeated
  replicate,  ///< its end elements
  circular,   ///< the tensor again, from the other end
};

/// How much is added at both ends of an axis: `{1, 2}`, or `1` for both. Negative: cut off.
struct PadWidth {
  index_t begin;
  index_t end;
  template <std::integral I>
  constexpr PadWidth(I both) : begin(static_cast<index_t>(both)), end(static_cast<index_t>(both)) {}  // NOLINT
  template <std::integral I, std::integral J>
  constexpr PadWidth(I at_begin, J at_end) : begin(static_cast<index_t>(at_begin)), end(static_cast<index_t>(at_end)) {}
};

inline namespace HEDDLE_BUILD {

/// A formula whose axes are remapped one by one. Axes before the operand's own have extent 1 in it.
template <template <class> class Rule, class Operand, int Rank>
class remap_formula : public producer<remap_formula<Rule, Operand, Rank>> {
 public:
  using value_type = typename Operand::value_type;
  using device_type = typename Operand::device_type;
  static constexpr int rank = Rank;
  static constexpr producer_work work = producer_work::reduction;

  remap_formula(Operand operand, const Shape<Rank>& shape, const axis_change* changes, compute_type<value_type> fill,
                const char* name)
      : operand_(std::move(operand)), shape_(shape), fill_(fill), name_(name) {
    for (int i = 0; i < Rank; ++i) changes_[i] = changes[i];
  }
  Shape<rank> shape() const { return shape_; }
  device_type device() const { return operand_.device(); }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool = false) const {
    operand_.for_each_tensor(visit, true);
  }

  template <class Bound>
  void run(const Bound& bound) const {
    with_source(operand_, [&](const auto& from) {
      using From = std::remove_cvref_t<decltype(from)>;
      auto table = output_table<From::leaves>(bound);
      for (int i = 0; i < Rank; ++i) {
        table.alone[i] = changes_[i].mode != axis_mode::same;
        for (int r = 0; r < From::leaves; ++r)
          table.stride[output_rows<Bound> + r][i] = operand_stride(from, r, i, Rank - From::rank);
      }
      table.merge();
      const auto locator = [&]<class Index>(std::type_identity<Index>) {
        return remap_locator<Rule, From::leaves, Rank, Index>(table, output_rows<Bound>, changes_);
      };
      move_elements(table, locator, formula_elements<From>{from}, fill_, bound, device(), move_name{name_});
    });
  }

 private:
  Operand operand_;
  Shape<Rank> shape_;
  axis_change changes_[static_cast<std::size_t>(axis_capacity<Rank>)];
  compute_type<value_type> fill_;
  const char* name_;
};

template <template <class> class Rule, class X, int Rank, class S = float>
auto remapped(X&& x, const Shape<Rank>& shape, const axis_change* changes, const char* name, S fill = {}) {
  using Node = formula_of_t<X&&>;
  using Value = compute_type<typename Node::value_type>;
  return remap_formula<Rule, Node, Rank>(as_formula(std::forward<X>(x)), checked_shape(shape), changes,
                                         cast_element<Value>(static_cast<canonical_t<S>>(fill)), name);
}

// ---- pad ----

/// Widens the shape, and says how each axis is to be changed. Throws ShapeError.
template <int Rank>
void pad_shape(Shape<Rank>& shape, axis_change* changes, const PadWidth* widths, int count, pad_mode mode) {
  const Shape<Rank> from = shape;
  for (int i = Rank - count; i < Rank; ++i) {
    const PadWidth& width = widths[i - (Rank - count)];
    const index_t extent = from[i];
    index_t padded = 0;
    const bool too_large =
        __builtin_add_overflow(extent, width.begin, &padded) || __builtin_add_overflow(padded, width.end, &padded);
    if (width.begin < -extent || width.end < -extent || (width.begin < 0 && width.end < 0 && padded < 0))
      throw ShapeError(Message{} << "pad: axis " << i << " of shape " << from << " can't be padded by " << width.begin
                                 << " and " << width.end << ": more would be cut than there is");
    if (too_large)
      throw ShapeError(Message{} << "pad: axis " << i << " of shape " << from << " can't be padded by " << width.begin
                                 << " and " << width.end << ": there would be more elements than can be addressed");
    if (width.begin == 0 && width.end == 0) continue;
    const index_t widest = width.begin > width.end ? width.begin : width.end;
    if (mode == pad_mode::reflect && widest >= extent && widest > 0)
      throw ShapeError(Message{} << "pad: axis " << i << " of shape " << from << " can be mirrored by less than "
                                 << extent << " elements, not by " << widest);
    if (mode != pad_mode::constant && extent == 0 && padded > 0)
      throw ShapeError(Message{} << "pad: axis " << i << " of shape " << from << " has no elements to go on with");
    shape[i] = padded;
    changes[i] = {axis_mode::constant, -width.begin, extent};
    if (mode == pad_mode::reflect) changes[i].mode = axis_mode::reflect;
    if (mode == pad_mode::replicate) changes[i].mode = axis_mode::replicate;
    if (mode == pad_mode::circular)
      changes[i] = {axis_mode::wrap, extent > 0 ? (-width.begin % extent + extent) % extent : 0, extent};
  }
}

/// x with `value` around it: each of the last axes widened by its own pair of begin and end, or by the same number at
/// both; negative widths cut. The value is converted as cast does. Throws ShapeError where more is cut than there is.
/// Example: `hd::pad(image, {{1, 1}, {2, 2}})` widens rows by 1 and columns by 2; `hd::pad(x, {3}, -1.0)`.
template <Expression X, std::size_t N, ScalarArgument S = float>
auto pad(X&& x, const PadWidth (&widths)[N], S value = {}) {
  constexpr int rank = std::remove_cvref_t<X>::rank;
  static_assert(static_cast<int>(N) <= rank, "pad has more widths than the tensor has axes");
  Shape<rank> shape = x.shape();
  axis_change changes[static_cast<std::size_t>(axis_capacity<rank>)];
  pad_shape(shape, changes, widths, static_cast<int>(N), pad_mode::constant);
  return remapped<constant_rule>(std::forward<X>(x), shape, changes, "pad", value);
}
/// The same with what the mode says around it; reflect needs widths below the extent. Throws ShapeError.
/// Example: `hd::pad(image, {{1, 1}, {1, 1}}, hd::pad_mode::reflect)`.
template <Expression X, std::size_t N>
auto pad(X&& x, const PadWidth (&widths)[N], pad_mode mode) {
  constexpr int rank = std::remove_cvref_t<X>::rank;
  static_assert(static_cast<int>(N) <= rank, "pad has more widths than the tensor has axes");
  Shape<rank> shape = x.shape();
  axis_change changes[static_cast<std::size_t>(axis_capacity<rank>)];
  pad_shape(shape, changes, widths, static_cast<int>(N), mode);
  return remapped<border_rule>(std::forward<X>(x), shape, changes, "pad");
}

// ---- roll ----

/// Elements moved `shift` places along an axis; what leaves it at one end comes in at the other.
/// Example: `hd::roll(x, 1, hd::axis<0>)` puts the last row first.
template <Expression X, int... A>
requires(sizeof...(A) > 0) auto roll(X&& x, const Extent (&shifts)[sizeof...(A)], axes_t<A...>) {
  constexpr int rank = std::remove_cvref_t<X>::rank;
  const Shape<rank> shape = x.shape();
  axis_change changes[static_cast<std::size_t>(axis_capacity<rank>)];
  index_t total[static_cast<std::size_t>(axis_capacity<rank>)] = {};
  int i = 0;
  const auto add = [&](int axis_number) {
    const index_t extent = shape[axis_number];
    if (extent > 0) total[axis_number] = (total[axis_number] + shifts[i].value % extent + extent) % extent;
    ++i;
  };
  (add(normalized_axis<A, rank>()), ...);
  for (int a = 0; a < rank; ++a)
    if (total[a] != 0) changes[a] = {axis_mode::wrap, shape[a] - total[a], shape[a]};
  return remapped<wrap_rule>(std::forward<X>(x), shape, changes, "roll");
}
template <Expression X, std::integral I, int A>
auto roll(X&& x, I shift, axis_t<A>) {
  return roll(std::forward<X>(x), {Extent(shift)}, axes<A>);
}
/// Without an axis: all elements in row-major order.
template <Expression X, std::integral I>
auto roll(X&& x, I shift) {
  const auto shape = x.shape();
  return reshape(roll(flatten(std::forward<X>(x)), shift, axis<0>), shape);
}

// ---- tile, repeat ----

template <class X, int N>
auto tile_axes(X&& x, const Extent (&repeats)[static_cast<std::size_t>(N)], const char* name) {
  constexpr int operand_rank = std::remove_cvref_t<X>::rank;
  constexpr int rank = N > operand_rank ? N : operand_rank;
  const Shape<operand_rank> from = x.shape();
  Shape<rank> shape;
  axis_change changes[static_cast<std::size_t>(rank)];
  for (int i = 0; i < rank; ++i) {
    const int own = i - (rank - operand_rank);
    const index_t extent = own < 0 ? 1 : from[own];
    const index_t times = i < rank - N ? 1 : repeats[i - (rank - N)].value;
    if (times < 0)
      throw ShapeError(Message{} << name << ": axis " << i << " of shape " << from << " repeated " << times
                                 << " times");
    shape[i] = extent_product(extent, times);
    // Of an extent of 1 every coordinate is the only one: its stride of 0 says it already.
    if (times != 1 && extent > 1) changes[i] = {axis_mode::wrap, 0, extent};
  }
  return remapped<wrap_rule>(std::forward<X>(x), shape, changes, name);
}

/// The whole tensor repeated along each axis, as NumPy's: missing numbers of times are 1 in front, missing axes too.
/// Example: `hd::tile(x, {2, 3})` of shape (2, 2) has shape (4, 6).
template <Expression X, std::size_t N>
auto tile(X&& x, const Extent (&repeats)[N]) {
  return tile_axes<X, static_cast<int>(N)>(std::forward<X>(x), repeats, "tile");
}
/// The same, with a number of times for every axis (and for new ones in front), as PyTorch's. To repeat each element
/// instead: `repeat_interleave`. Example: `hd::repeat(row, {4, 1})`.
template <Expression X, std::size_t N>
auto repeat(X&& x, const Extent (&repeats)[N]) {
  static_assert(static_cast<int>(N) >= std::remove_cvref_t<X>::rank, "repeat needs a number of times for every axis");
  return tile_axes<X, static_cast<int>(N)>(std::forward<X>(x), repeats, "repeat");
}

// ---- tril, triu ----

/// A triangle of the last two axes.
template <class Operand>
class triangle_formula : public producer<triangle_formula<Operand>> {
 public:
  using value_type = typename Operand::value_type;
  using device_type = typename Operand::device_type;
  static constexpr int rank = Operand::rank;
  static constexpr producer_work work = producer_work::reduction;
  static_assert(rank >= 2, "tril and triu take a matrix, or a batch of them");

  triangle_formula(Operand operand, bool lower, index_t diagonal)
      : operand_(std::move(operand)), lower_(lower), diagonal_(diagonal) {}
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
      auto table = output_table<From::leaves + 1>(bound);
      for (int i = 0; i < rank; ++i) {
        for (int r = 0; r < From::leaves; ++r) table.stride[output_rows<Bound> + r][i] = operand_stride(from, r, i, 0);
        table.stride[output_rows<Bound> + From::leaves][i] = i == rank - 1 ? 1 : (i == rank - 2 ? -1 : 0);
      }
      table.merge();
      // Diagonals beyond the corners are all or nothing as the ones next to them are.
      const index_t rows = bound.shape[rank - 2], columns = bound.shape[rank - 1];
      const index_t diagonal = diagonal_ < -rows ? -rows : (diagonal_ > columns ? columns : diagonal_);
      const auto locator = [&]<class Index>(std::type_identity<Index>) {
        return triangle_locator<From::leaves, rank, Index>(table, output_rows<Bound>, lower_, diagonal);
      };
      move_elements(table, locator, formula_elements<From>{from}, compute_type<value_type>{}, bound, device(),
                    move_name{lower_ ? "tril" : "triu"});
    });
  }

 private:
  Operand operand_;
  bool lower_;
  index_t diagonal_;
};

/// The elements on and below a diagonal of the last two axes, 0 above it. Diagonals count from the main one upwards.
/// Example: `hd::tril(scores)`; `hd::tril(scores, -1)` is without the main diagonal.
template <Expression X>
auto tril(X&& x, index_t diagonal = 0) {
  return triangle_formula<formula_of_t<X&&>>(as_formula(std::forward<X>(x)), true, diagonal);
}
/// The elements on and above a diagonal of the last two axes, 0 below it. Example: `hd::triu(x, 1)`.
template <Expression X>
auto triu(X&& x, index_t diagonal = 0) {
  return triangle_formula<formula_of_t<X&&>>(as_formula(std::forward<X>(x)), false, diagonal);
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
