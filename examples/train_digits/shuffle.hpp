#pragma once

#include <cstdint>
#include <vector>

#include "idx.hpp"

/// Puts the images and their labels into a random order, the same for the same seed.
void shuffle(Digits& digits, std::uint64_t seed);

/// The first image of every batch of an epoch, in a random order that depends on the seed and the epoch.
/// Only the order of the batches changes from epoch to epoch, so each is a slice of data that stays where it is.
std::vector<std::int64_t> shuffled_batches(std::int64_t images, std::int64_t batch, std::uint64_t seed,
                                           std::int64_t epoch);
