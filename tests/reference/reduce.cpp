#include "reference/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace reference {

Array reduce(const std::function<double(const List&)>& f, const Array& x, const Axes& axes, bool keep_dims) {
  std::vector<bool> reduced(x.shape.size(), axes.empty());
  for (const int axis : axes) reduced.at(static_cast<std::size_t>(axis < 0 ? axis + x.rank() : axis)) = true;
  Extents kept_shape;
  for (std::size_t a = 0; a < x.shape.size(); ++a) kept_shape.push_back(reduced[a] ? 1 : x.shape[a]);

  std::vector<List> lists(static_cast<std::size_t>(count(kept_shape)));
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const Extents index = index_of(x.shape, i);
    std::int64_t flat = 0;
    for (std::size_t a = 0; a < index.size(); ++a) flat = flat * kept_shape[a] + (reduced[a] ? 0 : index[a]);
    lists[static_cast<std::size_t>(flat)].push_back(x[i]);
  }
  Array result(kept_shape);
  for (std::int64_t i = 0; i < result.size(); ++i) result[i] = f(lists[static_cast<std::size_t>(i)]);
  if (!keep_dims) {
    result.shape.clear();
    for (std::size_t a = 0; a < x.shape.size(); ++a)
      if (!reduced[a]) result.shape.push_back(x.shape[a]);
  }
  return result;
}

double sum(const List& x) {
  double total = 0;
  for (const double value : x) total += value;
  return total;
}

double prod(const List& x) {
  double product = 1;
  for (const double value : x) product *= value;
  return product;
}

double mean(const List& x) { return sum(x) / static_cast<double>(x.size()); }

double variance(const List& x, double correction) {
  const double middle = mean(x);
  double total = 0;
  for (const double value : x) total += (value - middle) * (value - middle);
  return total / (static_cast<double>(x.size()) - correction);
}

namespace {

double first_extreme(const List& x, bool greatest) {
  if (x.empty()) throw std::invalid_argument("the extreme of nothing");
  std::size_t found = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i])) return static_cast<double>(i);
    if (greatest ? x[i] > x[found] : x[i] < x[found]) found = i;
  }
  return static_cast<double>(found);
}

}  // namespace

double argmax(const List& x) { return first_extreme(x, true); }
double argmin(const List& x) { return first_extreme(x, false); }
double max(const List& x) { return x[static_cast<std::size_t>(argmax(x))]; }
double min(const List& x) { return x[static_cast<std::size_t>(argmin(x))]; }

}  // namespace reference
