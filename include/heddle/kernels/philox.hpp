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

/// One round, by a key that is changed for the next one.
HEDDLE_HOST_DEVICE constexpr void philox_round(std::uint32_t (&c)[4], std::uint32_t& key0, std::uint32_t& key1) {
  const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c[0];
  const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * c[2];
  c[0] = static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key0;
  c[2] = static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key1;
  c[1] = static_cast<std::uint32_t>(p1);
  c[3] = static_cast<std::uint32_t>(p0);
  key0 += 0x9E3779B9U;
  key1 += 0xBB67AE85U;
}

/// The generator: 10 rounds. Any counter can be asked for, in any order. No loop, so that one around it vectorises.
HEDDLE_HOST_DEVICE constexpr philox_words philox4x32(std::uint64_t group, std::uint64_t offset, std::uint64_t seed) {
  std::uint32_t c[4] = {static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(group >> 32),
                        static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(offset >> 32)};
  std::uint32_t key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
  philox_round(c, key0, key1);
  philox_round(c, key0, key1);
  philox_round(c, key0, key1);
  philox_round(c, key0, key1);
  philox_round(c, key0, key1);
  philox_round(c, key0, key1);
  philox_round(c, key0, key1);
  philox_round(c, key0, key1);
  philox_round(c, key0, key1);
  philox_round(c, key0, key1);
  return {{c[0], c[1], c[2], c[3]}};
}

/// 64 bits from two words, the lower first.
HEDDLE_HOST_DEVICE constexpr std::uint64_t philox_join(std::uint32_t low, std::uint32_t high) {
  return (std::uint64_t{high} << 32) | low;
}

/// Word i of the stream (seed, offset): word i % 4 of group i / 4. Chosen by bits: branches keep loops from
/// vectorising.
HEDDLE_HOST_DEVICE constexpr std::uint32_t philox_word(std::uint64_t i, std::uint64_t offset, std::uint64_t seed) {
  const philox_words words = philox4x32(i >> 2, offset, seed);
  const std::uint32_t upper = 0U - static_cast<std::uint32_t>((i >> 1) & 1);
  const std::uint32_t odd = 0U - static_cast<std::uint32_t>(i & 1);
  const std::uint32_t first = words.word[0] ^ ((words.word[0] ^ words.word[2]) & upper);
  const std::uint32_t second = words.word[1] ^ ((words.word[1] ^ words.word[3]) & upper);
  return first ^ ((first ^ second) & odd);
}
/// 64 bits, draw i of the stream: half i % 2 of group i / 2.
HEDDLE_HOST_DEVICE constexpr std::uint64_t philox_draw(std::uint64_t i, std::uint64_t offset, std::uint64_t seed) {
  const philox_words words = philox4x32(i >> 1, offset, seed);
  return (i & 1) != 0 ? philox_join(words.word[2], words.word[3]) : philox_join(words.word[0], words.word[1]);
}

/// The upper 64 bits of a product.
HEDDLE_HOST_DEVICE constexpr std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t low = 0xffffffff;
  const std::uint64_t middle = (a >> 32) * (b & low) + (((a & low) * (b & low)) >> 32);
  const std::uint64_t other = (a & low) * (b >> 32) + (middle & low);
  return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

/// How many of the first draws of 64 bits a range must refuse, so that each of its numbers comes of equally many.
constexpr std::uint64_t philox_refused(std::uint64_t range) { return (0 - range) % range; }

/// An integer of [0, range), each equally likely, for element i: the upper half of draw * range, where the lower half
/// is not among the refused (Lemire, "Fast Random Integer Generation in an Interval", 2019). A draw that is refused is
/// taken anew from counters that no other element has.
HEDDLE_HOST_DEVICE constexpr std::uint64_t philox_below(std::uint64_t range, std::uint64_t refused, std::uint64_t i,
                                                        std::uint64_t offset, std::uint64_t seed) {
  std::uint64_t draw = philox_draw(i, offset, seed);
  for (std::uint64_t attempt = 1; draw * range < refused; ++attempt) {
    const philox_words words = philox4x32(i, offset ^ (attempt << 48), seed);
    draw = philox_join(words.word[0], words.word[1]);
  }
  return multiply_high(draw, range);
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
