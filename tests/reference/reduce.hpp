// Reductions: every group of elements is gathered into a list, and the definition is applied to the list.
#pragma once

#include <functional>

#include "reference/array.hpp"

namespace reference {

using Axes = std::vector<int>;

/// f of each list of the elements that differ only along `axes`, in row-major order. No axes named: of all elements.
Array reduce(const std::function<double(const List&)>& f, const Array& x, const Axes& axes = {},
             bool keep_dims = false);

double sum(const List& x);
double prod(const List& x);
/// NaN of nothing.
double mean(const List& x);
/// Around the mean, divided by count - correction.
double variance(const List& x, double correction = 1);
/// NaN if there is one. Of nothing: std::invalid_argument.
double max(const List& x);
double min(const List& x);
/// The first position of the extreme, or of the first NaN.
double argmax(const List& x);
double argmin(const List& x);

}  // namespace reference
