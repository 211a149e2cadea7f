// Finished values through an epilogue: what follows a producer that is smaller than the output.
#pragma once

#include "heddle/kernels/cuda/form.cuh"
#include "heddle/kernels/cuda/launch.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int spread_block = 256;

template <class Source, class Sink>
__global__ void __launch_bounds__(spread_block)
    spread_kernel(const __grid_constant__ Source source, const __grid_constant__ Sink sink, index_t size) {
  const index_t step = static_cast<index_t>(gridDim.x) * spread_block;
  for (index_t i = static_cast<index_t>(blockIdx.x) * spread_block + threadIdx.x; i < size; i += step)
    sink.store(sink.at(i), index_t{0}, index_t{0}, source.load(source.at(i), index_t{0}));
}

/// Element by element; every axis is an outer one of the source and of the sink.
template <class Source, class Sink>
void spread(const Source& source, const Sink& sink, index_t size, const launch_context& context) {
  launch(spread_kernel<Source, Sink>, grid_for(size, spread_block), spread_block, 0, context, source, sink, size);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
