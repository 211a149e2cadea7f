// Random numbers: each thread computes whole counters of the generator, so that the numbers depend on neither the grid
// nor the device.
#pragma once

#include <cstdint>

#include "heddle/config.hpp"
#include "heddle/core/half.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cuda/launch.cuh"
#include "heddle/kernels/philox.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int random_threads = 256;

/// The numbers of one counter, stored by one access where the memory is aligned for it.
template <class T>
struct alignas(sizeof(T) == 8 ? 16 : 4 * sizeof(T)) random_group {
  static constexpr int count = sizeof(T) == 8 ? 2 : 4;
  T value[static_cast<unsigned>(count)];
};

/// Numbers of `philox_uniform`: in [0, 1).
template <class T>
struct uniform_numbers {
  __device__ random_group<T> operator()(const philox_words& bits) const {
    random_group<T> group;
    if constexpr (sizeof(T) == 8) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        group.value[i] = philox_uniform<T>(philox_join(bits.word[2 * i], bits.word[2 * i + 1]));
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) group.value[i] = philox_uniform<T>(bits.word[i]);
    }
    return group;
  }
};

/// Numbers of mean 0 and variance 1: Box-Muller, see philox.hpp.
template <class T>
struct normal_numbers {
  __device__ random_group<T> operator()(const philox_words& bits) const {
    random_group<T> group;
    if constexpr (sizeof(T) == 8) {
      const double radius = ::sqrt(-2.0 * ::log(philox_radius(philox_join(bits.word[0], bits.word[1]))));
      double sine, cosine;
      sincospi(2.0 * philox_turn(philox_join(bits.word[2], bits.word[3])), &sine, &cosine);
      group.value[0] = radius * cosine;
      group.value[1] = radius * sine;
    } else {
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const float radius = sqrtf(-2.0F * logf(philox_radius(bits.word[i])));
        float sine, cosine;
        sincospif(2.0F * philox_turn(bits.word[i + 1]), &sine, &cosine);
        group.value[i] = static_cast<T>(radius * cosine);
        group.value[i + 1] = static_cast<T>(radius * sine);
      }
    }
    return group;
  }
};

template <class T, class Numbers>
__global__ void __launch_bounds__(random_threads)
    random_kernel(T* data, index_t count, std::uint64_t seed, std::uint64_t offset, bool aligned) {
  constexpr int width = random_group<T>::count;
  const index_t stride = static_cast<index_t>(gridDim.x) * random_threads;
  index_t index = static_cast<index_t>(blockIdx.x) * random_threads + threadIdx.x;
  for (; index < (count + width - 1) / width; index += stride) {
    const random_group<T> group = Numbers{}(philox4x32(static_cast<std::uint64_t>(index), offset, seed));
    T* const out = data + index * width;
    if (aligned && (index + 1) * width <= count) {
      *reinterpret_cast<random_group<T>*>(out) = group;
    } else {
#pragma unroll
      for (int i = 0; i < width; ++i) {
        if (index * width + i < count) out[i] = group.value[i];
      }
    }
  }
}

template <class Numbers, class T>
inline void fill_random(T* data, index_t count, std::uint64_t seed, std::uint64_t offset,
                        const launch_context& context) {
  if (count <= 0) return;
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % sizeof(random_group<T>) == 0;
  launch(random_kernel<T, Numbers>, dim3(grid_for(count, random_threads * random_group<T>::count)),
         dim3(random_threads), 0, context, data, count, seed, offset, aligned);
}

/// data[i] = number i of the stream (seed, offset), uniform in [0, 1): the same bits as on the CPU. T: float, double,
/// half, bfloat16.
template <class T>
inline void fill_uniform(T* data, index_t count, std::uint64_t seed, std::uint64_t offset,
                         const launch_context& context) {
  fill_random<uniform_numbers<T>>(data, count, seed, offset, context);
}

/// data[i] = number i of the stream (seed, offset), normal with mean 0 and variance 1; from the CPU's number it differs
/// by the rounding of log, sin and cos alone. T: float, double, half, bfloat16.
template <class T>
inline void fill_normal(T* data, index_t count, std::uint64_t seed, std::uint64_t offset,
                        const launch_context& context) {
  fill_random<normal_numbers<T>>(data, count, seed, offset, context);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
