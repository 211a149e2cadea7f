// Elements picked, put and counted by masks and indices.
#include <algorithm>
#include <string>

#include "conformance/compare.hpp"
#include "conformance/composed.hpp"
#include "conformance/npy.hpp"

namespace conformance {
namespace {

/// Where a mask of rank 1 is true.
Value places(const Composer& compose, const Value& mask) {
  return step("masked_select", {compose.arange(0, mask.extent(0)), mask});
}
Value flat(const Value& x) { return reshape(x, {x.array.size()}); }
Value taken(const Value& x, int axis, const Value& index) {
  return step("index_select", {x, x, index}, {{"dim", axis}});
}
Value put(const Value& x, int axis, const Value& index, const Value& source, bool add = false) {
  return step(add ? "index_add" : "index_copy", {x, x, index, source}, {{"dim", axis}});
}
Value expanded(const Value& x, const Extents& shape) { return map("positive", step("expand", {x}, {{"size", shape}})); }

/// ONNX's: elements, or slices along an axis, where a mask is true, which may be shorter.
Outputs compress(const Composer& compose, const Call& call) {
  Value x = compose.input(call, 0);
  int axis = 0;
  if (call.has("axis"))
    axis = front_axis(call.integer("axis", 0), x.rank());
  else
    x = flat(x);
  return {taken(x, axis, places(compose, compose.input(call, 1))).array};
}

/// ONNX's: of a depth, with the values off and on; a negative index counts from the end, others give no 1.
Outputs one_hot(const Composer& compose, const Call& call) {
  Value index = compose.input(call, 0);
  if (is_floating(index.array.type)) index = map("long", index);
  const Value values = compose.input(call, 2);
  const auto depth = static_cast<std::int64_t>(element(call.input(1), 0));
  const int axis = front_axis(call.integer("axis", -1), index.rank() + 1);
  index = unsqueeze(where(index < like(index, 0), index + static_cast<double>(depth), index), axis);
  Extents numbers(static_cast<std::size_t>(index.rank()), 1);
  numbers[static_cast<std::size_t>(axis)] = depth;
  const auto value = [&](std::int64_t i) { return reshape(narrow(values, 0, i, 1), {}); };
  return {where(index == reshape(compose.arange(0, depth), numbers), value(1), value(0)).array};
}

/// x[…] of one slice or mask of axis 0, or of a list of places for each axis.
Outputs get_item(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  if (!call.has_input(1)) {
    const std::int64_t start = call.integer("start", 0);
    return {narrow(x, 0, start, call.integer("end", x.extent(0)) - start).array};
  }
  if (call.input(1).type == ElementType::boolean) return {taken(x, 0, places(compose, compose.input(call, 1))).array};
  Value place = compose.input(call, 1);
  for (int axis = 1; axis < x.rank(); ++axis)
    place = static_cast<double>(x.extent(axis)) * place + compose.input(call, axis + 1);
  return {map("take", x, place).array};
}

Outputs index_put(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  const Value index = places(compose, compose.input(call, 1));
  const Value source = expanded(compose.input(call, 2), {index.extent(0), x.extent(1)});
  return {put(x, 0, index, source, call.flag("accumulate", false)).array};
}
Outputs put_flat(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  return {reshape(put(flat(x), 0, flat(compose.input(call, 1)), flat(compose.input(call, 2))), x.array.shape).array};
}
Outputs masked_scatter(const Composer& compose, const Call& call) {
  const Value given = compose.input(call, 0);
  const Value condition = compose.input(call, 1);
  const Extents shape = given.rank() >= condition.rank() ? given.array.shape : condition.array.shape;
  const Value x = flat(expanded(given, shape));
  const Value index = places(compose, flat(expanded(condition, shape)));
  const Value source = narrow(flat(compose.input(call, 2)), 0, 0, index.extent(0));
  return {reshape(put(x, 0, index, source), shape).array};
}

/// ONNX's negative indices count from the end, which Heddle's do not.
Outputs scatter_from_the_end(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0), index = compose.input(call, 1);
  const std::int64_t axis = call.integer("axis", 0);
  const double extent = static_cast<double>(x.extent(front_axis(axis, x.rank())));
  const Value counted = where(index < like(index, 0), index + extent, index);
  return {step("ScatterElements", {x, counted, compose.input(call, 2)}, {{"axis", axis}}).array};
}

/// A copy with another part.
Outputs select_scatter(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  const int axis = front_axis(call.integer("dim", 0), x.rank());
  const std::int64_t index = call.integer("index", 0);
  const std::int64_t place = index < 0 ? index + x.extent(axis) : index;
  return {put(x, axis, compose.arange(place, place + 1), unsqueeze(compose.input(call, 1), axis)).array};
}
Outputs slice_scatter(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  const int axis = front_axis(call.integer("dim", 0), x.rank());
  const auto bound = [&](std::int64_t place) {
    const std::int64_t counted = place < 0 ? place + x.extent(axis) : place;
    return counted < x.extent(axis) ? counted : x.extent(axis);
  };
  const Value index = compose.arange(bound(call.integer("start", 0)), bound(call.integer("end", x.extent(axis))),
                                     call.integer("step", 1));
  return {put(x, axis, index, compose.input(call, 1)).array};
}

/// Rows of a tensor of places, as numbers of the slices that they name, and how many axes each row names.
Value slice_numbers(const Value& x, const Value& index, int& depth) {
  const Value rows =
      reshape(index, {index.array.size() / index.extent(index.rank() - 1), index.extent(index.rank() - 1)});
  depth = static_cast<int>(rows.extent(1));
  Value number = narrow(rows, 1, 0, 1);
  for (int i = 1; i < depth; ++i) number = static_cast<double>(x.extent(i)) * number + narrow(rows, 1, i, 1);
  return flat(number);
}
Extents slices_of(const Value& x, int depth) {
  const Extents leading(x.array.shape.begin(), x.array.shape.begin() + depth);
  return {size_of(leading), x.array.size() / size_of(leading)};
}
Outputs gather_nd(const Composer& compose, const Call& call) {
  int depth = 0;
  const Value x = compose.input(call, 0), index = compose.input(call, 1);
  const Value number = slice_numbers(x, index, depth);
  Extents shape(index.array.shape.begin(), index.array.shape.end() - 1);
  shape.insert(shape.end(), x.array.shape.begin() + depth, x.array.shape.end());
  return {reshape(taken(reshape(x, slices_of(x, depth)), 0, number), shape).array};
}
/// Slices joined along axis 0 of a matrix.
Value reduced_slices(const Value& matrix, const Value& number, const Value& source, const std::string& how,
                     bool include_self) {
  const Value index = expanded(unsqueeze(number, 1), source.array.shape);
  return step("scatter_reduce", {matrix, matrix, index, source},
              {{"dim", 0}, {"reduce", how}, {"include_self", include_self}});
}
Outputs scatter_nd(const Composer& compose, const Call& call) {
  int depth = 0;
  const Value x = compose.input(call, 0), source = compose.input(call, 2);
  const Value number = slice_numbers(x, compose.input(call, 1), depth);
  const Value slices = reshape(source, {number.extent(0), source.array.size() / number.extent(0)});
  const char* const how = call.text_is("reduction", "max") ? "amax" : "amin";
  return {reshape(reduced_slices(reshape(x, slices_of(x, depth)), number, slices, how, true), x.array.shape).array};
}
Outputs index_reduce(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0), index = compose.input(call, 2), source = compose.input(call, 3);
  const char* how = "mean";
  for (const char* const name : {"prod", "amin", "amax"})
    if (call.text_is("reduce", name)) how = name;
  const bool include_self = call.flag("include_self", true);
  if (x.rank() == 0)
    return {reshape(reduced_slices(reshape(x, {1, 1}), index, reshape(source, {1, 1}), how, include_self), {}).array};
  if (x.rank() != 2 || call.integer("dim", 0) != 1) throw NotServed{"not for this rank or axis"};
  return {step("t", {reduced_slices(step("t", {x}), index, step("t", {source}), how, include_self)}).array};
}

