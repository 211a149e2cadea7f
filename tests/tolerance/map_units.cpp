// How far a map may be off: units in the last place by map, for float and double. half and bfloat16 compute in float or
// by functions of their own and round once: 1 unit. Where a tail is named, its absolute bound holds where that is more.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tolerance/tolerance.hpp"

namespace tolerance {
namespace {

enum class Tail { none, activation, operands, zeros };

struct Entry {
  const char* name;
  double in_float;
  double in_double;
  Tail tail = Tail::none;
};

// All others: 2. More where CUDA documents more ("CUDA C++ Programming Guide", mathematical functions, greatest
// errors), and 4 for activations put together of several functions.
constexpr Entry table[] = {
    {"abs", 0, 0},
    {"sign", 0, 0},
    {"floor", 0, 0},
    {"ceil", 0, 0},
    {"round", 0, 0},
    {"trunc", 0, 0},
    {"unary -", 0, 0},
    {"maximum", 0, 0},
    {"minimum", 0, 0},
    {"clamp", 0, 0},
    {"%", 0, 0},
    {"relu", 0, 0},
    {"relu6", 0, 0},
    {"hardtanh", 0, 0},
    {"threshold", 0, 0},
    {"nan_to_num", 0, 0},
    {"fmax", 0, 0},
    {"fmin", 0, 0},
    {"copysign", 0, 0},
    {"frac", 0, 0},
    {"heaviside", 0, 0},
    {"hardshrink", 0, 0},
    {"==", 0, 0},
    {"!=", 0, 0},
    {"<", 0, 0},
    {"<=", 0, 0},
    {">", 0, 0},
    {">=", 0, 0},
    {"softshrink", 0.5, 0.5},
    {"remainder", 0.5, 0.5},
    {"lerp", 2, 2, Tail::operands},
    {"logaddexp", 4, 4, Tail::activation},
    {"logaddexp2", 4, 4, Tail::activation},
    {"+", 0.5, 0.5},
    {"-", 0.5, 0.5},
    {"*", 0.5, 0.5},
    {"/", 0.5, 0.5},
    {"square", 0.5, 0.5},
    {"sqrt", 0.5, 0.5},
    {"reciprocal", 0.5, 0.5},
    {"tan", 4, 2},
    {"erfc", 4, 5},
    {"asinh", 3, 3},
    {"acosh", 4, 3},
    {"atanh", 4, 4},
    {"pow", 4, 4},
    {"atan2", 4, 4},
    {"hypot", 4, 4},
    {"lgamma", 6, 6, Tail::zeros},
    {"sigmoid", 4, 4, Tail::activation},
    {"silu", 4, 4, Tail::activation},
    {"gelu", 4, 4, Tail::activation},
    {"gelu_tanh", 4, 4, Tail::activation},
    {"mish", 4, 4, Tail::activation},
    {"tanhshrink", 4, 4, Tail::activation},
    {"logsigmoid", 4, 4},
    {"softplus", 4, 4},
    {"softsign", 4, 4},
    {"elu", 2, 2},
    {"celu", 3, 3},
    {"selu", 4, 4},
};

const Entry* find(const char* name) {
  for (const Entry& entry : table)
    if (std::strcmp(entry.name, name) == 0) return &entry;
  return nullptr;
}

}  // namespace

double map_units(const char* name, Precision precision) {
  const Entry* const entry = find(name);
  if (precision.digits < 24) return 1;
  if (entry == nullptr) return 2;
  return precision.digits == 24 ? entry->in_float : entry->in_double;
}

double map_tail(const char* name, Precision precision, double x) {
  const Entry* const entry = find(name);
  const bool is_double = precision.digits == 53;
  if (entry == nullptr || entry->tail == Tail::none) return 0;
  if (entry->tail == Tail::zeros) return is_double ? 1e-12 : 1e-6;
  // What cancels is as exact as the operands.
  if (entry->tail == Tail::operands) return 2 * std::ldexp(std::fabs(x), is_double ? -53 : -24);
  return 4 * std::ldexp(1.0, is_double ? -53 : -24) * std::max(1.0, std::fabs(x));
}

}  // namespace tolerance
