#include "reference/softmax.hpp"

#include <cmath>

#include "reference/map.hpp"
#include "reference/reduce.hpp"

namespace reference {
namespace {

Array exp(const Array& x) {
  return map([](double value) { return std::exp(value); }, x);
}

Array shifted(const Array& x, int axis) { return x - reduce(max, x, {axis}, true); }

}  // namespace

Array softmax(const Array& x, int axis) {
  if (x.size() == 0) return x;
  const Array e = exp(shifted(x, axis));
  return e / reduce(sum, e, {axis}, true);
}

Array log_softmax(const Array& x, int axis) {
  if (x.size() == 0) return x;
  const Array s = shifted(x, axis);
  return s - map([](double value) { return std::log(value); }, reduce(sum, exp(s), {axis}, true));
}

}  // namespace reference