Outputs is_in(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  return {step("any", {unsqueeze(x, -1) == compose.input(call, 1)}, {{"dim", x.rank()}}).array};
}

/// 1 where a condition holds, added up along an axis, as int64.
Value counted(const Value& condition, int axis) {
  const Value number = sum(where(condition, like_float(condition, 1), like_float(condition, 0)), axis);
  return map("long", number);
}

/// How many bounds are not greater than x (`right`), or less.
Value place_among(const Value& x, const Value& bounds, bool right) {
  const Value one = unsqueeze(x, -1);
  return counted(right ? !(one < bounds) : bounds < one, x.rank());
}
Outputs bucketize(const Composer& compose, const Call& call) {
  const Value place = place_among(compose.input(call, 0), compose.input(call, 1), call.flag("right", false));
  return {call.flag("out_int32", false) ? map("int", map("float", place)).array : place.array};
}
Outputs searchsorted(const Composer& compose, const Call& call) {
  return {place_among(compose.input(call, 1), compose.input(call, 0), call.flag("right", false)).array};
}

/// Each slice as often as a tensor says.
Outputs repeat_each(const Composer& compose, const Call& call) {
  const Value x = compose.input(call, 0);
  const Value ends = step("cumsum", {map("float", compose.input(call, 1))}, {{"dim", 0}});
  const auto count = static_cast<std::int64_t>(element(ends.array, ends.array.size() - 1));
  const Value index = place_among(map("float", compose.arange(0, count)), ends, true);
  return {taken(x, front_axis(call.integer("dim", 0), x.rank()), index).array};
}

