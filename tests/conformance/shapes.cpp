#include "conformance/shapes.hpp"

#include <algorithm>
#include <numeric>

#include "conformance/npy.hpp"

namespace conformance {
namespace {

/// An input of integers, or before some opset an attribute.
std::vector<std::int64_t> listed(const Call& call, int position, const char* attribute) {
  if (call.has_input(position)) return integers_of(call.input(position));
  return call.has(attribute) ? call.integers(attribute) : std::vector<std::int64_t>{};
}

}  // namespace

std::vector<std::int64_t> part_of(const std::vector<std::int64_t>& values, std::int64_t start, std::int64_t end) {
  const auto size = static_cast<std::int64_t>(values.size());
  const auto clamped = [size](std::int64_t index) {
    return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
  };
  const std::int64_t first = clamped(start);
  return {values.begin() + first, values.begin() + std::max(first, clamped(end))};
}

Extents reshape_target(const Call& call) {
  const Extents& shape = call.input(0).shape;
  if (call.is_pytorch()) {
    if (call.has_input(1)) return call.input(1).shape;  // view_as
    if (call.has("shape")) return call.integers("shape");
    if (!call.has("sizes")) return {size_of(shape)};
    Extents target = shape;
    const auto axis = target.begin() + front_axis(call.integer("dim", 0), static_cast<int>(shape.size()));
    const std::vector<std::int64_t> sizes = call.integers("sizes");
    target.insert(target.erase(axis), sizes.begin(), sizes.end());
    return target;
  }
  Extents target = listed(call, 1, "shape");
  if (call.integer("allowzero", 0) != 0) return target;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (target[i] != 0) continue;
    if (i >= shape.size()) throw BadCase("a 0 in the new shape has no extent to keep");
    target[i] = shape[i];
  }
  return target;
}

Extents flatten_target(const Call& call) {
  const Extents& shape = call.input(0).shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (call.is_pytorch()) {
    const int start = front_axis(call.integer("start_dim", 0), call.input(0).rank());
    const int end = front_axis(call.integer("end_dim", -1), call.input(0).rank()) + 1;
    Extents target(shape.begin(), shape.begin() + start);
    target.push_back(size_of(Extents(shape.begin() + start, shape.begin() + end)));
    target.insert(target.end(), shape.begin() + end, shape.end());
    return target;
  }
  const std::int64_t axis = call.integer("axis", 1);
  const std::int64_t split = axis < 0 ? axis + rank : axis;
  if (split < 0 || split > rank) throw BadCase("axis out of range");
  return {size_of(Extents(shape.begin(), shape.begin() + split)), size_of(Extents(shape.begin() + split, shape.end()))};
}

std::vector<int> squeezed_axes(const Call& call) {
  const Extents& shape = call.input(0).shape;
  std::vector<int> axes;
  if (call.is_pytorch()) {
    const int axis = front_axis(call.integer("dim", 0), std::max(1, call.input(0).rank()));
    return shape.empty() ? axes : std::vector<int>{axis};
  }
  for (const std::int64_t axis : listed(call, 1, "axes"))
    axes.push_back(front_axis(axis, static_cast<int>(shape.size())));
  if (axes.empty())
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (shape[i] == 1) axes.push_back(static_cast<int>(i));
  std::sort(axes.rbegin(), axes.rend());
  return axes;
}

std::vector<int> unsqueezed_axes(const Call& call) {
  const std::vector<std::int64_t> added = listed(call, 1, call.is_pytorch() ? "dim" : "axes");
  std::vector<int> axes;
  for (const std::int64_t axis : added)
    axes.push_back(front_axis(axis, call.input(0).rank() + static_cast<int>(added.size())));
  std::sort(axes.begin(), axes.end());
  return axes;
}

Extents expanded_target(const Call& call) {
  const Extents& shape = call.input(0).shape;
  if (!call.is_pytorch()) return expanded_shape(shape, integers_of(call.input(1)));
  Extents target = call.has_input(1) ? call.input(1).shape : call.integers("size");
  for (std::size_t i = 0; i < shape.size() && i < target.size(); ++i) {
    std::int64_t& extent = target[target.size() - 1 - i];
    if (extent == -1) extent = shape[shape.size() - 1 - i];
  }
  return target;
}

