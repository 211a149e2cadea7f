// A case: a folder with case.txt and arrays beside it (tests/data/conformance/README.md says what the lines mean), or a
// paragraph of a text file (tests/data/opinfo/README.md).
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
  std::optional<Array> tensor{};
};

using Attributes = std::map<std::string, Attribute, std::less<>>;

/// One operator call of a graph case.
struct Node {
  std::string op;
  std::vector<std::string> inputs;   ///< "" for an omitted one
  std::vector<std::string> outputs;  ///< "" for one that nobody wants
  Attributes attributes;
};

/// What a case asks: outputs, outputs and gradients, or that the call fails.
enum class Kind { forward, gradient, error };

struct Case {
  std::string name;
  std::string op;
  Kind kind = Kind::forward;
  bool is_pytorch = false;  ///< attributes and defaults have PyTorch's meaning
  int opset = 0;            ///< 0 where the case names none: the newest
  Attributes attributes;
  std::vector<std::optional<Array>> inputs;   ///< nullopt for an omitted one
  std::vector<std::optional<Array>> outputs;  ///< nullopt for one that is not compared
  Tolerance tolerance;
  std::vector<Array> cotangents;                ///< of the outputs
  std::vector<std::optional<Array>> gradients;  ///< of the inputs; nullopt for one that has none
  Tolerance gradient_tolerance;
  std::vector<std::string> input_names;   ///< of graph cases
  std::vector<std::string> output_names;  ///< of graph cases
  std::vector<Node> nodes;                ///< of graph cases

  bool is_graph() const { return op == "graph"; }
};

/// "Add/add_int16": how lists and messages name the case of a folder.
std::string id_of(const std::filesystem::path& case_folder);

/// Where a case stands.
struct CasePlace {
  std::filesystem::path path;  ///< a folder, or a file of several cases
  std::string id;              ///< "Add/add_int16" or "add/03": how lists and messages name it
  std::string text;            ///< in a file of several: its lines
  std::string op() const { return id.substr(0, id.rfind('/')); }
};

/// The cases below `root`, which may be a single one: folders that hold a case.txt, and text files of cases, in order
/// of their paths.
std::vector<CasePlace> find_cases(const std::filesystem::path& root);

/// The case of that place; throws BadCase where something is missing, damaged or unknown.
Case read_case(const CasePlace& place);

/// The case in a folder.
Case read_case(const std::filesystem::path& folder);

}  // namespace conformance
