// Compares what an operation gave with what a case expects, by the rule of the cases' README.
#pragma once

#include <string>

#include "conformance/array.hpp"

namespace conformance {

/// |got - want| <= absolute + relative * |want|; both 0: equal.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

/// Empty where they agree; else how many differ, the greatest difference, its index, both values and what was allowed.
/// Element types and shapes must agree; integers and booleans must be equal; NaN matches NaN, an infinity the same one.
std::string difference(const Array& got, const Array& want, const Tolerance& tolerance);

/// An element, widened; for integers beyond 2^53 it is rounded.
double element(const Array& array, std::int64_t index);

/// "(2, 3)", as Python writes it.
std::string to_string(const Extents& shape);

}  // namespace conformance
