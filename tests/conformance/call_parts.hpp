// The inside of a Call, for the driver and its tests.
#pragma once

#include <vector>

#include "conformance/call.hpp"
#include "conformance/case.hpp"

namespace conformance {

struct CallParts {
  int opset = 0;
  Layout layout = Layout::packed;
  std::vector<const Array*> inputs;  ///< nullptr for an omitted one
  int output_count = 1;
  const Attributes* attributes = nullptr;
  bool is_pytorch = false;
  const std::vector<Array>* cotangents = nullptr;
};

}  // namespace conformance
