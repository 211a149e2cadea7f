#include "conformance/opinfo.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>

#include "conformance/npy.hpp"
#include "conformance/signatures.hpp"
#include "heddle/core/half.hpp"

namespace conformance {
namespace {

namespace fs = std::filesystem;

/// The text before the separator, which `text` loses together with it; all of it where there is none.
std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

template <class Number>
Number number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw BadCase("'" + std::string(text) + "' is not a number");
  return value;
}

Extents extents(std::string_view text) {
  Extents read;
  while (!text.empty()) read.push_back(number<std::int64_t>(take_until(text, ',')));
  return read;
}

ElementType element_type(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(ElementType::float64); ++i)
    if (text == name_of(static_cast<ElementType>(i))) return static_cast<ElementType>(i);
  throw BadCase("'" + std::string(text) + "' is not an element type");
}

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const auto* const from = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof(T));
}

void append_element(std::vector<std::byte>& bytes, ElementType type, std::string_view text) {
  switch (type) {
    case ElementType::boolean:
      if (text != "0" && text != "1") throw BadCase("'" + std::string(text) + "' is neither 0 nor 1");
      return append(bytes, static_cast<std::uint8_t>(text == "1"));
    case ElementType::int8:
      return append(bytes, number<std::int8_t>(text));
    case ElementType::int16:
      return append(bytes, number<std::int16_t>(text));
    case ElementType::int32:
      return append(bytes, number<std::int32_t>(text));
    case ElementType::int64:
      return append(bytes, number<std::int64_t>(text));
    case ElementType::uint8:
      return append(bytes, number<std::uint8_t>(text));
    case ElementType::uint16:
      return append(bytes, number<std::uint16_t>(text));
    case ElementType::uint32:
      return append(bytes, number<std::uint32_t>(text));
    case ElementType::uint64:
      return append(bytes, number<std::uint64_t>(text));
    case ElementType::float16:
      return append(bytes, heddle::half(number<float>(text)));
    case ElementType::bfloat16:
      return append(bytes, heddle::bfloat16(number<float>(text)));
    case ElementType::float32:
      return append(bytes, number<float>(text));
    case ElementType::float64:
      return append(bytes, number<double>(text));
  }
}

/// "float32[2,3] 0.5 -1 2 7.25 nan -inf"
Array array(std::string_view text) {
  Array made;
  made.type = element_type(take_until(text, '['));
  made.shape = extents(take_until(text, ']'));
  while (!text.empty()) {
    const std::string_view one = take_until(text, ' ');
    if (!one.empty()) append_element(made.bytes, made.type, one);
  }
  if (made.bytes.size() != static_cast<std::size_t>(made.size()) * size_of(made.type))
    throw BadCase("an array has not as many elements as its shape says");
  return made;
}

/// The lines of a paragraph, in their order.
struct Line {
  std::string_view key;
  std::string_view value;
};
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (line.empty()) continue;
    const std::string_view key = take_until(line, ':');
    if (line.starts_with(' ')) line.remove_prefix(1);
    lines.push_back({key, line});
  }
  return lines;
}

/// "gradient.2" -> 2
std::size_t number_in(std::string_view key) {
  take_until(key, '.');
  return number<std::size_t>(key);
}

template <class T>
T& at(std::vector<T>& list, std::size_t place) {
  if (list.size() <= place) list.resize(place + 1);
  return list[place];
}

/// Fills in a case argument by argument.
class Arguments {
 public:
  explicit Arguments(Case& made) : made_(made), names_(parameters_of(made.op)) {}

  void add(std::string_view key, std::string_view value) {
    const bool positional = key.starts_with("arg.");
    take_until(key, '.');
    const std::string_view type = take_until(value, ':');
    const std::string name = positional ? name_at(number<std::size_t>(key), type) : std::string(key);
    if (type == "tensor") {
      add_tensor(place_of(name), array(value));
    } else if (type == "tensors") {
      std::size_t count = 0;
      const std::size_t first = place_of(name);
      while (!value.empty()) add_tensor(first + count++, array(take_until(value, ';')));
      if (count > 1) names_.insert(names_.begin() + static_cast<std::ptrdiff_t>(first) + 1, count - 1, "");
      shift_ += count > 1 ? count - 1 : 0;
    } else if (type == "index") {
      add_index(place_of(name), value);
    } else if (type == "bool") {
      made_.attributes[name] = {value == "true" ? "1" : "0"};
    } else if (type != "none") {
      made_.attributes[name] = {std::string(value)};
    }
  }

  /// The place among the inputs of the tensor with that number.
  std::size_t input_of(std::size_t tensor) const {
    if (tensor >= places_.size()) throw BadCase("there is no tensor " + std::to_string(tensor));
    return places_[tensor];
  }

