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

std::vector<std::byte> laid_out(const Array& array) {
  const std::size_t size = size_of(array.type);
  std::int64_t places = array.size() > 0 ? 1 : 0;
  for (std::size_t axis = 0; axis < array.shape.size() && places > 0; ++axis)
    places += (array.shape[axis] - 1) * array.strides[axis];
  std::vector<std::byte> memory(static_cast<std::size_t>(places) * size, std::byte{1});
  Extents index(array.shape.size(), 0);
  for (std::int64_t from = 0; from < array.size(); ++from) {
    std::int64_t to = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis) to += index[axis] * array.strides[axis];
    std::memcpy(memory.data() + static_cast<std::size_t>(to) * size,
                array.bytes.data() + static_cast<std::size_t>(from) * size, size);
    for (std::size_t axis = index.size(); axis-- > 0 && ++index[axis] == array.shape[axis];) index[axis] = 0;
  }
  return memory;
}

Extents strides_under(const Array& array, const Extents& shape) {
  if (array.strides.size() != array.shape.size() || size_of(shape) != array.size()) return {};
  Extents strides(shape.size(), 1);
  if (array.size() == 0) return strides;
  // From the ends: each run of the array's axes that are one row of equal steps must hold whole axes of the new shape.
  std::size_t to = shape.size();
  std::int64_t run_count = 1;
  std::int64_t step = array.strides.back();
  for (std::size_t from = array.shape.size(); from-- > 0;) {
    run_count *= array.shape[from];
    if (from > 0 && (array.shape[from - 1] == 1 || array.strides[from - 1] == run_count * step)) continue;
    std::int64_t count = 1;
    for (; to > 0 && (count < run_count || shape[to - 1] == 1); --to) {
      strides[to - 1] = count * step;
      count *= shape[to - 1];
    }
    if (count != run_count) return {};
    if (from > 0) step = array.strides[from - 1];
    run_count = 1;
  }
  return strides;
}

}  // namespace conformance
