#pragma once

#include "reference/array.hpp"

namespace reference {

/// The matrix product by NumPy's rules: a rank-1 operand is a row on the left and a column on the right, batches
/// broadcast.
Array matmul(const Array& a, const Array& b);

}  // namespace reference
