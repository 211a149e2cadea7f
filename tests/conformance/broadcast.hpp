// Brings operands to few ranks before they become tensors, so that an elementwise operator needs few instantiations.
#pragma once

#include <vector>

#include "conformance/array.hpp"
#include "conformance/call.hpp"

namespace conformance {

/// The same operands under other shapes that mean the same.
struct Aligned {
  std::vector<Extents> shapes;  ///< one an operand, all of one rank
  Extents collapsed;            ///< the result's shape under them
  Extents shape;                ///< the result's shape by NumPy's rules
  int rank() const { return static_cast<int>(collapsed.size()); }
};

/// Aligns shapes at their ends and merges neighbouring axes that every operand has in full, or every one of some
/// operands repeats. The rank is at least 1. Shapes that don't fit together keep their axes: the library says so then.
Aligned align(const std::vector<Extents>& shapes);

/// The same with axes of extent 1 in front, so that the rank is `rank`.
Aligned padded(const Aligned& aligned, int rank);

/// What maps see: the shapes with axes of extent 1 in front, so that the rank is `rank`, or merged first where theirs
/// is greater.
Aligned map_aligned(const std::vector<Extents>& shapes, int rank);

/// The second operand's shape. Before opset 7 its axes began at the attribute `axis` of the first.
Extents second_shape(const Call& call);

/// The array under another shape of the same size; throws where the shape it has is not `expected`.
Array reshaped(Array array, const Extents& expected, const Extents& shape);

}  // namespace conformance
