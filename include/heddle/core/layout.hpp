// Strides as values: pure functions on shapes and strides, all in elements.
#pragma once

#include "heddle/core/shape.hpp"

namespace heddle {

/// Distances between neighbours along each axis, in elements; negative and 0 are legal.
template <int Rank>
struct Strides {
  index_t values[static_cast<std::size_t>(Rank > 0 ? Rank : 1)] = {};
  HEDDLE_HOST_DEVICE constexpr index_t& operator[](int i) { return values[i]; }
  HEDDLE_HOST_DEVICE constexpr index_t operator[](int i) const { return values[i]; }
  friend constexpr bool operator==(const Strides& a, const Strides& b) {
    for (int i = 0; i < Rank; ++i)
      if (a.values[i] != b.values[i]) return false;
    return true;
  }
};

/// The strides of C order: the last axis is contiguous. An extent of 0 counts as 1.
template <int Rank>
constexpr Strides<Rank> row_major(const Shape<Rank>& shape) {
  Strides<Rank> strides;
  // Unsigned: of a shape that has no elements, or too many for a tensor, the product may wrap.
  std::uint64_t step = 1;
  for (int i = Rank - 1; i >= 0; --i) {
    strides[i] = static_cast<index_t>(step);
    step *= shape[i] > 1 ? static_cast<std::uint64_t>(shape[i]) : 1;
  }
  return strides;
}

/// True for C order without gaps; axes of extent 1 may have any stride, and a tensor without elements is contiguous.
template <int Rank>
constexpr bool is_contiguous(const Shape<Rank>& shape, const Strides<Rank>& strides) {
  std::uint64_t step = 1;
  bool contiguous = true;
  for (int i = Rank - 1; i >= 0; --i) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && strides[i] != static_cast<index_t>(step)) contiguous = false;
    step *= static_cast<std::uint64_t>(shape[i]);
  }
  return contiguous;
}

/// The strides of a new tensor of that shape whose axes lie in memory in the order of `order` (its own strides where
/// they are dense), so that channels-last stays channels-last. A stride of 0 on an extent above 1, or an overlap, gives
/// C order.
template <int Rank>
constexpr Strides<Rank> dense_like(const Shape<Rank>& shape, const Strides<Rank>& order) {
  if (is_contiguous(shape, order)) return row_major(shape);
  for (int i = 0; i < Rank; ++i)
    if (order[i] == 0 && shape[i] > 1) return row_major(shape);
  int axis_of[static_cast<std::size_t>(Rank > 0 ? Rank : 1)] = {};
  auto distance = [&](int i) { return order[i] < 0 ? -order[i] : order[i]; };
  // Insertion sort, stable. Axes of extent 1 have no say: each follows its left neighbour.
  int sorted = 0;
  for (int i = 0; i < Rank; ++i) {
    if (shape[i] == 1) continue;
    int j = sorted++;
    for (; j > 0 && distance(axis_of[j - 1]) < distance(i); --j) axis_of[j] = axis_of[j - 1];
    axis_of[j] = i;
  }
  for (int i = 0; i < Rank; ++i) {
    if (shape[i] != 1) continue;
    int j = sorted++;
    for (; j > 0 && (i == 0 || axis_of[j - 1] != i - 1); --j) axis_of[j] = axis_of[j - 1];
    axis_of[j] = i;
  }
  Strides<Rank> strides;
  index_t step = 1;
  for (int i = Rank - 1; i >= 0; --i) {
    strides[axis_of[i]] = step;
    step *= shape[axis_of[i]] > 1 ? shape[axis_of[i]] : 1;
  }
  return strides;
}

/// The lowest and the highest offset that a non-empty tensor reaches from its first element.
struct OffsetSpan {
  index_t lowest;
  index_t highest;
};
template <int Rank>
constexpr OffsetSpan offset_span(const Shape<Rank>& shape, const Strides<Rank>& strides) {
  OffsetSpan span{0, 0};
  for (int i = 0; i < Rank; ++i) {
    const index_t reach = (shape[i] - 1) * strides[i];
    if (shape[i] > 0) (reach < 0 ? span.lowest : span.highest) += reach;
  }
  return span;
}

/// True if each element has a place of its own and there are no gaps between them, in whatever order of axes.
template <int Rank>
constexpr bool is_dense(const Shape<Rank>& shape, const Strides<Rank>& strides) {
  const Strides<Rank> dense = dense_like(shape, strides);
  for (int i = 0; i < Rank; ++i)
    if (shape[i] > 1 && strides[i] != dense[i]) return shape.size() == 0;
  return true;
}

/// True if two elements may share a place: sorted by stride, an axis does not step over all that the finer ones reach.
template <int Rank>
constexpr bool may_overlap_itself(const Shape<Rank>& shape, const Strides<Rank>& strides) {
  bool done[static_cast<std::size_t>(Rank > 0 ? Rank : 1)] = {};
  index_t reach = 0;
  for (int i = 0; i < Rank; ++i)
    if (shape[i] == 0) return false;
  for (int round = 0; round < Rank; ++round) {
    int finest = -1;
    index_t distance = 0;
    for (int i = 0; i < Rank; ++i) {
      const index_t step = strides[i] < 0 ? -strides[i] : strides[i];
      if (!done[i] && (finest < 0 || step < distance)) {
        finest = i;
        distance = step;
      }
    }
    done[finest] = true;
    if (shape[finest] == 1) continue;
    if (distance <= reach) return true;
    reach += distance * (shape[finest] - 1);
  }
  return false;
}

/// The strides that give the same elements in the same order under another shape; false where only a copy could.
template <int From, int To>
constexpr bool reshaped_strides(const Shape<From>& from, const Strides<From>& strides, const Shape<To>& to,
                                Strides<To>& result) {
  result = row_major(to);
  if (from.size() == 0 || is_contiguous(from, strides)) return true;
  // Axes of extent 1 say nothing about the layout; a run of the others that lies evenly in memory may be cut anew.
  index_t extent[static_cast<std::size_t>(From > 0 ? From : 1)] = {};
  index_t step[static_cast<std::size_t>(From > 0 ? From : 1)] = {};
  int count = 0;
  for (int i = 0; i < From; ++i) {
    if (from[i] == 1) continue;
    extent[count] = from[i];
    step[count++] = strides[i];
  }
  int axis_to = To - 1;
  index_t base = count > 0 ? step[count - 1] : 1;
  index_t old_run = 1;
  index_t new_run = 1;
  for (int i = count - 1; i >= 0; --i) {
    old_run *= extent[i];
    if (i > 0 && step[i - 1] == old_run * base) continue;
    while (axis_to >= 0 && (new_run < old_run || to[axis_to] == 1)) {
      result[axis_to] = new_run * base;
      new_run *= to[axis_to];
      --axis_to;
    }
    if (new_run != old_run) return false;
    if (i > 0) {
      base = step[i - 1];
      old_run = 1;
      new_run = 1;
    }
  }
  return true;
}

}  // namespace heddle
