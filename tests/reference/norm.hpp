// Normalisations and their gradients, from the definition: which elements are normalised together is a list of numbers.
#pragma once

#include "reference/array.hpp"

namespace reference {

/// For each element, in row-major order, the number of its group.
using GroupOf = std::vector<std::int64_t>;

/// Elements that differ only along `axes` are one group.
GroupOf groups_over(const Extents& shape, const std::vector<int>& axes);
/// The channels (axis 1) of an image (axis 0) in so many groups, with all axes behind.
GroupOf groups_of_channels(const Extents& shape, std::int64_t count);

/// (x - mean) / sqrt(variance + eps) in each group; not centred: x / sqrt(mean of squares + eps).
Array normalise(const Array& x, const GroupOf& group, double eps, bool centred = true);
/// The gradient of sum(g * normalise(x)) with respect to x.
Array normalise_gradient(const Array& g, const Array& x, const GroupOf& group, double eps, bool centred = true);

/// One number a channel (axis 1), as an array of that shape.
Array of_channels(const Array& numbers, const Extents& shape);
/// The sum over all axes but axis 1.
Array sum_of_channels(const Array& x);

}  // namespace reference
