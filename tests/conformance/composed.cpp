#include "conformance/composed.hpp"

#include <charconv>
#include <cstring>
#include <utility>

#include "conformance/call_parts.hpp"
#include "conformance/npy.hpp"
#include "heddle/core/half.hpp"

namespace conformance {
namespace {

const Registry& whole_registry() {
  static const Registry registry = all_operators();
  return registry;
}

std::string shortest(double value) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

std::string listed(const std::vector<std::int64_t>& values) {
  std::string text;
  for (const std::int64_t value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

template <class T>
Array scalar_array(ElementType type, T value) {
  Array made{type, {}, std::vector<std::byte>(sizeof(T))};
  std::memcpy(made.bytes.data(), &value, sizeof(T));
  return made;
}

}  // namespace

Option::Option(const char* key, double value) : name(key), text(shortest(value)) {}
Option::Option(const char* key, const std::vector<std::int64_t>& values) : name(key), text(listed(values)) {}

Outputs run_step(const Settings& settings, const char* op, const std::vector<const Array*>& inputs,
                 const std::vector<Option>& options) {
  const Operator* const found = whole_registry().find(op);
  if (found == nullptr) throw BadCase(std::string("a step names the unknown operator ") + op);
  const Handler handler = settings.device == Device::cpu ? found->on_cpu : found->on_cuda;
  if (handler == nullptr) throw NotServed{"not built for this device"};
  Attributes attributes;
  for (const Option& option : options) attributes[option.name] = {option.text};
  CallParts parts;
  parts.layout = settings.layout;
  parts.inputs = inputs;
  parts.attributes = &attributes;
  parts.is_pytorch = *op < 'A' || *op > 'Z';  // names with a capital are ONNX's
  return handler(Call(parts));
}

std::vector<Value> steps(const char* op, const std::vector<Value>& inputs, const std::vector<Option>& options) {
  std::vector<const Array*> arrays;
  for (const Value& input : inputs) arrays.push_back(&input.array);
  std::vector<Value> results;
  for (Array& output : run_step(inputs.at(0).settings, op, arrays, options))
    results.push_back({std::move(output), inputs[0].settings});
  return results;
}
Value step(const char* op, std::initializer_list<Value> inputs, const std::vector<Option>& options) {
  return steps(op, inputs, options).at(0);
}

Value Composer::real_input(const Call& call, int i) const {
  const Value given = input(call, i);
  return is_floating(given.array.type) ? given : step("float", {given});
}
Value Composer::linspace(double first, double last, std::int64_t count) const {
  return of(
      run_step(settings_, "linspace", {}, {{"start", first}, {"end", last}, {"steps", count}, {"dtype", "float32"}})
          .at(0));
}
Value Composer::arange(std::int64_t first, std::int64_t end, std::int64_t by) const {
  return of(run_step(settings_, "arange", {}, {{"start", first}, {"end", end}, {"step", by}}).at(0));
}

Value like(const Value& x, double number) {
  switch (x.array.type) {
    case ElementType::float32:
      return {scalar_array(x.array.type, static_cast<float>(number)), x.settings};
    case ElementType::float64:
      return {scalar_array(x.array.type, number), x.settings};
    case ElementType::int64:
      return {scalar_array(x.array.type, static_cast<std::int64_t>(number)), x.settings};
    case ElementType::int32:
      return {scalar_array(x.array.type, static_cast<std::int32_t>(number)), x.settings};
    case ElementType::uint8:
      return {scalar_array(x.array.type, static_cast<std::uint8_t>(number)), x.settings};
    default:
      throw NotServed{"not for this element type"};
  }
}

Value like_float(const Value& x, float number) { return {scalar_array(ElementType::float32, number), x.settings}; }

Value map(const char* op, const Value& x) { return step(op, {x}); }
Value map(const char* op, const Value& x, const Value& y) { return step(op, {x, y}); }

Value operator+(const Value& a, const Value& b) { return map("add", a, b); }
Value operator-(const Value& a, const Value& b) { return map("sub", a, b); }
Value operator*(const Value& a, const Value& b) { return map("mul", a, b); }
Value operator/(const Value& a, const Value& b) { return map("div", a, b); }
Value operator-(const Value& a) { return map("neg", a); }
Value operator<(const Value& a, const Value& b) { return map("lt", a, b); }
Value operator==(const Value& a, const Value& b) { return map("eq", a, b); }
Value operator!(const Value& a) { return map("logical_not", a); }

Value where(const Value& condition, const Value& a, const Value& b) { return step("where", {condition, a, b}); }
Value reshape(const Value& x, const Extents& shape) { return step("reshape", {x}, {{"shape", shape}}); }
Value unsqueeze(const Value& x, int axis) {
  Extents shape = x.array.shape;
  shape.insert(shape.begin() + (axis < 0 ? axis + x.rank() + 1 : axis), 1);
  return reshape(x, shape);
}
Value narrow(const Value& x, int axis, std::int64_t start, std::int64_t length) {
  return step("narrow", {x}, {{"dim", axis}, {"start", start}, {"length", length}});
}
Value concat(const std::vector<Value>& parts, int axis) { return steps("cat", parts, {{"dim", axis}}).at(0); }
Value permute(const Value& x, const std::vector<std::int64_t>& order) {
  return step("permute", {x}, {{"dims", order}});
}
Value norm(const Value& x, double order, int axis, bool keep_dims) {
  return step("linalg.vector_norm", {x}, {{"ord", order}, {"dim", axis}, {"keepdim", keep_dims}});
}
Value sum(const Value& x, int axis, bool keep_dims) {
  return step("sum", {x}, {{"dim", axis}, {"keepdim", keep_dims}});
}

void add_composed(Registry& registry) {
  add_composed_losses(registry);
  add_composed_math(registry);
  add_composed_indexing(registry);
  add_composed_shapes(registry);
}

}  // namespace conformance
