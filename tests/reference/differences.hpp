// Gradients by central differences.
#pragma once

#include <functional>

#include "reference/array.hpp"

namespace reference {

/// The derivative of f, a number, by each element of x.
Array differences(const std::function<double(const Array&)>& f, Array x, double step = 1e-6);
/// The gradient of sum(dy * f(x)) with respect to x.
Array differences(const std::function<Array(const Array&)>& f, const Array& x, const Array& dy, double step = 1e-6);

}  // namespace reference
