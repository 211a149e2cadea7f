// How far from the reference a result may be. The one place that says so: each function gives, for every element of the
// expected result, the greatest absolute difference that is allowed.
#pragma once

#include <heddle/core/dtype.hpp>

#include "reference/array.hpp"

namespace tolerance {

using reference::Array;

/// What decides the rounding of a floating-point type.
struct Precision {
  int digits;          ///< significant bits, the hidden one included
  int least_exponent;  ///< of the smallest denormal number, a power of 2
};

template <class T>
constexpr Precision precision_of() {
  if constexpr (std::is_same_v<T, heddle::half>) return {11, -24};
  if constexpr (std::is_same_v<T, heddle::bfloat16>) return {8, -133};
  if constexpr (std::is_same_v<T, float>) return {24, -149};
  return {53, -1074};
}

/// Half a unit in the last place of 1.
double unit_roundoff(Precision precision);

/// The distance between neighbours of that type at `value`.
double unit_in_last_place(Precision precision, double value);

/// Nothing is allowed: equal. For exact inputs, copies, selections, integers.
Array exact(const Array& want);

/// A number of units in the last place.
Array units(Precision precision, const Array& want, double count);

/// A map of that name, by the table in map_units.cpp.
Array map(const char* name, Precision precision, const Array& want);
template <class T>
Array map(const char* name, const Array& want) {
  return map(name, precision_of<T>(), want);
}
double map_units(const char* name, Precision precision);
/// The absolute bound that holds in a map's tails at x, where it is the greater one; 0 for most maps.
double map_tail(const char* name, Precision precision, double x);

/// A sum of `terms` products: 4 sqrt(terms) u_acc magnitude + u_out |want|, with `magnitude` the sum of the products'
/// absolute values.
Array sum(Precision accumulator, Precision out, std::int64_t terms, const Array& magnitude, const Array& want);
template <class T>
Array sum(std::int64_t terms, const Array& magnitude, const Array& want) {
  using Accumulator = heddle::accumulator_type<T>;
  return sum(precision_of<Accumulator>(), precision_of<T>(), terms, magnitude, want);
}

/// Operations put together of several: relative and absolute, by type.
Array composite(Precision precision, const Array& want);
template <class T>
Array composite(const Array& want) {
  return composite(precision_of<T>(), want);
}

}  // namespace tolerance
