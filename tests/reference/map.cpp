#include "reference/map.hpp"

#include <cmath>

namespace reference {

Array map(const std::function<double(double)>& f, const Array& x) {
  Array result(x.shape);
  for (std::int64_t i = 0; i < x.size(); ++i) result[i] = f(x[i]);
  return result;
}

Array map(const std::function<double(double, double)>& f, const Array& x, const Array& y) {
  const Extents shape = broadcast(x.shape, y.shape);
  const Array a = expand(x, shape);
  const Array b = expand(y, shape);
  Array result(shape);
  for (std::int64_t i = 0; i < result.size(); ++i) result[i] = f(a[i], b[i]);
  return result;
}

Array map(const std::function<double(double, double, double)>& f, const Array& x, const Array& y, const Array& z) {
  const Extents shape = broadcast(broadcast(x.shape, y.shape), z.shape);
  const Array a = expand(x, shape);
  const Array b = expand(y, shape);
  const Array c = expand(z, shape);
  Array result(shape);
  for (std::int64_t i = 0; i < result.size(); ++i) result[i] = f(a[i], b[i], c[i]);
  return result;
}

Array abs(const Array& x) {
  return map([](double value) { return std::fabs(value); }, x);
}

Array relu(const Array& x) {
  return map([](double value) { return value < 0 ? 0 : value; }, x);
}

}  // namespace reference
