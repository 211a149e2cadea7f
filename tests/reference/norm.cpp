#include "reference/norm.hpp"

#include <algorithm>
#include <cmath>

namespace reference {
namespace {

/// The sum of f(i) over each group.
template <class F>
List sums(const GroupOf& group, F f) {
  const std::int64_t groups = group.empty() ? 0 : *std::max_element(group.begin(), group.end()) + 1;
  List result(static_cast<std::size_t>(groups), 0.0);
  for (std::size_t i = 0; i < group.size(); ++i)
    result[static_cast<std::size_t>(group[i])] += f(static_cast<std::int64_t>(i));
  return result;
}
double of(const List& list, const GroupOf& group, std::int64_t i) {
  return list[static_cast<std::size_t>(group[static_cast<std::size_t>(i)])];
}

struct Statistics {
  List count, mean, scale;
};
Statistics statistics(const Array& x, const GroupOf& group, double eps, bool centred) {
  Statistics s;
  s.count = sums(group, [](std::int64_t) { return 1.0; });
  s.mean = sums(group, [&](std::int64_t i) { return centred ? x[i] : 0.0; });
  for (std::size_t k = 0; k < s.mean.size(); ++k) s.mean[k] /= s.count[k];
  s.scale = sums(group, [&](std::int64_t i) { return std::pow(x[i] - of(s.mean, group, i), 2); });
  for (std::size_t k = 0; k < s.scale.size(); ++k) s.scale[k] = 1 / std::sqrt(s.scale[k] / s.count[k] + eps);
  return s;
}

}  // namespace

GroupOf groups_over(const Extents& shape, const std::vector<int>& axes) {
  GroupOf group;
  for (std::int64_t i = 0; i < count(shape); ++i) {
    const Extents index = index_of(shape, i);
    std::int64_t number = 0;
    for (int a = 0; a < static_cast<int>(shape.size()); ++a) {
      if (std::find(axes.begin(), axes.end(), a) == axes.end())
        number = number * shape[static_cast<std::size_t>(a)] + index[static_cast<std::size_t>(a)];
    }
    group.push_back(number);
  }
  return group;
}

GroupOf groups_of_channels(const Extents& shape, std::int64_t number) {
  GroupOf group;
  for (std::int64_t i = 0; i < count(shape); ++i) {
    const Extents index = index_of(shape, i);
    group.push_back(index[0] * number + index[1] / (shape[1] / number));
  }
  return group;
}

Array normalise(const Array& x, const GroupOf& group, double eps, bool centred) {
  const Statistics s = statistics(x, group, eps, centred);
  Array y(x.shape);
  for (std::int64_t i = 0; i < x.size(); ++i) y[i] = (x[i] - of(s.mean, group, i)) * of(s.scale, group, i);
  return y;
}

Array normalise_gradient(const Array& g, const Array& x, const GroupOf& group, double eps, bool centred) {
  const Statistics s = statistics(x, group, eps, centred);
  const Array y = normalise(x, group, eps, centred);
  const List total = sums(group, [&](std::int64_t i) { return centred ? g[i] : 0.0; });
  const List dot = sums(group, [&](std::int64_t i) { return g[i] * y[i]; });
  Array dx(x.shape);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const double n = of(s.count, group, i);
    dx[i] = of(s.scale, group, i) * (g[i] - of(total, group, i) / n - y[i] * of(dot, group, i) / n);
  }
  return dx;
}

Array of_channels(const Array& numbers, const Extents& shape) {
  Array result(shape);
  for (std::int64_t i = 0; i < result.size(); ++i) result[i] = numbers[index_of(shape, i)[1]];
  return result;
}

Array sum_of_channels(const Array& x) {
  Array result({x.shape[1]});
  for (std::int64_t i = 0; i < x.size(); ++i) result[index_of(x.shape, i)[1]] += x[i];
  return result;
}

}  // namespace reference
