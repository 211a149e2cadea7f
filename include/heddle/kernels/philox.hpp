// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw ("Parallel random numbers: as easy as
// 1, 2, 3", SC 2011), and the mapping of its bits to numbers. Both devices use these functions, so that element i of a
// fill is the same number wherever and in whatever order it is computed.
//
// The counter of 4 words is (index of the group of elements, offset), the key is the seed, 64 bits each, the lower word
// first. Element i of a 32-bit or narrower type takes word i % 4 of group i / 4; element i of a 64-bit type takes words
// 2 (i % 2) and 2 (i % 2) + 1 of group i / 2.
#pragma once

#include <concepts>
#include <cstdint>

#include "heddle/config.hpp"
#include "heddle/core/half.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// The four 32-bit numbers of one counter.
struct philox_words {
  std::uint32_t word[4];
};

/// The generator: 10 rounds. Any counter can be asked for, in any order.
HEDDLE_HOST_DEVICE constexpr philox_words philox4x32(std::uint64_t group, std::uint64_t offset, std::uint64_t seed) {
  std::uint32_t c0 = static_cast<std::uint32_t>(group), c1 = static_cast<std::uint32_t>(group >> 32);
  std::uint32_t c2 = static_cast<std::uint32_t>(offset), c3 = static_cast<std::uint32_t>(offset >> 32);
  std::uint32_t k0 = static_cast<std::uint32_t>(seed), k1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c0;
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * c2;
    c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<std::uint32_t>(p1);
    c3 = static_cast<std::uint32_t>(p0);
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return {{c0, c1, c2, c3}};
}

/// 64 bits from two words, the lower first.
HEDDLE_HOST_DEVICE constexpr std::uint64_t philox_join(std::uint32_t low, std::uint32_t high) {
  return (std::uint64_t{high} << 32) | low;
}

/// A uniform number in [0, 1), never 1, on a grid that T represents exactly: the top 24 bits of 32 for float, 53 of 64
/// for double, 11 and 8 of 32 for half and bfloat16.
template <class T>
HEDDLE_HOST_DEVICE constexpr T philox_uniform(std::uint32_t bits) {
  if constexpr (std::same_as<T, half>) {
    return half(static_cast<float>(static_cast<std::int32_t>(bits >> 21)) * 0x1p-11F);
  } else if constexpr (std::same_as<T, bfloat16>) {
    return bfloat16(static_cast<float>(static_cast<std::int32_t>(bits >> 24)) * 0x1p-8F);
  } else {
    static_assert(std::same_as<T, float>);
    return static_cast<float>(static_cast<std::int32_t>(bits >> 8)) * 0x1p-24F;
  }
}
template <std::same_as<double> T>
HEDDLE_HOST_DEVICE constexpr T philox_uniform(std::uint64_t bits) {
  return static_cast<double>(static_cast<std::int64_t>(bits >> 11)) * 0x1p-53;
}

// Normal numbers come in pairs by Box-Muller, from two draws of uniform bits each: a radius sqrt(-2 log(u)) of the
// first draw and an angle 2 pi v of the second; the pair is (radius cos, radius sin). A group of 32-bit words makes two
// pairs, (word 0, word 1) and (word 2, word 3); a group of 64-bit draws makes one. half and bfloat16 are rounded from
// float.

/// u of the radius, in (0, 1], so that its logarithm is finite: (bits + 1/2) / 2^32, rounded to float.
HEDDLE_HOST_DEVICE constexpr float philox_radius(std::uint32_t bits) {
  return static_cast<float>(bits) * 0x1p-32F + 0x1p-33F;
}
HEDDLE_HOST_DEVICE constexpr double philox_radius(std::uint64_t bits) {
  return static_cast<double>(static_cast<std::int64_t>(bits >> 11)) * 0x1p-53 + 0x1p-54;
}

/// v of the angle, in turns: in [0, 1).
HEDDLE_HOST_DEVICE constexpr float philox_turn(std::uint32_t bits) { return philox_uniform<float>(bits); }
HEDDLE_HOST_DEVICE constexpr double philox_turn(std::uint64_t bits) { return philox_uniform<double>(bits); }

}  // namespace HEDDLE_BUILD
}  // namespace heddle
