#include <cstring>
#include <vector>

#include "conformance/array.hpp"

namespace conformance {

std::vector<std::byte> reversed_axes(const Array& array, const Extents& shape) {
  const std::size_t size = size_of(array.type);
  const auto count = static_cast<std::size_t>(array.size());
  std::vector<std::byte> moved(array.bytes.size());
  Extents index(shape.size(), 0);
  for (std::size_t from = 0; from < count; ++from) {
    std::int64_t to = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) to = to * shape[axis] + index[axis];
    std::memcpy(moved.data() + static_cast<std::size_t>(to) * size, array.bytes.data() + from * size, size);
    for (std::size_t axis = shape.size(); axis-- > 0 && ++index[axis] == shape[axis];) index[axis] = 0;
  }
  return moved;
}

std::vector<std::byte> spread_last_axis(const Array& array, const Extents& shape) {
  const std::size_t size = size_of(array.type);
  const auto columns = static_cast<std::size_t>(shape.back());
  std::size_t rows = 1;
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) rows *= static_cast<std::size_t>(shape[axis]);
  std::vector<std::byte> spread(rows * (2 * columns + 1) * size, std::byte{1});
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      std::memcpy(spread.data() + (row * (2 * columns + 1) + 2 * column + 1) * size,
                  array.bytes.data() + (row * columns + column) * size, size);
  return spread;
}

}  // namespace conformance
