// Extents, axes and ranges: how a user says which part of a tensor.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "heddle/config.hpp"
#include "heddle/core/error.hpp"

namespace heddle {

/// Extents, strides and offsets, in elements.
using index_t = std::int64_t;

/// One entry of a brace list of extents: any integer.
struct Extent {
  index_t value;
  template <std::integral I>
  constexpr Extent(I extent) : value(static_cast<index_t>(extent)) {}  // NOLINT: implicit on purpose
};

/// The extents of a tensor of that rank. Example: `hd::Shape<2>{64, 784}`.
template <int Rank>
class Shape {
  static_assert(Rank > 0, "a rank is not negative");

 public:
  static constexpr int rank = Rank;

  /// All extents 0.
  constexpr Shape() = default;
  template <std::integral... I>
  requires(sizeof...(I) == Rank) constexpr Shape(I... extents)
      : extents_{static_cast<index_t>(extents)...} {}                         // NOLINT: implicit for brace lists
  constexpr Shape(const Extent (&extents)[static_cast<std::size_t>(Rank)]) {  // NOLINT: implicit for brace lists
    for (int i = 0; i < Rank; ++i) extents_[i] = extents[i].value;
  }

  HEDDLE_HOST_DEVICE constexpr index_t& operator[](int i) { return extents_[i]; }
  HEDDLE_HOST_DEVICE constexpr index_t operator[](int i) const { return extents_[i]; }
  constexpr const index_t* begin() const { return extents_; }
  constexpr const index_t* end() const { return extents_ + Rank; }

  /// The number of elements.
  HEDDLE_HOST_DEVICE constexpr index_t size() const {
    // Beside an extent of 0 the others may be of any size: unsigned, since their product may wrap.
    std::uint64_t product = 1;
    for (int i = 0; i < Rank; ++i) product *= static_cast<std::uint64_t>(extents_[i]);
    return static_cast<index_t>(product);
  }
  friend constexpr bool operator==(const Shape& a, const Shape& b) {
    for (int i = 0; i < Rank; ++i)
      if (a.extents_[i] != b.extents_[i]) return false;
    return true;
  }

 private:
  index_t extents_[static_cast<std::size_t>(Rank)] = {};
};

/// The shape of a single element.
template <>
class Shape<0> {
 public:
  static constexpr int rank = 0;
  constexpr Shape() = default;
  HEDDLE_HOST_DEVICE constexpr index_t operator[](int) const { return 1; }
  constexpr const index_t* begin() const { return nullptr; }
  constexpr const index_t* end() const { return nullptr; }
  HEDDLE_HOST_DEVICE constexpr index_t size() const { return 1; }
  friend constexpr bool operator==(Shape, Shape) { return true; }
};

template <std::integral... I>
Shape(I...) -> Shape<static_cast<int>(sizeof...(I))>;

/// Writes the extents of a shape of any rank.
[[gnu::cold, gnu::noinline]] inline Message& append_shape(Message& message, const index_t* extents, int rank) {
  message << '(';
  for (int i = 0; i < rank; ++i) {
    if (i > 0) message << ", ";
    message << extents[i];
  }
  return message << (rank == 1 ? ",)" : ")");
}
template <int Rank>
Message& operator<<(Message& message, const Shape<Rank>& shape) {
  return append_shape(message, shape.begin(), Rank);
}
template <int Rank>
Message& operator<<(Message&& message, const Shape<Rank>& shape) {
  return message << shape;
}

/// The product of two extents; the greatest index where an index can't hold it, which no shape has room for.
constexpr index_t extent_product(index_t a, index_t b) { return b != 0 && a > INT64_MAX / b ? INT64_MAX : a * b; }

/// The shape of a new tensor. Throws ShapeError for a negative extent or more elements than an index can count.
template <int Rank>
constexpr Shape<Rank> checked_shape(const Shape<Rank>& shape) {
  index_t product = 1;
  bool empty = false;
  for (int i = 0; i < Rank; ++i) {
    if (shape[i] < 0) throw ShapeError(Message{} << "negative extent in shape " << shape);
    if (shape[i] == 0) empty = true;
  }
  for (int i = 0; i < Rank && !empty; ++i) {
    if (shape[i] > (INT64_MAX / 16) / product)
      throw ShapeError(Message{} << "shape " << shape << " has more elements than can be addressed");
    product *= shape[i];
  }
  return shape;
}

/// An axis as a value; negative ones count from the end. Example: `hd::sum(x, hd::axis<-1>)`.
template <int A>
struct axis_t {
  static constexpr int value = A;
};
template <int A>
inline constexpr axis_t<A> axis{};

/// Several axes as a value. Example: `x.permute(hd::axes<2, 0, 1>)`.
template <int... A>
struct axes_t {
  static constexpr int count = static_cast<int>(sizeof...(A));
};
template <int... A>
inline constexpr axes_t<A...> axes{};

/// Asks a reduction to leave the reduced axes in the shape, with extent 1.
struct keep_dims_t {};
inline constexpr keep_dims_t keep_dims{};

/// An axis counted from the front; a compile error names what is wrong with it.
template <int A, int Rank>
consteval int normalized_axis() {
  static_assert(Rank > 0, "a tensor of rank 0 has no axes");
  static_assert(A < Rank && A >= -Rank, "axis out of range: it must lie in [-rank, rank)");
  return A < 0 ? A + Rank : A;
}

/// Keeps a whole axis. Example: `x(hd::_, 3)` is column 3.
struct full_extent_t {};
inline constexpr full_extent_t full_extent{};
inline constexpr full_extent_t _{};

/// Where a range starts or stops: an index (negative ones count from the end), or `_` for "as far as it goes".
struct RangeBound {
  index_t value = 0;
  bool open = true;
  template <std::integral I>
  constexpr RangeBound(I index) : value(static_cast<index_t>(index)), open(false) {}  // NOLINT
  constexpr RangeBound(full_extent_t) {}                                              // NOLINT
};

/// Indices start, start + step, … before stop, as Python's slices: they clamp and never throw for being out of range.
struct Range {
  RangeBound start;
  RangeBound stop;
  index_t step;
};

/// Example: `x(hd::range(1, 5), hd::range(0, 10, 2), hd::range(_, _, -1))`.
constexpr Range range(RangeBound start, RangeBound stop, index_t step = 1) { return Range{start, stop, step}; }

/// What a Range means for an axis: the first index, how many, and the step. Throws IndexError for step 0.
struct ResolvedRange {
  index_t first;
  index_t count;
  index_t step;
};
constexpr ResolvedRange resolve(const Range& range, index_t extent) {
  if (range.step == 0) throw IndexError("a range's step is 0");
  const bool forward = range.step > 0;
  const index_t lowest = forward ? 0 : -1;
  const index_t highest = forward ? extent : extent - 1;
  auto clamp = [&](const RangeBound& bound, index_t when_open) {
    if (bound.open) return when_open;
    const index_t index = bound.value < 0 ? bound.value + extent : bound.value;
    return index < lowest ? lowest : (index > highest ? highest : index);
  };
  const index_t first = clamp(range.start, forward ? lowest : highest);
  const index_t last = clamp(range.stop, forward ? highest : lowest);
  index_t count = 0;
  if (forward && last > first) count = (last - first - 1) / range.step + 1;
  if (!forward && first > last) count = (first - last - 1) / (range.step == INT64_MIN ? INT64_MAX : -range.step) + 1;
  return {count > 0 ? first : 0, count, range.step};
}

}  // namespace heddle
