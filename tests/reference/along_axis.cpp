#include "reference/along_axis.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace reference {

Array along_axis(const std::function<List(const List&)>& f, const Array& x, int axis) {
  const auto a = static_cast<std::size_t>(axis);
  Extents outer = x.shape;
  outer[a] = 1;
  Extents shape = x.shape;
  shape[a] = static_cast<std::int64_t>(f(List(static_cast<std::size_t>(x.shape[a]), 0.0)).size());
  Array result(shape);
  for (std::int64_t i = 0; i < count(outer); ++i) {
    Extents index = index_of(outer, i);
    List line;
    for (index[a] = 0; index[a] < x.shape[a]; ++index[a]) line.push_back(x.at(index));
    line = f(line);
    for (index[a] = 0; index[a] < shape[a]; ++index[a]) result.at(index) = line[static_cast<std::size_t>(index[a])];
  }
  return result;
}

List cumsum(const List& x) {
  List result;
  double sum = 0;
  for (const double value : x) result.push_back(sum += value);
  return result;
}

List cumprod(const List& x) {
  List result;
  double product = 1;
  for (const double value : x) result.push_back(product *= value);
  return result;
}

List argsort(const List& x, bool descending) {
  const auto greater = [](double a, double b) { return a > b || (std::isnan(a) && !std::isnan(b)); };
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    return descending ? greater(x[i], x[j]) : greater(x[j], x[i]);
  });
  return List(order.begin(), order.end());
}

List sort(const List& x, bool descending) {
  List result;
  for (const double i : argsort(x, descending)) result.push_back(x[static_cast<std::size_t>(i)]);
  return result;
}

}  // namespace reference
