// Cases of PyTorch's own tests: text files, one an operator. tests/data/opinfo/README.md says what the lines mean.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "conformance/case.hpp"

namespace conformance {

/// The paragraphs of a file; throws BadCase where one names no case.
std::vector<CasePlace> opinfo_cases(const std::filesystem::path& file);

/// The case that a paragraph describes. Its arguments become inputs and attributes by the names that signatures.hpp
/// gives them: a tensor becomes the input at its parameter's place, all else an attribute of its parameter's name.
Case parse_opinfo(std::string_view text);

}  // namespace conformance
