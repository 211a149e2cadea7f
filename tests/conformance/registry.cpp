#include "conformance/registry.hpp"

#include <cstring>

namespace conformance {

namespace {

const Operator* find_in(const std::vector<Operator>& operators, const char* name) {
  for (const Operator& op : operators)
    if (std::strcmp(op.name, name) == 0) return &op;
  return nullptr;
}

}  // namespace

const Operator* Registry::find(const char* name) const { return find_in(operators_, name); }
const Operator* Registry::find_gradient(const char* name) const { return find_in(gradients_, name); }

}  // namespace conformance
