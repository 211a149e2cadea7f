// Random numbers on the CPU: Philox counters 16 at a time, so that the rounds vectorise. Each number depends on its
// index, seed and offset alone (philox.hpp says how).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cpu/fast_math.hpp"
#include "heddle/kernels/cpu/isa.hpp"
#include "heddle/kernels/cpu/pool.hpp"
#include "heddle/kernels/philox.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// The words of 16 consecutive groups: word[w][g] is word w of group first + g. philox4x32 with the loop over the
/// groups innermost, which vectorises.
struct philox_block {
  static constexpr int groups = 16;
  std::uint32_t word[4][groups];

  HEDDLE_ALWAYS_INLINE philox_block(std::uint64_t first, std::uint64_t offset, std::uint64_t seed) {
    for (int g = 0; g < groups; ++g) {
      const std::uint64_t group = first + static_cast<std::uint64_t>(g);
      word[0][g] = static_cast<std::uint32_t>(group);
      word[1][g] = static_cast<std::uint32_t>(group >> 32);
      word[2][g] = static_cast<std::uint32_t>(offset);
      word[3][g] = static_cast<std::uint32_t>(offset >> 32);
    }
    std::uint32_t key0 = static_cast<std::uint32_t>(seed), key1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      for (int g = 0; g < groups; ++g) {
        const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * word[0][g];
        const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * word[2][g];
        word[0][g] = static_cast<std::uint32_t>(p1 >> 32) ^ word[1][g] ^ key0;
        word[1][g] = static_cast<std::uint32_t>(p1);
        word[2][g] = static_cast<std::uint32_t>(p0 >> 32) ^ word[3][g] ^ key1;
        word[3][g] = static_cast<std::uint32_t>(p0);
      }
      key0 += 0x9E3779B9U;
      key1 += 0xBB67AE85U;
    }
  }
};

/// Words `first` to first + 63 of a stream.
struct chunk_of_words {
  std::uint32_t* words;
  std::uint64_t first, offset, seed;

  HEDDLE_ALWAYS_INLINE void operator()() const {
    constexpr int groups = philox_block::groups;
    static_assert(4 * groups == chunk);
    const philox_block block(first / 4, offset, seed);
    std::uint32_t side_by_side[chunk + 4];
    for (int g = 0; g < groups; ++g) {
      side_by_side[4 * g] = block.word[0][g];
      side_by_side[4 * g + 1] = block.word[1][g];
      side_by_side[4 * g + 2] = block.word[2][g];
      side_by_side[4 * g + 3] = block.word[3][g];
    }
    if (first % 4 != 0) {
      const philox_words last = philox4x32(first / 4 + groups, offset, seed);
      std::memcpy(side_by_side + chunk, last.word, sizeof(last.word));
    }
    std::memcpy(words, side_by_side + first % 4, sizeof(std::uint32_t) * chunk);
  }
};

/// philox_word of numbers first, first + step and so on, at most a chunk of them.
[[gnu::noinline]] inline void fill_words(std::uint32_t* words, index_t first, index_t step, int count,
                                         std::uint64_t offset, std::uint64_t seed) {
  if (step == 1) {
    vectorised(chunk_of_words{words, static_cast<std::uint64_t>(first), offset, seed});
  } else {
    for (int j = 0; j < count; ++j) words[j] = philox_word(static_cast<std::uint64_t>(first + j * step), offset, seed);
  }
}

/// Fills `count` elements, the first of which is element `first` of the stream, a multiple of 64.
template <bool Normal, class T>
struct random_fill {
  T* data;
  index_t first, count;
  std::uint64_t seed, offset;

  HEDDLE_ALWAYS_INLINE void operator()() const {
    constexpr index_t group = sizeof(T) == 8 ? 2 : 4;  // elements of a group of words
    constexpr index_t step = group * philox_block::groups;
    using Value = std::conditional_t<sizeof(T) == 8, double, float>;
    for (index_t i = 0; i < count; i += step) {
      const philox_block block(static_cast<std::uint64_t>((first + i) / group), offset, seed);
      Value values[static_cast<std::size_t>(step)];
      if constexpr (Normal) {
        normal(block, values);
      } else {
        uniform(block, values);
      }
      const index_t now = count - i < step ? count - i : step;
      if (now == step) {
        for (index_t j = 0; j < step; ++j) data[i + j] = static_cast<T>(values[j]);
      } else {
        for (index_t j = 0; j < now; ++j) data[i + j] = static_cast<T>(values[j]);
      }
    }
  }