Extents expanded_shape(const Extents& shape, const Extents& target) {
  Extents wide = shape;
  Extents other = target;
  if (wide.size() < other.size()) wide.insert(wide.begin(), other.size() - wide.size(), 1);
  if (other.size() < wide.size()) other.insert(other.begin(), wide.size() - other.size(), 1);
  for (std::size_t i = 0; i < wide.size(); ++i)
    if (wide[i] == 1 || other[i] != 1) wide[i] = other[i];
  return wide;
}

std::vector<AxisSlice> slices_of(const Call& call) {
  const std::vector<std::int64_t> starts = listed(call, 1, "starts");
  const std::vector<std::int64_t> ends = listed(call, 2, "ends");
  std::vector<std::int64_t> axes = listed(call, 3, "axes");
  std::vector<std::int64_t> steps = listed(call, 4, "steps");
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    throw BadCase("starts, ends, axes and steps have not one length");
  std::vector<AxisSlice> slices;
  for (std::size_t i = 0; i < starts.size(); ++i)
    slices.push_back({front_axis(axes[i], call.input(0).rank()), starts[i], ends[i], steps[i]});
  return slices;
}

std::vector<int> permutation_of(const Call& call) {
  const int rank = call.input(0).rank();
  std::vector<int> order;
  if (call.has("perm") || call.has("dims")) {
    for (const std::int64_t axis : call.integers(call.has("perm") ? "perm" : "dims"))
      order.push_back(front_axis(axis, rank));
  } else if (call.has("source")) {
    const std::vector<std::int64_t> from = call.integers("source");
    const std::vector<std::int64_t> to = call.integers("destination");
    if (from.size() != to.size()) throw NotServed{"not as many axes as places"};
    order.assign(static_cast<std::size_t>(rank), -1);
    std::vector<int> rest;
    for (int i = 0; i < rank; ++i) rest.push_back(i);
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto axis = std::find(rest.begin(), rest.end(), front_axis(from[i], rank));
      int& place = order[static_cast<std::size_t>(front_axis(to[i], rank))];
      if (axis == rest.end() || place != -1) throw NotServed{"an axis twice"};
      place = *axis;
      rest.erase(axis);
    }
    for (int& axis : order) {
      if (axis != -1) continue;
      axis = rest.front();
      rest.erase(rest.begin());
    }
  } else if (call.is_pytorch()) {
    for (int i = 0; i < rank; ++i) order.push_back(i);
    if (rank > 1)
      std::swap(order[static_cast<std::size_t>(front_axis(call.integer("dim0", -2), rank))],
                order[static_cast<std::size_t>(front_axis(call.integer("dim1", -1), rank))]);
  } else {
    for (int i = rank; i-- > 0;) order.push_back(i);
  }
  std::vector<int> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < rank; ++i)
    if (sorted.size() != static_cast<std::size_t>(rank) || sorted[static_cast<std::size_t>(i)] != i)
      throw BadCase("perm does not name every axis once");
  return order;
}

std::vector<std::int64_t> split_sizes(const Call& call, std::int64_t extent) {
  std::vector<std::int64_t> sizes = listed(call, 1, call.is_pytorch() ? "split_size" : "split");
  if (!sizes.empty()) return sizes;
  const std::int64_t count = call.integer("num_outputs", call.output_count());
  const std::int64_t size = (extent + count - 1) / count;
  for (std::int64_t i = 0; i < count; ++i) sizes.push_back(std::clamp<std::int64_t>(extent - i * size, 0, size));
  return sizes;
}

std::vector<AxisWidth> pad_widths(const Call& call) {
  const int rank = call.input(0).rank();
  if (call.is_pytorch()) {
    // Begin and end of the last axis, then of the one before it, and so on.
    std::vector<AxisWidth> widths(static_cast<std::size_t>(rank));
    const std::vector<std::int64_t> pad = call.integers("pad");
    for (std::size_t i = 0; 2 * i + 1 < pad.size(); ++i)
      widths.at(widths.size() - 1 - i) = {pad[2 * i], pad[2 * i + 1]};
    return widths;
  }
  const std::vector<std::int64_t> pads = listed(call, 1, "pads");
  std::vector<std::int64_t> axes = listed(call, 3, "axes");
  if (axes.empty()) {
    axes.resize(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (pads.size() != 2 * axes.size()) throw BadCase("pads has not a begin and an end for each axis");
  std::vector<AxisWidth> widths(static_cast<std::size_t>(rank));
  for (std::size_t i = 0; i < axes.size(); ++i)
    widths[static_cast<std::size_t>(front_axis(axes[i], rank))] = {pads[i], pads[i + axes.size()]};
  return widths;
}

}  // namespace conformance
