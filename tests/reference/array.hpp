// The reference's own array: double values in row-major order. Nothing here includes or calls the library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace reference {

using Extents = std::vector<std::int64_t>;
using List = std::vector<double>;

/// The product of the extents.
std::int64_t count(const Extents& shape);

/// "(2, 3)", as Python writes it.
std::string to_string(const Extents& shape);

struct Array {
  Extents shape;
  std::vector<double> values;

  /// Rank 0, value 0.
  Array() : Array(Extents{}) {}
  explicit Array(Extents extents, double value = 0)
      : shape(std::move(extents)), values(static_cast<std::size_t>(count(shape)), value) {}
  Array(Extents extents, std::vector<double> elements) : shape(std::move(extents)), values(std::move(elements)) {}

  int rank() const { return static_cast<int>(shape.size()); }
  std::int64_t size() const { return static_cast<std::int64_t>(values.size()); }
  double& operator[](std::int64_t flat) { return values[static_cast<std::size_t>(flat)]; }
  double operator[](std::int64_t flat) const { return values[static_cast<std::size_t>(flat)]; }
  double& at(const Extents& index);
  double at(const Extents& index) const { return const_cast<Array*>(this)->at(index); }
};

/// Rank 1, as a literal.
Array list(List values);
/// Rank 2, as a literal.
Array matrix(const std::vector<List>& rows);
/// 0, 1, 2, … in row-major order.
Array counting(const Extents& shape);

/// The index of a flat, row-major position. Example: `index_of({2, 3}, 4)` is {1, 1}.
Extents index_of(const Extents& shape, std::int64_t flat);

/// NumPy's broadcast shape of two. The shapes must fit.
Extents broadcast(const Extents& a, const Extents& b);

/// The array as it looks after broadcasting to `shape`.
Array expand(const Array& x, const Extents& shape);

/// Axis i of the result is axis order[i] of x.
Array permute(const Array& x, const std::vector<int>& order);
/// The last two axes exchanged.
Array transpose(const Array& x);
/// The same values under another shape.
Array reshape(Array x, Extents shape);

}  // namespace reference
