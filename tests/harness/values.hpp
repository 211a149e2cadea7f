// Values and shapes that the tests run over.
#pragma once

#include <vector>

#include "reference/array.hpp"

namespace heddle_test {

using reference::Array;
using reference::Extents;

/// Integers from `low` to `high`, both included: their sums are exact in every type.
Array integers(const Extents& shape, int low, int high, unsigned seed);
/// Uniform in [low, high).
Array uniform(const Extents& shape, double low, double high, unsigned seed);

/// Without elements, of extent 1, odd primes, just off multiples of 8, 32, 64 and 128.
const std::vector<Extents>& sample_shapes(int rank);
/// A few of them, for what is tested over many types.
const std::vector<Extents>& few_shapes(int rank);

/// Two shapes that broadcast together.
struct ShapePair {
  Extents a;
  Extents b;
};
/// Each broadcast pattern, for two operands of rank 3.
const std::vector<ShapePair>& broadcast_patterns();

}  // namespace heddle_test