 private:
  void add_tensor(std::size_t place, Array value) {
    at(made_.inputs, place) = std::move(value);
    places_.push_back(place);
  }
  /// Subscripts: masks and lists of places are inputs from `place` on, a slice is three attributes.
  void add_index(std::size_t place, std::string_view text) {
    while (!text.empty()) {
      std::string_view one = take_until(text, ';');
      if (one.starts_with('[')) {
        Array places{ElementType::int64, {0}, {}};
        for (const std::int64_t number : extents(one.substr(1, one.size() - 2))) {
          append(places.bytes, number);
          ++places.shape[0];
        }
        at(made_.inputs, place++) = std::move(places);
      } else if (one.find('[') != std::string_view::npos) {
        at(made_.inputs, place++) = array(one);
      } else {
        for (const char* const part : {"start", "end", "step"})
          if (const std::string_view bound = take_until(one, ':'); !bound.empty())
            made_.attributes[part] = {std::string(bound)};
      }
    }
  }
  std::string name_at(std::size_t argument, std::string_view type) const {
    if (argument + shift_ >= names_.size()) return "argument " + std::to_string(argument);
    const std::string& name = names_[argument + shift_];
    const std::size_t bar = name.find('|');
    if (bar == std::string::npos) return name;
    return type == "bool" ? name.substr(bar + 1) : name.substr(0, bar);
  }
  std::size_t place_of(const std::string& name) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    const std::ptrdiff_t place = found - names_.begin();
    if (found == names_.end()) names_.push_back(name);
    return static_cast<std::size_t>(place);
  }

  Case& made_;
  std::vector<std::string> names_;
  std::vector<std::size_t> places_;
  std::size_t shift_ = 0;  ///< how many inputs more than arguments there are so far
};

Kind kind_of(std::string_view text) {
  if (text == "gradient") return Kind::gradient;
  if (text == "error") return Kind::error;
  if (text == "forward" || text == "special") return Kind::forward;
  throw BadCase("the kind '" + std::string(text) + "' is unknown");
}

}  // namespace

std::vector<CasePlace> opinfo_cases(const fs::path& file) {
  std::ifstream stream(file);
  if (!stream) throw BadCase("can't open " + file.string());
  std::vector<CasePlace> places;
  CasePlace place{file, {}, {}};
  const auto finish = [&] {
    if (place.text.empty()) return;
    if (!place.text.starts_with("case: ")) throw BadCase(file.string() + ": a paragraph does not begin with its case");
    place.id = place.text.substr(6, place.text.find('\n') - 6);
    places.push_back(place);
    place.text.clear();
  };
  for (std::string line; std::getline(stream, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      finish();
    else
      place.text += line + '\n';
  }
  finish();
  return places;
}

Case parse_opinfo(std::string_view text) {
  Case made;
  made.is_pytorch = true;
  const std::vector<Line> lines = lines_of(text);
  for (const auto& [key, value] : lines) {
    if (key == "case") made.name = value;
    if (key == "op") made.op = value;
    if (key == "kind") made.kind = kind_of(value);
  }
  if (made.op.empty()) throw BadCase("the case names no op");

  Arguments arguments(made);
  std::vector<Array> updates;
  for (const auto& [key, value] : lines) {
    if (key.starts_with("arg.") || key.starts_with("kwarg.")) {
      arguments.add(key, value);
    } else if (key.starts_with("strides.")) {
      at(made.inputs, arguments.input_of(number_in(key)))->strides = extents(value);
    } else if (key.starts_with("output.")) {
      at(made.outputs, number_in(key)) = array(value);
    } else if (key.starts_with("update.")) {
      updates.push_back(array(value));
    } else if (key.starts_with("cotangent.")) {
      at(made.cotangents, number_in(key)) = array(value);
    } else if (key.starts_with("gradient.")) {
      at(made.gradients, arguments.input_of(number_in(key))) = array(value);
    } else if (key == "rtol") {
      made.tolerance.relative = number<double>(value);
    } else if (key == "atol") {
      made.tolerance.absolute = number<double>(value);
    } else if (key == "grad_rtol") {
      made.gradient_tolerance.relative = number<double>(value);
    } else if (key == "grad_atol") {
      made.gradient_tolerance.absolute = number<double>(value);
    } else if (key != "case" && key != "op" && key != "kind" && key != "source" && key != "error" && key != "message") {
      throw BadCase("unknown key '" + std::string(key) + "'");
    }
  }
  // What a call writes into its operands stands behind its outputs.
  for (Array& update : updates) made.outputs.emplace_back(std::move(update));
  if (made.kind != Kind::error && made.outputs.empty()) throw BadCase("the case has no outputs");
  return made;
}

}  // namespace conformance
