// An array whose element type and shape are known at run time only: what a case's files hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace conformance {

enum class ElementType {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64
};

constexpr std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::boolean:
    case ElementType::int8:
    case ElementType::uint8:
      return 1;
    case ElementType::int16:
    case ElementType::uint16:
    case ElementType::float16:
    case ElementType::bfloat16:
      return 2;
    case ElementType::int32:
    case ElementType::uint32:
    case ElementType::float32:
      return 4;
    default:
      return 8;
  }
}

constexpr bool is_floating(ElementType type) { return type >= ElementType::float16; }

constexpr const char* name_of(ElementType type) {
  constexpr const char* names[] = {"bool",   "int8",   "int16",   "int32",    "int64",   "uint8",  "uint16",
                                   "uint32", "uint64", "float16", "bfloat16", "float32", "float64"};
  return names[static_cast<int>(type)];
}

using Extents = std::vector<std::int64_t>;

inline std::int64_t size_of(const Extents& shape) {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

/// Elements packed in C order.
struct Array {
  ElementType type = ElementType::float32;
  Extents shape;
  std::vector<std::byte> bytes;
  Extents strides{};  ///< how an operand of these elements is to lie in memory; empty: packed

  int rank() const { return static_cast<int>(shape.size()); }
  std::int64_t size() const { return size_of(shape); }
};

}  // namespace conformance
