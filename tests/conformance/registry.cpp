#include "conformance/registry.hpp"

#include <cstring>

namespace conformance {

const Operator* Registry::find(const char* name) const {
  for (const Operator& op : operators_)
    if (std::strcmp(op.name, name) == 0) return &op;
  return nullptr;
}

}  // namespace conformance
