// Brings reductions to few ranks: neighbouring axes that are all reduced, or all kept, become one.
#pragma once

#include <vector>

#include "conformance/array.hpp"
#include "conformance/call.hpp"

namespace conformance {

struct ReductionPlan {
  Extents merged;               ///< the operand's shape; kept and reduced axes alternate
  bool starts_reduced = false;  ///< whether its first axis is reduced
  bool reduces = false;         ///< whether any is
  Extents merged_result;        ///< the result's shape under the merged one, reduced axes left out
  Extents shape;                ///< the result's shape, with or without the reduced axes

  /// The operand's shape as (before, reduced, after); empty where the reduced axes are not neighbours.
  Extents all_three() const;
};

ReductionPlan plan_reduction(const Extents& shape, const std::vector<int>& axes, bool keep_dims);

/// The axes of a reduction: the second input or the attribute `axes` (PyTorch's: `dim`); without them, or where they
/// are empty, all, unless the call says `noop_with_empty_axes`. NotServed where one is named twice.
std::vector<int> reduced_axes(const Call& call);

/// Whether reduced axes stay with extent 1: by default ONNX's do and PyTorch's do not.
bool keeps_axes(const Call& call);

/// The axis that an attribute names, counted from the front. PyTorch takes rank 0 for rank 1 there.
int axis_of(const Call& call, const char* attribute, std::int64_t fallback, int rank);

/// The array as (kept, reduced): its elements moved so that the reduced axes come last.
Array reduced_last(const Array& array, const std::vector<int>& axes);

/// The operand's shape as (before, axis, after), without the first or last of them where its extent is 1. Rank 0 is
/// seen as one axis of extent 1.
struct AxisPlan {
  Extents merged;
  int axis = 0;
  Extents all_three() const;
};
AxisPlan plan_axis(const Extents& shape, int axis);

/// The axis of a softmax: `axis`, by default the last; before opset 13 all from `axis` on together, by default from 1.
AxisPlan plan_rows(const Call& call);

}  // namespace conformance