 private:
  static HEDDLE_ALWAYS_INLINE std::uint64_t draw(const philox_block& block, int pair, int g) {
    return philox_join(block.word[2 * pair][g], block.word[2 * pair + 1][g]);
  }

  static HEDDLE_ALWAYS_INLINE void uniform(const philox_block& block, double* values) {
    for (int g = 0; g < philox_block::groups; ++g) {
      values[2 * g] = philox_uniform<double>(draw(block, 0, g));
      values[2 * g + 1] = philox_uniform<double>(draw(block, 1, g));
    }
  }
  static HEDDLE_ALWAYS_INLINE void uniform(const philox_block& block, float* values) {
    // A number of half or bfloat16 is exact in float.
    float words[4][philox_block::groups];
    for (int w = 0; w < 4; ++w)
      for (int g = 0; g < philox_block::groups; ++g)
        words[w][g] =
            static_cast<float>(static_cast<std::int32_t>(block.word[w][g] >> (32 - uniform_bits))) * uniform_unit;
    interleave(words, values);
  }
  static constexpr int uniform_bits = std::same_as<T, half> ? 11 : std::same_as<T, bfloat16> ? 8 : 24;
  static constexpr float uniform_unit = 1.0F / static_cast<float>(1 << uniform_bits);

  /// Element 4 g + w is words[w][g].
  static HEDDLE_ALWAYS_INLINE void interleave(const float (&words)[4][philox_block::groups], float* values) {
    for (int g = 0; g < philox_block::groups; ++g) {
      values[4 * g] = words[0][g];
      values[4 * g + 1] = words[1][g];
      values[4 * g + 2] = words[2][g];
      values[4 * g + 3] = words[3][g];
    }
  }

  static HEDDLE_ALWAYS_INLINE void normal(const philox_block& block, double* values) {
    constexpr double whole_turn = 6.283185307179586;
    for (int g = 0; g < philox_block::groups; ++g) {
      const double radius = std::sqrt(-2.0 * std::log(philox_radius(draw(block, 0, g))));
      const double angle = whole_turn * philox_turn(draw(block, 1, g));
      values[2 * g] = radius * std::cos(angle);
      values[2 * g + 1] = radius * std::sin(angle);
    }
  }
  static HEDDLE_ALWAYS_INLINE void normal(const philox_block& block, float* values) {
    float words[4][philox_block::groups];
    for (int pair = 0; pair < 4; pair += 2) {
      for (int g = 0; g < philox_block::groups; ++g) {
        const float radius = root(-2.0F * log_f32(philox_radius(block.word[pair][g])));
        float sine, cosine;
        sincos_turn_f32(philox_turn(block.word[pair + 1][g]), sine, cosine);
        words[pair][g] = radius * cosine;
        words[pair + 1][g] = radius * sine;
      }
    }
    interleave(words, values);
  }
  /// The square root of 0 or of a number that is neither subnormal nor near the greatest. std::sqrt may set errno,
  /// which keeps loops around it from vectorising.
  static HEDDLE_ALWAYS_INLINE float root(float x) {
    float inverse = __builtin_bit_cast(float, 0x5f375a86 - (__builtin_bit_cast(std::int32_t, x) >> 1));
    // Newton's step, three times: a loop here would keep the loop around it from vectorising.
    inverse = inverse * (1.5F - (0.5F * x * inverse) * inverse);
    inverse = inverse * (1.5F - (0.5F * x * inverse) * inverse);
    inverse = inverse * (1.5F - (0.5F * x * inverse) * inverse);
    const float y = x * inverse;
    return y + 0.5F * inverse * (x - y * y);
  }
};

template <bool Normal, class T>
void fill_random(T* data, index_t count, std::uint64_t seed, std::uint64_t offset) {
  constexpr index_t grain = 8192;  // a multiple of what random_fill starts at
  parallel_for(count, grain, [&](index_t begin, index_t end) {
    vectorised(random_fill<Normal, T>{data + begin, begin, end - begin, seed, offset});
  });
}

/// Uniform numbers in [0, 1): element i is philox_uniform of its words, the same bits as on Cuda. T is float, double,
/// half or bfloat16. Example: `on_cpu::fill_uniform(x.data(), x.size(), seed, offset);`
template <class T>
void fill_uniform(T* data, index_t count, std::uint64_t seed, std::uint64_t offset) {
  fill_random<false>(data, count, seed, offset);
}

/// Normal numbers of mean 0 and variance 1, by Box-Muller; half and bfloat16 are rounded from float.
template <class T>
void fill_normal(T* data, index_t count, std::uint64_t seed, std::uint64_t offset) {
  fill_random<true>(data, count, seed, offset);
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
