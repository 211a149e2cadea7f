#include "reference/differences.hpp"

namespace reference {

Array differences(const std::function<double(const Array&)>& f, Array x, double step) {
  Array result(x.shape);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const double here = x[i];
    x[i] = here + step;
    const double above = f(x);
    x[i] = here - step;
    result[i] = (above - f(x)) / (2 * step);
    x[i] = here;
  }
  return result;
}

Array differences(const std::function<Array(const Array&)>& f, const Array& x, const Array& dy, double step) {
  return differences(
      [&](const Array& at) {
        const Array y = f(at);
        double total = 0;
        for (std::int64_t i = 0; i < y.size(); ++i) total += dy[i] * y[i];
        return total;
      },
      x, step);
}

}  // namespace reference
