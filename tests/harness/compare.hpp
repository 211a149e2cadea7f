// Comparing a result with the reference, in words that say where to look.
#pragma once

#include <gtest/gtest.h>

#include "reference/array.hpp"

namespace heddle_test {

using reference::Array;
using reference::Extents;

/// |got - want| <= allowed, element by element; NaN matches NaN, an infinity the same one. A failure says how many
/// differ, the greatest difference, its index, both values and what was allowed.
testing::AssertionResult close(const Array& got, const Array& want, const Array& allowed);

/// The same values; -0 and 0 are the same.
testing::AssertionResult equal(const Array& got, const Array& want);

/// The same values, and the same signs of zeros.
testing::AssertionResult identical(const Array& got, const Array& want);

}  // namespace heddle_test
