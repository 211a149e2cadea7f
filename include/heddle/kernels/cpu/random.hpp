// Random numbers on the CPU.
#pragma once

#include <cmath>

#include "heddle/core/shape.hpp"
#include "heddle/kernels/cpu/pool.hpp"
#include "heddle/kernels/philox.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

template <class T>
void fill_uniform(T* data, index_t count, std::uint64_t seed, std::uint64_t offset) {
  for (index_t i = 0; i < count; ++i) {
    if constexpr (sizeof(T) == 8) {
      const philox_words w = philox4x32(static_cast<std::uint64_t>(i / 2), offset, seed);
      data[i] = philox_uniform<T>(philox_join(w.word[2 * (i % 2)], w.word[2 * (i % 2) + 1]));
    } else {
      data[i] = philox_uniform<T>(philox4x32(static_cast<std::uint64_t>(i / 4), offset, seed).word[i % 4]);
    }
  }
}
template <class T>
void fill_normal(T* data, index_t count, std::uint64_t seed, std::uint64_t offset) {
  constexpr double turn = 6.283185307179586;
  for (index_t i = 0; i < count; ++i) {
    double radius, angle;
    if constexpr (sizeof(T) == 8) {
      const philox_words w = philox4x32(static_cast<std::uint64_t>(i / 2), offset, seed);
      radius = philox_radius(philox_join(w.word[0], w.word[1]));
      angle = philox_turn(philox_join(w.word[2], w.word[3]));
    } else {
      const philox_words w = philox4x32(static_cast<std::uint64_t>(i / 4), offset, seed);
      radius = static_cast<double>(philox_radius(w.word[i % 4 / 2 * 2]));
      angle = static_cast<double>(philox_turn(w.word[i % 4 / 2 * 2 + 1]));
    }
    const double length = std::sqrt(-2 * std::log(radius));
    data[i] = static_cast<T>(length * (i % 2 == 0 ? std::cos(turn * angle) : std::sin(turn * angle)));
  }
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
