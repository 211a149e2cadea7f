// Operator name -> how Heddle computes it, on each device.
#pragma once

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
  /// nullptr where no handler has that name.
  const Operator* find(const char* name) const;
  const std::vector<Operator>& operators() const { return operators_; }

 private:
  std::vector<Operator> operators_;
};

/// Registers a handler: an object without state that has a template `Outputs operator()(const Call&, Device) const`.
template <class F>
void serve(Registry& registry, const char* name, F) {
  const Handler on_cpu = [](const Call& call) -> Outputs { return F{}(call, heddle::Cpu{}); };
#if HEDDLE_CUDA_COMPILER
  const Handler on_cuda = [](const Call& call) -> Outputs { return F{}(call, heddle::Cuda{}); };
#else
  const Handler on_cuda = nullptr;
#endif
  registry.add({name, on_cpu, on_cuda});
}

/// Every operator file adds its family.
Registry all_operators();

}  // namespace conformance
