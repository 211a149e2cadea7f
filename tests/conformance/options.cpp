#include "conformance/options.hpp"

#include <algorithm>

namespace conformance {

const char* const usage =
    R"(heddle_conformance [options] [folder of cases]

Runs operator cases and prints a table: operator, passed, failed, not yet served, differs on purpose.

  --device cpu|cuda       where to compute (default cpu)
  --layout packed|transposed|strided
                          how the operands lie in memory (default packed)
  --only OPERATOR         this operator's cases; may be given several times
  --list                  print the cases and run none
  --verbose               print each case with how it went
  --served FILE           operators that must pass as many cases as the file says
  --differs FILE          cases that differ on purpose
  --help

The folder is the repository's own unless given; only its own is compared with the list of served operators.
Exit code: 0 all served cases pass; 1 one fails, or an operator is served less than before; 2 wrong option, or a device
that this build can't compute on; 77 no usable CUDA device.
)";

Options parse_options(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 >= arguments.size()) throw BadOption(argument + " lacks a value");
      return arguments[++i];
    };
    const auto one_of = [&](const std::vector<std::string>& words) {
      const std::string& word = value();
      const auto found = std::find(words.begin(), words.end(), word);
      if (found == words.end()) throw BadOption(argument + " can't be '" + word + "'");
      return static_cast<int>(found - words.begin());
    };
    if (argument == "--device") {
      options.settings.device = static_cast<Device>(one_of({"cpu", "cuda"}));
    } else if (argument == "--layout") {
      options.settings.layout = static_cast<Layout>(one_of({"packed", "transposed", "strided"}));
    } else if (argument == "--only") {
      options.only.push_back(value());
    } else if (argument == "--served") {
      options.served = value();
    } else if (argument == "--differs") {
      options.differs = value();
    } else if (argument == "--list") {
      options.list = true;
    } else if (argument == "--verbose") {
      options.verbose = true;
    } else if (argument == "--help" || argument == "-h") {
      options.help = true;
    } else if (argument.starts_with("-")) {
      throw BadOption("unknown option " + argument);
    } else if (options.cases.empty()) {
      options.cases = argument;
    } else {
      throw BadOption("more than one folder of cases: " + argument);
    }
  }
  return options;
}

}  // namespace conformance
