#include "conformance/case.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>

#include "conformance/npy.hpp"
#include "conformance/opinfo.hpp"

namespace conformance {
namespace {

namespace fs = std::filesystem;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \r\t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \r\t") - begin + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = trimmed(text.substr(0, end));
    if (!part.empty() || separator == ',') parts.emplace_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

template <class Number>
Number number(std::string_view text, const std::string& what) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw BadCase(what + " '" + std::string(text) + "' is not a number");
  return value;
}

Attribute attribute(std::string_view text, const fs::path& folder) {
  Attribute made{std::string(text), std::nullopt};
  if (text.starts_with('@')) made.tensor = read_npy(folder / text.substr(1));
  return made;
}

std::vector<std::optional<Array>> arrays(std::string_view names, const fs::path& folder) {
  std::vector<std::optional<Array>> read;
  for (const std::string& name : split(names, ' ')) {
    if (name == "-")
      read.emplace_back();
    else
      read.emplace_back(read_npy(folder / name));
  }
  return read;
}

/// "(x0,t0)" at the front of `text`, which is shortened by it.
std::vector<std::string> name_list(std::string_view& text) {
  const std::size_t end = text.find(')');
  if (!text.starts_with('(') || end == std::string_view::npos) throw BadCase("a node lacks a list in parentheses");
  std::vector<std::string> names = split(text.substr(1, end - 1), ',');
  for (std::string& name : names)
    if (name == "-") name.clear();
  text.remove_prefix(end + 1);
  return names;
}

/// "Transpose(x1)->(t0) perm=1,0"
Node node(std::string_view text, const fs::path& folder) {
  Node made;
  const std::size_t open = std::min(text.find('('), text.size());
  made.op = std::string(trimmed(text.substr(0, open)));
  text.remove_prefix(open);
  made.inputs = name_list(text);
  if (!text.starts_with("->")) throw BadCase("a node lacks '->'");
  text.remove_prefix(2);
  made.outputs = name_list(text);
  for (const std::string& word : split(text, ' ')) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw BadCase("a node's attribute '" + word + "' lacks '='");
    made.attributes[word.substr(0, equals)] = attribute(std::string_view(word).substr(equals + 1), folder);
  }
  return made;
}

Case parse_case(std::istream& stream, const fs::path& folder) {
  Case made;
  std::map<int, Node> nodes;
  bool has_outputs = false;
  for (std::string line; std::getline(stream, line);) {
    if (trimmed(line).empty()) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) throw BadCase("the line '" + line + "' lacks a colon");
    const std::string key(trimmed(std::string_view(line).substr(0, colon)));
    const std::string_view value = trimmed(std::string_view(line).substr(colon + 1));
    if (key == "name") {
      made.name = value;
    } else if (key == "op") {
      made.op = value;
    } else if (key == "opset") {
      if (!value.empty()) made.opset = number<int>(value, key);
    } else if (key == "inputs") {
      made.inputs = arrays(value, folder);
    } else if (key == "outputs") {
      made.outputs = arrays(value, folder);
      has_outputs = true;
    } else if (key == "rtol") {
      made.tolerance.relative = number<double>(value, key);
    } else if (key == "atol") {
      made.tolerance.absolute = number<double>(value, key);
    } else if (key == "input_names") {
      made.input_names = split(value, ' ');
    } else if (key == "output_names") {
      made.output_names = split(value, ' ');
    } else if (key.starts_with("attr.")) {
      made.attributes[key.substr(5)] = attribute(value, folder);
    } else if (key.starts_with("node.")) {
      nodes[number<int>(std::string_view(key).substr(5), key)] = node(value, folder);
    } else if (key != "source") {
      throw BadCase("unknown key '" + key + "'");
    }
  }
  if (made.op.empty()) throw BadCase("the case names no op");
  if (!has_outputs) throw BadCase("the case has no outputs");
  for (auto& [place, step] : nodes) made.nodes.push_back(std::move(step));
  if (made.is_graph() && (made.nodes.empty() || made.input_names.size() != made.inputs.size() ||
                          made.output_names.size() != made.outputs.size()))
    throw BadCase("a graph case needs nodes, and a name for each input and output");
  return made;
}

}  // namespace

std::string id_of(const fs::path& case_folder) {
  const fs::path folder = case_folder.lexically_normal();
  return (folder.parent_path().filename() / folder.filename()).generic_string();
}

Case read_case(const fs::path& folder) {
  std::ifstream stream(folder / "case.txt");
  if (!stream) throw BadCase("can't open " + (folder / "case.txt").string());
  return parse_case(stream, folder);
}

Case read_case(const CasePlace& place) { return place.text.empty() ? read_case(place.path) : parse_opinfo(place.text); }

std::vector<CasePlace> find_cases(const fs::path& root) {
  std::vector<fs::path> paths;
  if (fs::is_regular_file(root)) {
    paths.push_back(fs::canonical(root));
  } else {
    if (!fs::is_directory(root)) throw BadCase(root.string() + " is not a folder");
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root))
      if (entry.path().extension() == ".txt") paths.push_back(fs::canonical(entry.path()));
  }
  std::sort(paths.begin(), paths.end());
  std::vector<CasePlace> places;
  for (const fs::path& path : paths) {
    if (path.filename() == "case.txt") {
      places.push_back({path.parent_path(), id_of(path.parent_path()), {}});
    } else {
      for (CasePlace& place : opinfo_cases(path)) places.push_back(std::move(place));
    }
  }
  return places;
}

}  // namespace conformance
