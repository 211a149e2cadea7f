// The names of PyTorch's parameters, in their order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace conformance {

/// The parameters of an operator; of one that is not listed "self other".
std::vector<std::string> parameters_of(std::string_view op);

}  // namespace conformance
