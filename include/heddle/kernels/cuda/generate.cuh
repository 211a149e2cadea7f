// Elements computed from their index alone. Bytes moved: the output once.
#pragma once

#include "heddle/core/shape.hpp"
#include "heddle/kernels/cuda/launch.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int generate_block = 256;

template <class T, class Generator>
__global__ void __launch_bounds__(generate_block)
    generate_kernel(T* out, index_t count, const __grid_constant__ Generator generator) {
  const index_t i = static_cast<index_t>(blockIdx.x) * generate_block + threadIdx.x;
  if (i < count) out[i] = generator(i);
}

/// out[i] = generator(i), contiguous.
template <class T, class Generator>
void generate(T* out, index_t count, const Generator& generator, const launch_context& context) {
  if (count <= 0) return;
  launch(generate_kernel<T, Generator>, grid_for(count, generate_block), generate_block, 0, context, out, count,
         generator);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
