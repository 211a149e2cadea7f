#include "conformance/broadcast.hpp"

#include <algorithm>
#include <stdexcept>

#include "conformance/compare.hpp"

namespace conformance {
namespace {

/// Per axis and operand: does the operand repeat along it? Axes of extent 1 in the result fit to any neighbour.
bool mergeable(const std::vector<Extents>& shapes, const Extents& result, std::size_t left, std::size_t right) {
  if (result[left] == 1 || result[right] == 1) return true;
  return std::all_of(shapes.begin(), shapes.end(), [&](const Extents& shape) {
    return (shape[left] == result[left]) == (shape[right] == result[right]);
  });
}

}  // namespace

Aligned align(const std::vector<Extents>& shapes) {
  std::size_t rank = 1;
  for (const Extents& shape : shapes) rank = std::max(rank, shape.size());
  const bool scalar = std::all_of(shapes.begin(), shapes.end(), [](const Extents& shape) { return shape.empty(); });

  Aligned made;
  made.shapes = shapes;
  made.collapsed.assign(rank, 1);
  bool fits = true;
  for (Extents& shape : made.shapes) {
    shape.insert(shape.begin(), rank - shape.size(), 1);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      std::int64_t& extent = made.collapsed[axis];
      if (shape[axis] == extent || shape[axis] == 1) continue;
      fits = fits && extent == 1;
      extent = shape[axis];
    }
  }
  if (!scalar) made.shape = made.collapsed;
  if (!fits) return made;

  // Merging only ever takes an axis and the one before it, so that it can be decided pair by pair.
  for (std::size_t axis = rank - 1; axis > 0; --axis) {
    if (!mergeable(made.shapes, made.collapsed, axis - 1, axis)) continue;
    const auto merge = [axis](Extents& shape) {
      shape[axis - 1] *= shape[axis];
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    };
    for (Extents& shape : made.shapes) merge(shape);
    merge(made.collapsed);
  }
  return made;
}

Aligned padded(const Aligned& aligned, int rank) {
  Aligned made = aligned;
  const auto pad = [rank](Extents& shape) {
    shape.insert(shape.begin(), static_cast<std::size_t>(rank) - shape.size(), 1);
  };
  for (Extents& shape : made.shapes) pad(shape);
  pad(made.collapsed);
  return made;
}

Aligned map_aligned(const std::vector<Extents>& shapes, int rank) {
  Aligned made = align(shapes);
  std::size_t greatest = 0;
  for (const Extents& shape : shapes) greatest = std::max(greatest, shape.size());
  if (greatest <= static_cast<std::size_t>(rank)) {
    made.shapes = shapes;
    made.collapsed = made.shape;
  }
  if (made.rank() > rank) throw NotServed{"not for so many axes"};
  return padded(made, rank);
}

Extents second_shape(const Call& call) {
  Extents shape = call.input(1).shape;
  if (call.opset() >= 7 || !call.has("axis")) return shape;
  const int rank = call.input(0).rank();
  const int end = front_axis(call.integer("axis", 0), rank) + static_cast<int>(shape.size());
  if (end < rank) shape.insert(shape.end(), static_cast<std::size_t>(rank - end), 1);
  return shape;
}

Array reshaped(Array array, const Extents& expected, const Extents& shape) {
  if (array.shape != expected)
    throw std::runtime_error("the result has shape " + to_string(array.shape) + ", wanted " + to_string(expected));
  array.shape = shape;
  return array;
}

}  // namespace conformance
