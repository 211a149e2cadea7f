#include "conformance/call.hpp"

#include <charconv>
#include <limits>
#include <string>
#include <string_view>

#include "conformance/call_parts.hpp"
#include "conformance/npy.hpp"

namespace conformance {
namespace {

const Attribute& find(const CallParts& parts, const char* name) {
  const auto found = parts.attributes->find(std::string_view(name));
  if (found == parts.attributes->end()) throw BadCase(std::string("the attribute ") + name + " is missing");
  return found->second;
}

template <class Number>
Number parse(const char* name, std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw BadCase(std::string("the attribute ") + name + " = '" + std::string(text) + "' is not a number");
  return value;
}

}  // namespace

int Call::opset() const { return parts_->opset > 0 ? parts_->opset : std::numeric_limits<int>::max(); }
bool Call::is_pytorch() const { return parts_->is_pytorch; }
Layout Call::layout() const { return parts_->layout; }

int Call::input_count() const { return static_cast<int>(parts_->inputs.size()); }
bool Call::has_input(int position) const {
  return position < input_count() && parts_->inputs[static_cast<std::size_t>(position)] != nullptr;
}
const Array& Call::input(int position) const {
  if (!has_input(position)) throw BadCase("input " + std::to_string(position) + " is missing");
  return *parts_->inputs[static_cast<std::size_t>(position)];
}
int Call::output_count() const { return parts_->output_count; }
const Array& Call::cotangent(int output) const {
  if (parts_->cotangents == nullptr || static_cast<std::size_t>(output) >= parts_->cotangents->size())
    throw BadCase("there is no gradient of output " + std::to_string(output));
  return (*parts_->cotangents)[static_cast<std::size_t>(output)];
}

bool Call::has(const char* attribute) const {
  return parts_->attributes->find(std::string_view(attribute)) != parts_->attributes->end();
}
std::int64_t Call::integer(const char* attribute, std::int64_t fallback) const {
  return has(attribute) ? parse<std::int64_t>(attribute, find(*parts_, attribute).text) : fallback;
}
double Call::number(const char* attribute, double fallback) const {
  return has(attribute) ? parse<double>(attribute, find(*parts_, attribute).text) : fallback;
}
std::vector<std::int64_t> Call::integers(const char* attribute) const {
  const Attribute& found = find(*parts_, attribute);
  if (found.tensor) return integers_of(*found.tensor);
  std::vector<std::int64_t> values;
  std::string_view text = found.text;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    values.push_back(parse<std::int64_t>(attribute, text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return values;
}
bool Call::text_is(const char* attribute, const char* text) const {
  return has(attribute) && find(*parts_, attribute).text == text;
}
const Array& Call::tensor(const char* attribute) const {
  const Attribute& found = find(*parts_, attribute);
  if (!found.tensor) throw BadCase(std::string("the attribute ") + attribute + " is not an array");
  return *found.tensor;
}
ElementType Call::element_type(const char* attribute) const {
  const std::string& text = find(*parts_, attribute).text;
  for (int i = 0; i <= static_cast<int>(ElementType::float64); ++i)
    if (text == name_of(static_cast<ElementType>(i))) return static_cast<ElementType>(i);
  throw BadCase(std::string("the attribute ") + attribute + " = '" + text + "' is not an element type");
}

std::vector<std::int64_t> integers_of(const Array& array) {
  if (is_floating(array.type)) throw BadCase(std::string("integers are wanted, not ") + name_of(array.type));
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < array.size(); ++i) {
    if (array.type == ElementType::int64) {
      std::int64_t value;
      const std::byte* const place = array.bytes.data() + static_cast<std::size_t>(i) * sizeof(value);
      __builtin_memcpy(&value, place, sizeof(value));
      values.push_back(value);
    } else {
      values.push_back(static_cast<std::int64_t>(element(array, i)));
    }
  }
  return values;
}

int front_axis(std::int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    throw BadCase("axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace conformance
