// Clusters of blocks (compute capability 9.0 and later): their barrier, and writing to each other's shared memory. As
// instructions, since CUDA's headers for them cost as much compile time as a small program.
#pragma once

#include <cstdint>
#include <cstring>

#include "heddle/config.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// Whether this pass of the compiler is for an architecture with clusters; false on the host.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
inline constexpr bool code_has_clusters = true;
#else
inline constexpr bool code_has_clusters = false;
#endif

/// The barrier of all threads of a cluster, in two halves. What was written before arriving is seen after waiting.
__device__ __forceinline__ void cluster_arrive() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}
/// Writes a value of whole words to where `place` of this block's shared memory is in that of another of the cluster.
template <class T>
__device__ __forceinline__ void cluster_store([[maybe_unused]] T* place, [[maybe_unused]] unsigned block,
                                              [[maybe_unused]] const T& value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  static_assert(sizeof(T) % 4 == 0);
  constexpr unsigned count = sizeof(T) / 4;
  std::uint32_t words[count];
  memcpy(words, &value, sizeof(T));
  const auto own = static_cast<std::uint32_t>(__cvta_generic_to_shared(place));
  std::uint32_t address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(own), "r"(block));
#pragma unroll
  for (unsigned i = 0; i < count; ++i)
    asm volatile("st.shared::cluster.b32 [%0], %1;" ::"r"(address + 4 * i), "r"(words[i]) : "memory");
#endif
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
