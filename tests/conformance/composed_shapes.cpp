// Tensors taken apart and put together: names of PyTorch's for what narrow, concat, reshape and permute do.
#include <algorithm>

#include "conformance/composed.hpp"
#include "conformance/npy.hpp"

namespace conformance {
namespace {

Outputs arrays_of(const std::vector<Value>& values) {
  Outputs outputs;
  for (const Value& value : values) outputs.push_back(value.array);
  return outputs;
}

/// Begin of each part but the first; past the end they are empty.
Outputs split_at(const Value& x, int axis, const std::vector<std::int64_t>& places) {
  const std::int64_t extent = x.extent(axis);
  std::vector<Value> parts;
  std::int64_t start = 0;
  for (std::size_t i = 0; i <= places.size(); ++i) {
    const std::int64_t end = i < places.size() ? std::clamp(places[i], start, extent) : extent;
    parts.push_back(narrow(x, axis, start, end - start));
    start = end;
  }
  return arrays_of(parts);
}
/// Equal parts, of which the first ones have an element more where that is left over, if it may be.
Outputs split_evenly(const Value& x, int axis, std::int64_t count, bool may_differ) {
  const std::int64_t extent = x.extent(axis);
  if (count <= 0 || (!may_differ && extent % count != 0))
    return arrays_of(steps("split", {x}, {{"split_size", 0}, {"dim", axis}}));
  std::vector<std::int64_t> places;
  std::int64_t place = 0;
  for (std::int64_t i = 0; i + 1 < count; ++i) places.push_back(place += extent / count + (i < extent % count ? 1 : 0));
  return split_at(x, axis, places);
}
Outputs split_along(const Composer& compose, const Call& call, int axis, bool may_differ) {
  const Value x = compose.input(call, 0);
  const std::vector<std::int64_t> numbers = call.has_input(1) ? integers_of(call.input(1)) : call.integers("sections");
  if (numbers.size() == 1 && !call.has_input(1)) return split_evenly(x, axis, numbers[0], may_differ);
  return split_at(x, axis, numbers);
}
Outputs tensor_split(const Composer& compose, const Call& call) {
  return split_along(compose, call, front_axis(call.integer("dim", 0), call.input(0).rank()), true);
}
Outputs hsplit(const Composer& compose, const Call& call) {
  return split_along(compose, call, call.input(0).rank() > 1 ? 1 : 0, false);
}
Outputs vsplit(const Composer& compose, const Call& call) { return split_along(compose, call, 0, false); }

/// The operands with axes added by `shaped`, joined along an axis.
template <class Shaped>
Outputs joined(const Composer& compose, const Call& call, int axis, Shaped shaped) {
  std::vector<Value> parts;
  for (int i = 0; i < call.input_count(); ++i) {
    const Value part = compose.input(call, i);
    const Extents shape = shaped(part.array.shape);
    parts.push_back(shape == part.array.shape ? part : reshape(part, shape));
    if (parts.back().rank() != parts.front().rank()) throw NotServed{"not for tensors of several ranks"};
  }
  if (parts.empty()) return run_step({}, "cat", {}, {});
  return {concat(parts, axis).array};
}
Extents at_least_two(const Extents& shape) {
  if (shape.empty()) return {1, 1};
  return shape.size() == 1 ? Extents{1, shape[0]} : shape;
}
Outputs hstack(const Composer& compose, const Call& call) {
  const int axis = call.input_count() > 0 && call.input(0).rank() > 1 ? 1 : 0;
  return joined(compose, call, axis, [](const Extents& shape) { return shape.empty() ? Extents{1} : shape; });
}
Outputs vstack(const Composer& compose, const Call& call) { return joined(compose, call, 0, at_least_two); }
Outputs dstack(const Composer& compose, const Call& call) {
  return joined(compose, call, 2, [](const Extents& given) {
    Extents shape = at_least_two(given);
    if (shape.size() == 2) shape.push_back(1);
    return shape;
  });
}
Outputs column_stack(const Composer& compose, const Call& call) {
  return joined(compose, call, 1, [](const Extents& shape) {
    return shape.size() < 2 ? Extents{shape.empty() ? 1 : shape[0], 1} : shape;
  });
}

Outputs flipud(const Composer& compose, const Call& call) {
  if (call.input(0).rank() == 0) throw NotServed{"rank 0 has no axis"};
  return {step("flip", {compose.input(call, 0)}, {{"dims", 0}}).array};
}

/// By quarter turns from the first of two axes to the second.
Outputs rot90(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  if (x.rank() < 2) throw NotServed{"there is no such axis"};
  const std::vector<std::int64_t> axes = call.has("dims") ? call.integers("dims") : std::vector<std::int64_t>{0, 1};
  const std::int64_t turns = (call.integer("k", 1) % 4 + 4) % 4;
  const auto flipped = [&](const Value& v, const std::vector<std::int64_t>& along) {
    return step("flip", {v}, {{"dims", along}});
  };
  if (turns == 0) return {map("positive", x).array};
  if (turns == 2) return {flipped(x, axes).array};
  return {step("transpose", {flipped(x, {axes[turns == 1 ? 1 : 0]})}, {{"dim0", axes[0]}, {"dim1", axes[1]}}).array};
}

Outputs meshgrid(const Composer& compose, const Call& call) {
  const int rank = call.input_count();
  Extents shape;
  for (int i = 0; i < rank; ++i) shape.push_back(call.input(i).size());
  const bool exchanged = rank > 1 && call.text_is("indexing", "xy");
  if (exchanged) std::swap(shape[0], shape[1]);
  Outputs outputs;
  for (int i = 0; i < rank; ++i) {
    Extents own(static_cast<std::size_t>(rank), 1);
    own[static_cast<std::size_t>(exchanged && i < 2 ? 1 - i : i)] = call.input(i).size();
    outputs.push_back(step("expand", {reshape(compose.input(call, i), own)}, {{"size", shape}}).array);
  }
  return outputs;
}

/// Where ones are left of a matrix of them.
Outputs tril_indices(const Composer& compose, const Call& call) {
  const std::int64_t rows = call.integer("row", 0), columns = call.integer("col", 0);
  const Value numbers = compose.arange(1, rows * columns + 1);
  const Value lower = step("tril", {reshape(numbers, {rows, columns})}, {{"diagonal", call.integer("offset", 0)}});
  return {step("t", {map("nonzero", lower)}).array};
}

Outputs block_diag(const Composer& compose, const Call& call) {
  std::int64_t columns = 0, before = 0;
  for (int i = 0; i < call.input_count(); ++i) columns += at_least_two(call.input(i).shape)[1];
  std::vector<Value> rows;
  for (int i = 0; i < call.input_count(); ++i) {
    const Value block = reshape(compose.input(call, i), at_least_two(call.input(i).shape));
    const std::int64_t width = block.extent(1);
    const std::vector<std::int64_t> around{before, columns - before - width};
    rows.push_back(step("nn.functional.pad", {block}, {{"pad", around}}));
    before += width;
  }
  return {concat(rows, 0).array};
}

/// Cut at both ends, or padded there, to a shape.
Outputs center_crop_pad(const Composer& compose, const Call& call) {
  Value x = compose.input(call, 0);
  const std::vector<std::int64_t> wanted = integers_of(call.input(1));
  std::vector<std::int64_t> pads(2 * static_cast<std::size_t>(x.rank()), 0);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const int axis =
        front_axis(call.has("axes") ? call.integers("axes").at(i) : static_cast<std::int64_t>(i), x.rank());
    const std::int64_t more = wanted[i] - x.extent(axis);
    if (more < 0) x = narrow(x, axis, -more / 2, wanted[i]);
    if (more <= 0) continue;
    const std::size_t place = 2 * static_cast<std::size_t>(x.rank() - 1 - axis);
    pads[place] = more / 2;
    pads[place + 1] = more - more / 2;
  }
  return {step("nn.functional.pad", {x}, {{"pad", pads}}).array};
}

}  // namespace

void add_composed_shapes(Registry& registry) {
  serve_composed<tensor_split>(registry, "tensor_split");
  serve_composed<hsplit>(registry, "hsplit");
  serve_composed<vsplit>(registry, "vsplit");
  serve_composed<hstack>(registry, "hstack");
  serve_composed<vstack>(registry, "vstack");
  serve_composed<dstack>(registry, "dstack");
  serve_composed<column_stack>(registry, "column_stack");
  serve_composed<flipud>(registry, "flipud");
  serve_composed<rot90>(registry, "rot90");
  serve_composed<meshgrid>(registry, "meshgrid");
  serve_composed<tril_indices>(registry, "tril_indices");
  serve_composed<block_diag>(registry, "block_diag");
  serve_composed<center_crop_pad>(registry, "CenterCropPad");
}

}  // namespace conformance
