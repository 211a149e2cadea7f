#include "conformance/axes.hpp"

#include <algorithm>

namespace conformance {

ReductionPlan plan_reduction(const Extents& shape, const std::vector<int>& axes, bool keep_dims) {
  ReductionPlan plan;
  bool last_reduced = false;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int>(axis)) != axes.end();
    if (plan.merged.empty()) plan.starts_reduced = reduced;
    if (plan.merged.empty() || reduced != last_reduced)
      plan.merged.push_back(shape[axis]);
    else
      plan.merged.back() *= shape[axis];
    last_reduced = reduced;
    plan.reduces = plan.reduces || reduced;
    if (!reduced)
      plan.shape.push_back(shape[axis]);
    else if (keep_dims)
      plan.shape.push_back(1);
  }
  for (std::size_t axis = plan.starts_reduced ? 1 : 0; axis < plan.merged.size(); axis += 2)
    plan.merged_result.push_back(plan.merged[axis]);
  return plan;
}

std::vector<int> reduced_axes(const Call& call) {
  const int rank = call.input(0).rank();
  std::vector<std::int64_t> listed;
  if (call.has_input(1))
    listed = integers_of(call.input(1));
  else if (call.has("axes"))
    listed = call.integers("axes");
  std::vector<int> axes;
  for (const std::int64_t axis : listed) axes.push_back(front_axis(axis, rank));
  if (axes.empty() && call.integer("noop_with_empty_axes", 0) == 0)
    for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

AxisPlan plan_axis(const Extents& shape, int axis) {
  std::int64_t before = 1;
  std::int64_t after = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (static_cast<int>(i) < axis) before *= shape[i];
    if (static_cast<int>(i) > axis) after *= shape[i];
  }
  AxisPlan plan;
  if (before != 1) {
    plan.merged.push_back(before);
    plan.axis = 1;
  }
  plan.merged.push_back(shape[static_cast<std::size_t>(axis)]);
  if (after != 1) plan.merged.push_back(after);
  return plan;
}

}  // namespace conformance
