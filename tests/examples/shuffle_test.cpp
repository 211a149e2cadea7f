#include "shuffle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

/// Images whose two pixels both say which image it is; so does the label, modulo 10.
Digits numbered(std::int64_t count) {
  Digits digits;
  digits.count = count;
  digits.rows = 1;
  digits.columns = 2;
  for (std::int64_t image = 0; image < count; ++image) {
    digits.pixels.push_back(static_cast<std::uint8_t>(image));
    digits.pixels.push_back(static_cast<std::uint8_t>(image));
    digits.labels.push_back(static_cast<std::uint8_t>(image % 10));
  }
  return digits;
}

TEST(Shuffle, KeepsImagesAndLabelsTogether) {
  Digits digits = numbered(200);
  shuffle(digits, 7);
  std::vector<int> seen(200, 0);
  for (std::size_t image = 0; image < 200; ++image) {
    const std::uint8_t number = digits.pixels[2 * image];
    EXPECT_EQ(digits.pixels[2 * image + 1], number);
    EXPECT_EQ(digits.labels[image], number % 10);
    ++seen[number];
  }
  EXPECT_EQ(seen, std::vector<int>(200, 1));
  EXPECT_NE(digits.pixels, numbered(200).pixels);
}

TEST(Shuffle, DependsOnTheSeedAlone) {
  Digits a = numbered(200), b = numbered(200), c = numbered(200);
  shuffle(a, 7);
  shuffle(b, 7);
  shuffle(c, 8);
  EXPECT_EQ(a.pixels, b.pixels);
  EXPECT_NE(a.pixels, c.pixels);
}

TEST(ShuffledBatches, CoverTheEpochOnce) {
  std::vector<std::int64_t> starts = shuffled_batches(103, 10, 1, 1);
  EXPECT_FALSE(std::is_sorted(starts.begin(), starts.end()));
  std::sort(starts.begin(), starts.end());
  EXPECT_EQ(starts, (std::vector<std::int64_t>{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100}));
}

TEST(ShuffledBatches, DifferFromEpochToEpochAndBySeed) {
  const auto first = shuffled_batches(1000, 10, 1, 1);
  EXPECT_EQ(first, shuffled_batches(1000, 10, 1, 1));
  EXPECT_NE(first, shuffled_batches(1000, 10, 1, 2));
  EXPECT_NE(first, shuffled_batches(1000, 10, 2, 1));
}

TEST(ShuffledBatches, ABatchMayBeLargerThanTheData) {
  EXPECT_EQ(shuffled_batches(103, INT64_MAX, 1, 1), (std::vector<std::int64_t>{0}));
}

}  // namespace
