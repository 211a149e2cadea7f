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
};

ReductionPlan plan_reduction(const Extents& shape, const std::vector<int>& axes, bool keep_dims);

/// The axes of a reduction: the second input or the attribute `axes`; without them, or where they are empty, all,
/// unless the call says `noop_with_empty_axes`.
std::vector<int> reduced_axes(const Call& call);

/// The operand's shape as (before, axis, after), without the first or last of them where its extent is 1.
struct AxisPlan {
  Extents merged;
  int axis = 0;
};
AxisPlan plan_axis(const Extents& shape, int axis);

}  // namespace conformance
