#include "conformance/compare.hpp"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace conformance {
namespace {

template <class T>
T load(const Array& array, std::int64_t index) {
  T value;
  std::memcpy(&value, array.bytes.data() + static_cast<std::size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

/// Written from the definition of binary16, so that the library's own conversion is not what judges it.
double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double magnitude = 0;
  if (exponent == 31)
    magnitude = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(fraction, -24);
  else
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double bfloat16_value(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
}

std::string text_of(double value, ElementType type) {
  char text[40];
  const int digits = type == ElementType::float64 ? 17 : 9;
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

std::string text_of(const Array& array, std::int64_t index) {
  switch (array.type) {
    case ElementType::boolean:
      return load<std::uint8_t>(array, index) != 0 ? "true" : "false";
    case ElementType::int64:
      return std::to_string(load<std::int64_t>(array, index));
    case ElementType::uint64:
      return std::to_string(load<std::uint64_t>(array, index));
    default:
      return text_of(element(array, index), array.type);
  }
}

std::string index_text(const Extents& shape, std::int64_t linear) {
  Extents index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = linear % shape[axis];
    linear /= shape[axis];
  }
  std::string text = "[";
  for (std::size_t axis = 0; axis < index.size(); ++axis) text += (axis > 0 ? ", " : "") + std::to_string(index[axis]);
  return text + "]";
}

/// How far apart two floating-point values are: infinitely, where one is NaN or an infinity and the other is not it.
double distance(double got, double want) {
  if (std::isnan(got) && std::isnan(want)) return 0;
  if (got == want) return 0;
  const double apart = std::fabs(got - want);
  return std::isfinite(apart) ? apart : std::numeric_limits<double>::infinity();
}

/// How far apart two integers or booleans of one type are, without rounding two different ones to the same.
double integer_distance(const Array& got, const Array& want, std::int64_t index) {
  const std::size_t size = size_of(got.type);
  const std::size_t offset = static_cast<std::size_t>(index) * size;
  if (std::memcmp(got.bytes.data() + offset, want.bytes.data() + offset, size) == 0) return 0;
  return std::max(1.0, std::fabs(element(got, index) - element(want, index)));
}

}  // namespace

double element(const Array& array, std::int64_t index) {
  switch (array.type) {
    case ElementType::boolean:
    case ElementType::uint8:
      return load<std::uint8_t>(array, index);
    case ElementType::int8:
      return load<std::int8_t>(array, index);
    case ElementType::int16:
      return load<std::int16_t>(array, index);
    case ElementType::int32:
      return load<std::int32_t>(array, index);
    case ElementType::int64:
      return static_cast<double>(load<std::int64_t>(array, index));
    case ElementType::uint16:
      return load<std::uint16_t>(array, index);
    case ElementType::uint32:
      return load<std::uint32_t>(array, index);
    case ElementType::uint64:
      return static_cast<double>(load<std::uint64_t>(array, index));
    case ElementType::float16:
      return half_value(load<std::uint16_t>(array, index));
    case ElementType::bfloat16:
      return bfloat16_value(load<std::uint16_t>(array, index));
    case ElementType::float32:
      return static_cast<double>(load<float>(array, index));
    case ElementType::float64:
      return load<double>(array, index);
  }
  return 0;
}

std::string to_string(const Extents& shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) text += (axis > 0 ? ", " : "") + std::to_string(shape[axis]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::string difference(const Array& got, const Array& want, const Tolerance& tolerance) {
  if (got.type != want.type) return std::string("element type ") + name_of(got.type) + ", wanted " + name_of(want.type);
  if (got.shape != want.shape) return "shape " + to_string(got.shape) + ", wanted " + to_string(want.shape);

  const bool floating = is_floating(want.type);
  std::int64_t differing = 0;
  std::int64_t worst = 0;
  double greatest = -1;
  double worst_allowed = 0;
  for (std::int64_t i = 0; i < want.size(); ++i) {
    const double target = element(want, i);
    const double apart = floating ? distance(element(got, i), target) : integer_distance(got, want, i);
    double allowed = floating ? tolerance.absolute + tolerance.relative * std::fabs(target) : 0.0;
    if (!std::isfinite(allowed)) allowed = 0;  // an infinity or NaN must be met as it is
    if (apart <= allowed) continue;
    ++differing;
    if (apart > greatest) {
      greatest = apart;
      worst = i;
      worst_allowed = allowed;
    }
  }
  if (differing == 0) return {};
  return std::to_string(differing) + " of " + std::to_string(want.size()) + " differ; the greatest difference " +
         text_of(greatest, ElementType::float32) + " at " + index_text(want.shape, worst) + ": got " +
         text_of(got, worst) + ", wanted " + text_of(want, worst) + ", allowed " +
         text_of(worst_allowed, ElementType::float32);
}

}  // namespace conformance
