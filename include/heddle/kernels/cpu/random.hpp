// Random numbers on the CPU: Philox counters 16 at a time, so that the rounds vectorise. Each number depends on its
// index, seed and offset alone (philox.hpp says how).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
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

/// The words of 16 consecutive groups: word[w][g] is word w of group first + g.
struct philox_block {
  static constexpr int groups = 16;
  std::uint32_t word[4][groups];

  HEDDLE_ALWAYS_INLINE philox_block(std::uint64_t first, std::uint64_t offset, std::uint64_t seed) {
    for (int g = 0; g < groups; ++g) {
      const philox_words words = philox4x32(first + static_cast<std::uint64_t>(g), offset, seed);
      for (int w = 0; w < 4; ++w) word[w][g] = words.word[w];
    }
  }
};

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

  template <class Value>
  static HEDDLE_ALWAYS_INLINE void uniform(const philox_block& block, Value* values) {
    if constexpr (sizeof(T) == 8) {
      for (int g = 0; g < philox_block::groups; ++g) {
        values[2 * g] = philox_uniform<double>(draw(block, 0, g));
        values[2 * g + 1] = philox_uniform<double>(draw(block, 1, g));
      }
    } else {
      // A number of half or bfloat16 is exact in float.
      for (int g = 0; g < philox_block::groups; ++g)
        for (int w = 0; w < 4; ++w) values[4 * g + w] = static_cast<float>(philox_uniform<T>(block.word[w][g]));
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
    for (int pair = 0; pair < 2; ++pair) {
      float cosine[philox_block::groups], sine[philox_block::groups];
      for (int g = 0; g < philox_block::groups; ++g) {
        const float radius = root(-2.0F * log_f32(philox_radius(block.word[2 * pair][g])));
        float s, c;
        sincos_turn_f32(philox_turn(block.word[2 * pair + 1][g]), s, c);
        cosine[g] = radius * c;
        sine[g] = radius * s;
      }
      for (int g = 0; g < philox_block::groups; ++g) {
        values[4 * g + 2 * pair] = cosine[g];
        values[4 * g + 2 * pair + 1] = sine[g];
      }
    }
  }
  /// The square root of 0 or of a number that is neither subnormal nor near the greatest. std::sqrt may set errno,
  /// which keeps loops around it from vectorising.
  static HEDDLE_ALWAYS_INLINE float root(float x) {
    float inverse = __builtin_bit_cast(float, 0x5f375a86 - (__builtin_bit_cast(std::int32_t, x) >> 1));
    for (int i = 0; i < 3; ++i) inverse = inverse * (1.5F - (0.5F * x * inverse) * inverse);
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
