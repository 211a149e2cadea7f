#pragma once

#include "reference/array.hpp"

namespace reference {

/// exp(x - max) / sum(exp(x - max)) along an axis.
Array softmax(const Array& x, int axis);
/// x - max - log(sum(exp(x - max))) along an axis.
Array log_softmax(const Array& x, int axis);

}  // namespace reference
