#include "conformance/run.hpp"

#include <exception>

#include "conformance/call_parts.hpp"
#include "conformance/npy.hpp"

namespace conformance {
namespace {

Outputs call_operator(const Registry& registry, Device device, const std::string& op, const CallParts& parts) {
  const Operator* const found = registry.find(op.c_str());
  if (found == nullptr) throw NotServed{"no such operator"};
  const Handler handler = device == Device::cpu ? found->on_cpu : found->on_cuda;
  if (handler == nullptr) throw NotServed{"not built for this device"};
  Outputs outputs = handler(Call(parts));
  if (outputs.size() < static_cast<std::size_t>(parts.output_count)) throw NotServed{"an output is not served"};
  return outputs;
}

Outputs run_single(const Registry& registry, const Settings& settings, const Case& given) {
  CallParts parts;
  parts.opset = given.opset;
  parts.layout = settings.layout;
  parts.attributes = &given.attributes;
  parts.output_count = static_cast<int>(given.outputs.size());
  for (const std::optional<Array>& input : given.inputs) parts.inputs.push_back(input ? &*input : nullptr);
  return call_operator(registry, settings.device, given.op, parts);
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

Result judged(const Exception& exception, Exception::Ours seen, const std::string& message) {
  if (exception.ours == seen) return {Status::differs_on_purpose, message};
  return {Status::failed, "listed as differing on purpose, but " + message};
}

}  // namespace

Result run_case(const Registry& registry, const Settings& settings, const Case& given, const Exception* exception) {
  using Ours = Exception::Ours;
  try {
    const Outputs got = given.is_graph() ? run_graph(registry, settings, given) : run_single(registry, settings, given);
    const std::string text = difference_of(got, given);
    if (exception != nullptr && text.empty()) return {Status::failed, "listed as differing on purpose, but it agrees"};
    if (exception != nullptr) return judged(*exception, Ours::value, text);
    return {text.empty() ? Status::passed : Status::failed, text};
  } catch (const NotServed& refusal) {
    if (exception != nullptr && exception->ours == Ours::no_such_call) return {Status::differs_on_purpose, refusal.why};
    return {Status::not_served, refusal.why};
  } catch (const BadCase& error) {
    return {Status::failed, std::string("bad case: ") + error.what()};
  } catch (const std::exception& error) {
    if (exception != nullptr) return judged(*exception, Ours::error, std::string("it throws: ") + error.what());
    return {Status::failed, std::string("it throws: ") + error.what()};
  }
}

}  // namespace conformance
