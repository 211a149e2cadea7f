#include "conformance/axes.hpp"

#include <algorithm>
#include <cstring>

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

Extents ReductionPlan::all_three() const {
  Extents three = merged;
  if (three.empty()) three.push_back(1);
  if (starts_reduced || merged.empty()) three.insert(three.begin(), 1);
  if (three.size() == 2) three.push_back(1);
  return three.size() == 3 ? three : Extents{};
}

std::vector<int> reduced_axes(const Call& call) {
  const int rank = call.input(0).rank();
  const char* const attribute = call.is_pytorch() ? "dim" : "axes";
  std::vector<std::int64_t> listed;
  if (call.has_input(1))
    listed = integers_of(call.input(1));
  else if (call.has(attribute))
    listed = call.integers(attribute);
  if (call.is_pytorch() && rank == 0) {
    for (const std::int64_t axis : listed) front_axis(axis, 1);
    return {};
  }
  std::vector<int> axes;
  for (const std::int64_t axis : listed) axes.push_back(front_axis(axis, rank));
  std::vector<int> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) throw NotServed{"an axis twice"};
  if (axes.empty() && call.integer("noop_with_empty_axes", 0) == 0)
    for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
  return axes;
}

bool keeps_axes(const Call& call) {
  return call.is_pytorch() ? call.flag("keepdim", false) : call.flag("keepdims", true);
}

int axis_of(const Call& call, const char* attribute, std::int64_t fallback, int rank) {
  return front_axis(call.integer(attribute, fallback), call.is_pytorch() && rank == 0 ? 1 : rank);
}

Array reduced_last(const Array& array, const std::vector<int>& axes) {
  const std::size_t rank = array.shape.size();
  const auto is_reduced = [&](std::size_t axis) {
    return std::find(axes.begin(), axes.end(), static_cast<int>(axis)) != axes.end();
  };
  // How far apart, in the moved array, neighbours along each axis come to lie.
  Extents strides(rank);
  std::int64_t counts[] = {1, 1};  // kept, reduced
  for (std::size_t axis = rank; axis-- > 0;) {
    strides[axis] = counts[is_reduced(axis)];
    counts[is_reduced(axis)] *= array.shape[axis];
  }
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (!is_reduced(axis)) strides[axis] *= counts[1];

  Array moved{array.type, {counts[0], counts[1]}, std::vector<std::byte>(array.bytes.size())};
  const std::size_t size = size_of(array.type);
  for (std::int64_t from = 0; from < array.size(); ++from) {
    std::int64_t to = 0;
    std::int64_t rest = from;
    for (std::size_t axis = rank; axis-- > 0; rest /= array.shape[axis]) to += rest % array.shape[axis] * strides[axis];
    std::memcpy(moved.bytes.data() + static_cast<std::size_t>(to) * size,
                array.bytes.data() + static_cast<std::size_t>(from) * size, size);
  }
  return moved;
}

Extents AxisPlan::all_three() const {
  Extents three = merged;
  if (axis == 0) three.insert(three.begin(), 1);
  if (three.size() == 2) three.push_back(1);
  return three;
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
  plan.merged.push_back(shape.empty() ? 1 : shape[static_cast<std::size_t>(axis)]);
  if (after != 1) plan.merged.push_back(after);
  return plan;
}

AxisPlan plan_rows(const Call& call) {
  const Extents& shape = call.input(0).shape;
  if (call.is_pytorch()) return plan_axis(shape, axis_of(call, "dim", -1, call.input(0).rank()));
  const bool flattens = call.opset() < 13;
  const int axis = front_axis(call.integer("axis", flattens ? 1 : -1), static_cast<int>(shape.size()));
  if (!flattens) return plan_axis(shape, axis);
  Extents rows(shape.begin(), shape.begin() + axis);
  rows.push_back(size_of(Extents(shape.begin() + axis, shape.end())));
  return plan_axis(rows, axis);
}

}  // namespace conformance
