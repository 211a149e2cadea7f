// Operators of the cases that are a few of Heddle's in a row, as a user writes them: each step is a registered
// operator, computed on the device of the call from operands in its layout. They cost no instantiation.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "conformance/call.hpp"
#include "conformance/registry.hpp"
#include "conformance/run.hpp"

namespace conformance {

/// An attribute of a step.
struct Option {
  Option(const char* key, const char* value) : name(key), text(value) {}
  Option(const char* key, const std::string& value) : name(key), text(value) {}
  Option(const char* key, bool value) : name(key), text(value ? "1" : "0") {}
  Option(const char* key, int value) : name(key), text(std::to_string(value)) {}
  Option(const char* key, std::int64_t value) : name(key), text(std::to_string(value)) {}
  Option(const char* key, double value);
  Option(const char* key, const std::vector<std::int64_t>& values);
  const char* name;
  std::string text;
};

/// A step's result, with what the next step needs.
struct Value {
  Array array;
  Settings settings{};

  int rank() const { return array.rank(); }
  std::int64_t extent(int axis) const { return array.shape[static_cast<std::size_t>(axis)]; }
};

/// Calls operators by PyTorch's or ONNX's names.
class Composer {
 public:
  explicit Composer(const Settings& settings) : settings_(settings) {}

  Value of(const Array& array) const { return {array, settings_}; }
  /// Input i of a call; as float where it is of integers or bool.
  Value input(const Call& call, int i) const { return of(call.input(i)); }
  Value real_input(const Call& call, int i) const;
  /// float32 numbers, evenly spaced; int64 numbers first, first + step, … before `end`.
  Value linspace(double first, double last, std::int64_t count) const;
  Value arange(std::int64_t first, std::int64_t end, std::int64_t step = 1) const;

 private:
  Settings settings_;
};

Outputs run_step(const Settings& settings, const char* op, const std::vector<const Array*>& inputs,
                 const std::vector<Option>& options);
/// The first result, and all of them, of an operator.
Value step(const char* op, std::initializer_list<Value> inputs, const std::vector<Option>& options = {});
std::vector<Value> steps(const char* op, const std::vector<Value>& inputs, const std::vector<Option>& options = {});

/// A number as a tensor of rank 0, of the type of x.
Value like(const Value& x, double number);

/// As float, whatever x is of.
Value like_float(const Value& x, float number);

Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);
Value operator*(const Value& a, const Value& b);
Value operator/(const Value& a, const Value& b);
Value operator-(const Value& a);
inline Value operator+(const Value& a, double b) { return a + like(a, b); }
inline Value operator-(const Value& a, double b) { return a - like(a, b); }
inline Value operator-(double a, const Value& b) { return like(b, a) - b; }
inline Value operator*(double a, const Value& b) { return like(b, a) * b; }
inline Value operator/(const Value& a, double b) { return a / like(a, b); }
Value operator<(const Value& a, const Value& b);
Value operator==(const Value& a, const Value& b);
Value operator!(const Value& a);

Value map(const char* op, const Value& x);
Value map(const char* op, const Value& x, const Value& y);
Value where(const Value& condition, const Value& a, const Value& b);
Value reshape(const Value& x, const Extents& shape);
Value unsqueeze(const Value& x, int axis);
Value narrow(const Value& x, int axis, std::int64_t start, std::int64_t length);
Value concat(const std::vector<Value>& parts, int axis);
Value permute(const Value& x, const std::vector<std::int64_t>& order);
Value norm(const Value& x, double order, int axis, bool keep_dims);
Value sum(const Value& x, int axis, bool keep_dims = false);

/// A composed operator: its outputs, given a call.
using Composition = Outputs (*)(const Composer&, const Call&);

template <Composition F>
Outputs composed_on_cpu(const Call& call) {
  return F(Composer({Device::cpu, call.layout()}), call);
}
template <Composition F>
Outputs composed_on_cuda(const Call& call) {
  return F(Composer({Device::cuda, call.layout()}), call);
}
/// Where the operator's own handler refuses a call.
template <Composition F>
void serve_composed(Registry& registry, const char* name) {
  const bool has_cuda = registry.operators().front().on_cuda != nullptr;
  registry.add({name, composed_on_cpu<F>, has_cuda ? composed_on_cuda<F> : nullptr});
}

/// After all others, of which they are made.
void add_composed(Registry& registry);
void add_composed_losses(Registry& registry);
void add_composed_math(Registry& registry);
void add_composed_indexing(Registry& registry);
void add_composed_shapes(Registry& registry);

}  // namespace conformance
