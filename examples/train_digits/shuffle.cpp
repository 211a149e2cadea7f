#include "shuffle.hpp"

#include <algorithm>
#include <cstddef>
#include <random>
#include <utility>

namespace {

/// Calls swap(i, j) for the exchanges that make a random permutation of `count` things.
/// Not std::shuffle, whose order differs between standard libraries.
template <class Swap>
void permute(std::int64_t count, std::mt19937_64& random, Swap swap) {
  for (std::int64_t last = count - 1; last > 0; --last) {
    const auto other = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last + 1));
    if (other != last) swap(last, other);
  }
}

}  // namespace

void shuffle(Digits& digits, std::uint64_t seed) {
  const std::int64_t size = digits.rows * digits.columns;
  const auto pixels = digits.pixels.begin();
  const auto labels = digits.labels.begin();
  std::mt19937_64 random(seed);
  permute(digits.count, random, [&](std::int64_t i, std::int64_t j) {
    std::swap_ranges(pixels + i * size, pixels + (i + 1) * size, pixels + j * size);
    std::iter_swap(labels + i, labels + j);
  });
}

std::vector<std::int64_t> shuffled_batches(std::int64_t images, std::int64_t batch, std::uint64_t seed,
                                           std::int64_t epoch) {
  std::vector<std::int64_t> starts;
  // Counted down from the end, so that a huge batch can't overflow the sum.
  for (std::int64_t left = images; left > 0; left -= std::min(left, batch)) {
    starts.push_back(images - left);
  }
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(epoch) * 0x9e3779b97f4a7c15u);
  permute(static_cast<std::int64_t>(starts.size()), random,
          [&](std::int64_t i, std::int64_t j) { std::iter_swap(starts.begin() + i, starts.begin() + j); });
  return starts;
}
