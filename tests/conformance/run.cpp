#include "conformance/run.hpp"

#include <exception>

#include "conformance/call_parts.hpp"
#include "conformance/npy.hpp"

namespace conformance {
namespace {

Outputs call_handler(const Operator* found, Device device, const CallParts& parts) {
  if (found == nullptr) throw NotServed{"no such operator"};
  const Handler handler = device == Device::cpu ? found->on_cpu : found->on_cuda;
  if (handler == nullptr) throw NotServed{"not built for this device"};
  return handler(Call(parts));
}

/// By the first handler of that name that does not refuse the call.
Outputs call_any(const Registry& registry, Device device, const std::string& op, const CallParts& parts) {
  const Operator* found = registry.find(op.c_str());
  try {
    return call_handler(found, device, parts);
  } catch (const NotServed&) {
    const Operator* const end = registry.operators().data() + registry.operators().size();
    while (found != nullptr && ++found != end && op != found->name) continue;
    if (found == nullptr || found == end) throw;
  }
  return call_handler(found, device, parts);
}

Outputs call_operator(const Registry& registry, Device device, const std::string& op, const CallParts& parts) {
  Outputs outputs = call_any(registry, device, op, parts);
  if (outputs.size() < static_cast<std::size_t>(parts.output_count)) throw NotServed{"an output is not served"};
  return outputs;
}

CallParts parts_of(const Settings& settings, const Case& given) {
  CallParts parts;
  parts.opset = given.opset;
  parts.layout = settings.layout;
  parts.attributes = &given.attributes;
  parts.output_count = static_cast<int>(given.outputs.size());
  parts.is_pytorch = given.is_pytorch;
  parts.cotangents = &given.cotangents;
  for (const std::optional<Array>& input : given.inputs) parts.inputs.push_back(input ? &*input : nullptr);
  return parts;
}

Outputs run_single(const Registry& registry, const Settings& settings, const Case& given) {
  return call_operator(registry, settings.device, given.op, parts_of(settings, given));
}

Outputs run_graph(const Registry& registry, const Settings& settings, const Case& given) {
  std::map<std::string, Array> values;
  for (std::size_t i = 0; i < given.inputs.size(); ++i)
    if (given.inputs[i]) values[given.input_names[i]] = *given.inputs[i];
  for (const Node& node : given.nodes) {
    CallParts parts;
    parts.opset = given.opset;
    parts.layout = settings.layout;
    parts.attributes = &node.attributes;
    parts.output_count = static_cast<int>(node.outputs.size());
    parts.is_pytorch = given.is_pytorch;
    for (const std::string& name : node.inputs) {
      const auto found = values.find(name);
      if (!name.empty() && found == values.end()) throw BadCase("node " + node.op + " reads the unknown " + name);
      parts.inputs.push_back(name.empty() ? nullptr : &found->second);
    }
    Outputs outputs = call_operator(registry, settings.device, node.op, parts);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) values[node.outputs[i]] = std::move(outputs[i]);
  }
  Outputs outputs;
  for (const std::string& name : given.output_names) {
    const auto found = values.find(name);
    if (found == values.end()) throw BadCase("no node gives the output " + name);
    outputs.push_back(found->second);
  }
  return outputs;
}

std::string difference_of(const Outputs& got, const Case& given) {
  std::string text;
  for (std::size_t i = 0; i < given.outputs.size(); ++i) {
    if (!given.outputs[i]) continue;
    const std::string one = difference(got[i], *given.outputs[i], given.tolerance);
    if (one.empty()) continue;
    if (!text.empty()) text += "; ";
    if (given.outputs.size() > 1) text += "output " + std::to_string(i) + ": ";
    text += one;
  }
  return text;
}

/// Adds to a passed result how its gradients are, where the operator has a gradient function.
void check_gradients(const Registry& registry, const Settings& settings, const Case& given, Result& result) {
  result.has_gradients = true;
  Outputs got;
  try {
    got = call_handler(registry.find_gradient(given.op.c_str()), settings.device, parts_of(settings, given));
  } catch (const NotServed&) {
    return;
  }
  std::string text;
  for (std::size_t i = 0; i < given.gradients.size() && i < got.size(); ++i) {
    if (!given.gradients[i] || got[i].shape == no_gradient().shape) continue;
    result.checked_gradients = true;
    const std::string one = difference(got[i], *given.gradients[i], given.gradient_tolerance);
    if (!one.empty()) text += (text.empty() ? "" : "; ") + ("gradient of input " + std::to_string(i)) + ": " + one;
  }
  if (!text.empty()) result = {Status::failed, text, true, true};
}

Result judged(const Exception& exception, Exception::Ours seen, const std::string& message) {
  if (exception.ours == seen) return {Status::differs_on_purpose, message};
  return {Status::failed, "listed as differing on purpose, but " + message};
}

Result not_served(const Exception* exception, const char* why) {
  if (exception != nullptr && exception->ours == Exception::Ours::no_such_call)
    return {Status::differs_on_purpose, why};
  return {Status::not_served, why};
}

/// A call that must fail.
Result run_failing(const Registry& registry, const Settings& settings, const Case& given, const Exception* exception) {
  const std::string message = "it gives a result and does not throw";
  try {
    run_single(registry, settings, given);
  } catch (const NotServed& refusal) {
    return not_served(exception, refusal.why);
  } catch (const BadCase&) {
    return not_served(exception, "the arguments can't be written");
  } catch (const std::exception& error) {
    if (exception != nullptr) return {Status::failed, "listed as differing on purpose, but it agrees"};
    return {Status::passed, std::string("it throws: ") + error.what()};
  }
  if (exception != nullptr) return judged(*exception, Exception::Ours::value, message);
  return {Status::failed, message};
}

}  // namespace

Result run_case(const Registry& registry, const Settings& settings, const Case& given, const Exception* exception) {
  using Ours = Exception::Ours;
  if (given.kind == Kind::error) return run_failing(registry, settings, given, exception);
  try {
    const Outputs got = given.is_graph() ? run_graph(registry, settings, given) : run_single(registry, settings, given);
    const std::string text = difference_of(got, given);
    if (exception != nullptr && text.empty()) return {Status::failed, "listed as differing on purpose, but it agrees"};
    if (exception != nullptr) return judged(*exception, Ours::value, text);
    Result result{text.empty() ? Status::passed : Status::failed, text};
    if (text.empty() && given.kind == Kind::gradient) check_gradients(registry, settings, given, result);
    return result;
  } catch (const NotServed& refusal) {
    return not_served(exception, refusal.why);
  } catch (const BadCase& error) {
    return {Status::failed, std::string("bad case: ") + error.what()};
  } catch (const std::exception& error) {
    if (exception != nullptr) return judged(*exception, Ours::error, std::string("it throws: ") + error.what());
    return {Status::failed, std::string("it throws: ") + error.what()};
  }
}

}  // namespace conformance
