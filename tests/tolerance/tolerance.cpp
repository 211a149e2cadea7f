#include "tolerance/tolerance.hpp"

#include <cmath>

namespace tolerance {
namespace {

template <class F>
Array each(const Array& want, F allowed) {
  Array result(want.shape);
  for (std::int64_t i = 0; i < want.size(); ++i) result[i] = allowed(want[i]);
  return result;
}

}  // namespace

double unit_roundoff(Precision precision) { return std::ldexp(1.0, -precision.digits); }

double unit_in_last_place(Precision precision, double value) {
  if (!std::isfinite(value)) return 0;
  const int exponent = value == 0 ? precision.least_exponent : std::ilogb(value) - precision.digits + 1;
  return std::ldexp(1.0, exponent > precision.least_exponent ? exponent : precision.least_exponent);
}

Array exact(const Array& want) { return Array(want.shape); }

Array units(Precision precision, const Array& want, double count) {
  return each(want, [&](double value) { return count * unit_in_last_place(precision, value); });
}

Array map(const char* name, Precision precision, const Array& want) {
  return units(precision, want, map_units(name, precision));
}

Array sum(Precision accumulator, Precision out, std::int64_t terms, const Array& magnitude, const Array& want) {
  const double factor = 4 * std::sqrt(static_cast<double>(terms)) * unit_roundoff(accumulator);
  Array result(want.shape);
  for (std::int64_t i = 0; i < want.size(); ++i)
    result[i] = factor * magnitude[i] + unit_roundoff(out) * std::fabs(want[i]);
  return result;
}

Array composite(Precision precision, const Array& want) {
  double relative = 1e-7, absolute = 1e-7;
  if (precision.digits == 24) relative = 1.3e-6, absolute = 1e-5;
  if (precision.digits == 11) relative = 1e-3, absolute = 1e-5;
  if (precision.digits == 8) relative = 1.6e-2, absolute = 1e-5;
  return each(want, [&](double value) { return absolute + relative * std::fabs(value); });
}

}  // namespace tolerance
