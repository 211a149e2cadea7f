// The driver's command line.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "conformance/run.hpp"

namespace conformance {

struct Options {
  Settings settings;
  std::string cases;              ///< a folder; empty: the repository's own
  std::string served;             ///< a file; empty: the repository's own, where the cases are its own too
  std::string differs;            ///< a file; empty: the repository's own
  std::vector<std::string> only;  ///< operators; empty: all
  bool list = false;
  bool verbose = false;
  bool help = false;
};

/// A command line that can't be followed.
class BadOption : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

extern const char* const usage;

Options parse_options(const std::vector<std::string>& arguments);

}  // namespace conformance
