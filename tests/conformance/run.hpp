// Runs one case and says how it went.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/call.hpp"
#include "conformance/case.hpp"
#include "conformance/registry.hpp"

namespace conformance {

enum class Device { cpu, cuda };

enum class Status { passed, failed, not_served, differs_on_purpose };

struct Result {
  Status status = Status::failed;
  std::string message;             ///< of a failure, or why it is not served
  bool has_gradients = false;      ///< whether the case has some,
  bool checked_gradients = false;  ///< and a gradient function was compared with them
};

/// A case whose result is another than the case says, because a rule of Heddle's is another.
struct Exception {
  enum class Ours { error, value, no_such_call };
  std::string pattern;  ///< the case's id; a '*' stands for any text
  Ours ours = Ours::error;
  std::string reason;
};

struct Settings {
  Device device = Device::cpu;
  Layout layout = Layout::packed;
};

/// Runs the case. A case of the list must still differ as the list says, else the entry is wrong and that is a failure.
Result run_case(const Registry& registry, const Settings& settings, const Case& given, const Exception* exception);

}  // namespace conformance
