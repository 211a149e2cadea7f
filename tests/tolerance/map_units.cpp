// Units in the last place by map: 2, or what CUDA documents where that is more. half and bfloat16 compute in float and
// round once: 1 unit.
#include <cstring>

#include "tolerance/tolerance.hpp"

namespace tolerance {
namespace {

struct Entry {
  const char* name;
  double in_float;
  double in_double;
};

// "CUDA C++ Programming Guide", mathematical functions, greatest errors over the whole range; lgamma outside of
// (-10.001, -2.264), where its zeros lie.
constexpr Entry table[] = {
    {"tan", 4, 2},   {"atan2", 3, 2}, {"sinh", 3, 2},  {"asinh", 3, 3},   {"acosh", 4, 3},  {"atanh", 3, 2},
    {"pow", 4, 2},   {"erfc", 4, 5},  {"hypot", 3, 2}, {"erf", 2, 2},     {"lgamma", 6, 4}, {"cbrt", 2, 2},
    {"rsqrt", 2, 2}, {"expm1", 2, 2}, {"log1p", 2, 2}, {"sigmoid", 4, 4},
};

}  // namespace

double map_units(const char* name, Precision precision) {
  if (precision.digits < 24) return 1;
  for (const Entry& entry : table)
    if (std::strcmp(entry.name, name) == 0) return precision.digits == 24 ? entry.in_float : entry.in_double;
  return 2;
}

}  // namespace tolerance
