// A case: a folder with case.txt and arrays beside it. tests/data/conformance/README.md says what the lines mean.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/array.hpp"
#include "conformance/compare.hpp"

namespace conformance {

/// An attribute's text as written; the array where the text names one.
struct Attribute {
  std::string text;
  std::optional<Array> tensor;
};

using Attributes = std::map<std::string, Attribute, std::less<>>;

/// One operator call of a graph case.
struct Node {
  std::string op;
  std::vector<std::string> inputs;   ///< "" for an omitted one
  std::vector<std::string> outputs;  ///< "" for one that nobody wants
  Attributes attributes;
};

struct Case {
  std::string name;
  std::string op;
  int opset = 0;  ///< 0 where the case names none: the newest
  Attributes attributes;
  std::vector<std::optional<Array>> inputs;   ///< nullopt for an omitted one
  std::vector<std::optional<Array>> outputs;  ///< nullopt for one that is not compared
  Tolerance tolerance;
  std::vector<std::string> input_names;   ///< of graph cases
  std::vector<std::string> output_names;  ///< of graph cases
  std::vector<Node> nodes;                ///< of graph cases

  bool is_graph() const { return op == "graph"; }
};

/// "Add/add_int16": how lists and messages name a case.
std::string id_of(const std::filesystem::path& case_folder);

/// The case in a folder; throws BadCase where something is missing, damaged or unknown.
Case read_case(const std::filesystem::path& folder);

/// The folders below `root` that hold a case.txt, in order of their names; `root` itself may be one.
std::vector<std::filesystem::path> find_cases(const std::filesystem::path& root);

}  // namespace conformance
