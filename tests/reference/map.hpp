// Elementwise operations, broadcast by NumPy's rule.
#pragma once

#include <functional>

#include "reference/array.hpp"

namespace reference {

Array map(const std::function<double(double)>& f, const Array& x);
Array map(const std::function<double(double, double)>& f, const Array& x, const Array& y);
Array map(const std::function<double(double, double, double)>& f, const Array& x, const Array& y, const Array& z);

inline Array operator+(const Array& x, const Array& y) { return map(std::plus<double>{}, x, y); }
inline Array operator-(const Array& x, const Array& y) { return map(std::minus<double>{}, x, y); }
inline Array operator*(const Array& x, const Array& y) { return map(std::multiplies<double>{}, x, y); }
inline Array operator/(const Array& x, const Array& y) { return map(std::divides<double>{}, x, y); }
Array abs(const Array& x);
Array relu(const Array& x);

}  // namespace reference
