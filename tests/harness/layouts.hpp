// Where a test's tensor puts its elements in memory.
#pragma once

#include <vector>

#include "reference/array.hpp"

namespace heddle_test {

using reference::Extents;

enum class Layout {
  contiguous,     ///< C order
  transposed,     ///< Fortran order
  channels_last,  ///< axis 1 innermost, as images N, H, W, C seen as N, C, H, W; as contiguous below rank 3
  sliced,         ///< every axis cut with a step
  pitched,        ///< rows contiguous, with gaps between them
  reversed,       ///< every axis runs backwards
  offset,         ///< C order, one element into the memory: never aligned for wide accesses
  broadcast,      ///< every second axis, the last one first, has stride 0: for inputs only
};

const char* name_of(Layout layout);

/// All that an output may have, and all that an input may have.
const std::vector<Layout>& output_layouts();
const std::vector<Layout>& input_layouts();

/// Memory of `count` elements and a tensor within it: the strides, and the place of the first element.
struct Placement {
  std::int64_t count = 0;
  std::int64_t first = 0;
  Extents strides;

  /// The place of an element.
  std::int64_t place(const Extents& index) const;
};

/// With guard elements on both sides.
Placement place(const Extents& shape, Layout layout);

}  // namespace heddle_test
