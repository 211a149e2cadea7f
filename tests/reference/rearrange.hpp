// Operations that move elements: each output element is looked up by its index, as the definition says.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "reference/array.hpp"

namespace reference {

/// The array of that shape whose element at each index is f(index).
Array from_index(const Extents& shape, const std::function<double(const Extents&)>& f);

Array concat(const std::vector<Array>& parts, int axis);
Array stack(const std::vector<Array>& parts, int axis);
/// Backwards along the axes.
Array flip(const Array& x, const std::vector<int>& axes);
/// Element i of an axis comes from i - shift.
Array roll(const Array& x, const std::vector<int>& axes, const Extents& shifts);
/// A number of times for every axis of the result.
Array tile(const Array& x, const Extents& repeats);

enum class PadMode { constant, reflect, replicate, circular };
/// A begin and an end for every axis.
Array pad(const Array& x, const std::vector<std::pair<int, int>>& widths, PadMode mode, double value = 0);

Array tril(const Array& x, std::int64_t diagonal);
Array triu(const Array& x, std::int64_t diagonal);

}  // namespace reference