Outputs bincount(const Composer& compose, const Call& call) {
  const Value x = compose.real_input(call, 0);
  const auto greatest = static_cast<std::int64_t>(element(map("amax", x).array, 0));
  const std::int64_t bins = std::max(call.integer("minlength", 0), greatest + 1);
  return {counted(unsqueeze(x, -1) == map("float", compose.arange(0, bins)), 0).array};
}

/// The last bin has its end.
Outputs histc(const Composer& compose, const Call& call) {
  const Value x = flat(compose.input(call, 0));
  const std::int64_t bins = call.integer("bins", 100);
  double least = call.number("min", 0), greatest = call.number("max", 0);
  if (least == greatest && x.array.size() > 0) {
    least = element(map("amin", x).array, 0);
    greatest = element(map("max", x).array, 0);
  }
  const double scale = least < greatest ? static_cast<double>(bins) / (greatest - least) : 0;
  const Value inside = map("minimum", map("floor", scale * (x - least)), like(x, static_cast<double>(bins - 1)));
  const Value bin = where(x < like(x, least), like(x, -1), where(like(x, greatest) < x, like(x, -1), inside));
  const Value numbers = map("float", compose.arange(0, bins));
  const Value own = x.array.type == ElementType::float64 ? map("double", numbers) : numbers;
  const Value hits = unsqueeze(bin, -1) == own;
  return {sum(where(hits, like(x, 1), like(x, 0)), 0).array};
}

}  // namespace

void add_composed_indexing(Registry& registry) {
  serve_composed<compress>(registry, "Compress");
  serve_composed<one_hot>(registry, "OneHot");
  serve_composed<get_item>(registry, "getitem");
  serve_composed<index_put>(registry, "index_put");
  serve_composed<put_flat>(registry, "put");
  serve_composed<masked_scatter>(registry, "masked_scatter");
  serve_composed<select_scatter>(registry, "select_scatter");
  serve_composed<slice_scatter>(registry, "slice_scatter");
  serve_composed<gather_nd>(registry, "GatherND");
  serve_composed<scatter_nd>(registry, "ScatterND");
  serve_composed<index_reduce>(registry, "index_reduce");
  serve_composed<scatter_from_the_end>(registry, "ScatterElements");
  serve_composed<is_in>(registry, "isin");
  serve_composed<bucketize>(registry, "bucketize");
  serve_composed<searchsorted>(registry, "searchsorted");
  serve_composed<repeat_each>(registry, "repeat_interleave");
  serve_composed<bincount>(registry, "bincount");
  serve_composed<histc>(registry, "histc");
}

}  // namespace conformance
