// What the attributes and inputs of the shape operators mean.
#pragma once

#include <vector>

#include "conformance/array.hpp"
#include "conformance/call.hpp"

namespace conformance {

/// values[start:end] by Python's rules.
std::vector<std::int64_t> part_of(const std::vector<std::int64_t>& values, std::int64_t start, std::int64_t end);

/// Reshape's: a 0 keeps the operand's extent (unless `allowzero`), a -1 stays as it is. PyTorch's reshape and view,
/// view_as, unflatten, and ravel, which names no shape.
Extents reshape_target(const Call& call);

/// Flatten's: all axes before `axis`, and all from it on; PyTorch's: those from `start_dim` to `end_dim` are one.
Extents flatten_target(const Call& call);

/// The last first; without a list those of extent 1.
std::vector<int> squeezed_axes(const Call& call);

/// The first first, as axes of the result.
std::vector<int> unsqueezed_axes(const Call& call);

/// Expand's and broadcast_to's; PyTorch's -1 keeps the operand's extent.
Extents expanded_target(const Call& call);

/// Both shapes broadcast together: Expand's target may be shorter, and have a 1 where the operand is longer.
Extents expanded_shape(const Extents& shape, const Extents& target);

struct AxisSlice {
  int axis = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
};
std::vector<AxisSlice> slices_of(const Call& call);

/// `perm`; without it the axes in reverse order. PyTorch's permute, transpose and movedim, and T and its like, which
/// exchange the last two axes where there are two.
std::vector<int> permutation_of(const Call& call);

/// How many places each output of Split gets: a list, or the outputs' number, where the last may get fewer.
std::vector<std::int64_t> split_sizes(const Call& call, std::int64_t extent);

struct AxisWidth {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
/// What Pad adds at each axis: all begins, then all ends; of the axes named, or of all.
std::vector<AxisWidth> pad_widths(const Call& call);

}  // namespace conformance
