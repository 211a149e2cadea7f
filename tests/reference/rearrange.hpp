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

/// x at the index's element along `axis`, for each place of the index.
Array gather(const Array& x, const Array& index, int axis);
/// Slices of x along `axis`, one for each element of the index, whose axes take the axis's place.
Array take(const Array& x, const Array& index, int axis);
Array one_hot(const Array& index, std::int64_t classes);
/// x with the source's elements put, or added, where the index says along `axis`, in row-major order.
Array scatter(Array x, const Array& index, const Array& source, int axis);
Array scatter_add(Array x, const Array& index, const Array& source, int axis);
/// x with slices of the source added along `axis` where the index, a list, says.
Array index_add(Array x, const Array& index, const Array& source, int axis);
/// The indices of the elements that are not 0, one a row.
Array nonzero(const Array& x);

}  // namespace reference
