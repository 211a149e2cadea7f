#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "idx.hpp"

/// What the network said about the test images, in their order.
struct Readings {
  std::vector<std::int64_t> digit;
  std::vector<float> probability;
};

/// Prints how many images are read rightly.
void print_accuracy(const Digits& digits, const Readings& readings);

/// Prints how often each digit was read as each digit.
void print_confusion(const Digits& digits, const Readings& readings);

/// Draws the first images that were read wrongly, at most `most` of them, side by side.
void print_mistakes(const Digits& digits, const Readings& readings, std::size_t most);
