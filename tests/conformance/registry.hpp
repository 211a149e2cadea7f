// Operator name -> how Heddle computes it, on each device.
#pragma once

#include <initializer_list>
#include <vector>

#include "conformance/call.hpp"
#include "heddle/core/device.hpp"

namespace conformance {

using Handler = Outputs (*)(const Call&);

struct Operator {
  const char* name;
  Handler on_cpu;
  Handler on_cuda;  ///< nullptr in a driver built without CUDA
};

class Registry {
 public:
  void add(const Operator& op) { operators_.push_back(op); }
  void add_gradient(const Operator& op) { gradients_.push_back(op); }
  /// nullptr where no handler has that name.
  const Operator* find(const char* name) const;
  const Operator* find_gradient(const char* name) const;
  const std::vector<Operator>& operators() const { return operators_; }

 private:
  std::vector<Operator> operators_;
  std::vector<Operator> gradients_;
};

template <class F>
Operator operator_of(const char* name, F) {
  const Handler on_cpu = [](const Call& call) -> Outputs { return F{}(call, heddle::Cpu{}); };
#if HEDDLE_CUDA_COMPILER
  const Handler on_cuda = [](const Call& call) -> Outputs { return F{}(call, heddle::Cuda{}); };
#else
  const Handler on_cuda = nullptr;
#endif
  return {name, on_cpu, on_cuda};
}

/// Registers a handler under each of the names that it goes by: an object without state that has a template
/// `Outputs operator()(const Call&, Device) const`.
template <class F>
void serve(Registry& registry, std::initializer_list<const char*> names, F handler) {
  for (const char* const name : names) registry.add(operator_of(name, handler));
}
template <class F>
void serve(Registry& registry, const char* name, F handler) {
  serve(registry, {name}, handler);
}

/// Registers the gradient function of an operator: its outputs are the gradients with respect to the inputs from the
/// first on, or no_gradient(), given call.cotangent(i) for output i.
template <class F>
void serve_gradient(Registry& registry, const char* name, F handler) {
  registry.add_gradient(operator_of(name, handler));
}

/// Every operator file adds its family.
Registry all_operators();

}  // namespace conformance
