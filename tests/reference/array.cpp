#include "reference/array.hpp"

#include <algorithm>
#include <stdexcept>

namespace reference {

std::int64_t count(const Extents& shape) {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

std::string to_string(const Extents& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

double& Array::at(const Extents& index) {
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + index.at(i);
  return values.at(static_cast<std::size_t>(flat));
}

Array list(List values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return Array({count}, std::move(values));
}

Array matrix(const std::vector<List>& rows) {
  Array result({static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows.at(0).size())}, List());
  for (const List& row : rows) {
    if (row.size() != rows[0].size()) throw std::invalid_argument("ragged rows");
    result.values.insert(result.values.end(), row.begin(), row.end());
  }
  return result;
}

Array counting(const Extents& shape) {
  Array result(shape);
  for (std::int64_t i = 0; i < result.size(); ++i) result[i] = static_cast<double>(i);
  return result;
}

Extents index_of(const Extents& shape, std::int64_t flat) {
  Extents index(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    index[i] = flat % shape[i];
    flat /= shape[i];
  }
  return index;
}

Extents broadcast(const Extents& a, const Extents& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Extents shape(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t from_a = i + a.size() >= rank ? a[i + a.size() - rank] : 1;
    const std::int64_t from_b = i + b.size() >= rank ? b[i + b.size() - rank] : 1;
    if (from_a != from_b && from_a != 1 && from_b != 1) throw std::invalid_argument("shapes don't fit");
    shape[i] = from_a == 1 ? from_b : from_a;
  }
  return shape;
}

Array expand(const Array& x, const Extents& shape) {
  if (broadcast(x.shape, shape) != shape) throw std::invalid_argument("a shape can't be expanded to a smaller one");
  Array result(shape);
  for (std::int64_t i = 0; i < result.size(); ++i) {
    Extents index = index_of(shape, i);
    index.erase(index.begin(), index.end() - static_cast<std::ptrdiff_t>(x.shape.size()));
    for (std::size_t a = 0; a < index.size(); ++a)
      if (x.shape[a] == 1) index[a] = 0;
    result[i] = x.at(index);
  }
  return result;
}

Array permute(const Array& x, const std::vector<int>& order) {
  Extents shape;
  for (const int axis : order) shape.push_back(x.shape.at(static_cast<std::size_t>(axis)));
  Array result(shape);
  for (std::int64_t i = 0; i < result.size(); ++i) {
    const Extents index = index_of(shape, i);
    Extents source(index.size());
    for (std::size_t a = 0; a < index.size(); ++a) source[static_cast<std::size_t>(order[a])] = index[a];
    result[i] = x.at(source);
  }
  return result;
}

Array transpose(const Array& x) {
  std::vector<int> order;
  for (int a = 0; a < x.rank(); ++a) order.push_back(a);
  std::swap(order.at(order.size() - 1), order.at(order.size() - 2));
  return permute(x, order);
}

Array reshape(Array x, Extents shape) {
  if (count(shape) != x.size()) throw std::invalid_argument("a reshape must keep the number of elements");
  x.shape = std::move(shape);
  return x;
}

}  // namespace reference
