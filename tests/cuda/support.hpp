// What the tests of the runtime layer share: little kernels, and reading device memory back.
#pragma once

#include <heddle/cuda/copy.hpp>
#include <heddle/cuda/event.hpp>
#include <heddle/cuda/memory.hpp>
#include <heddle/cuda/pinned.hpp>
#include <heddle/kernels/cuda/launch.cuh>

#include <cstddef>
#include <string>
#include <vector>

namespace heddle_test {

namespace hd = heddle;

static __global__ void fill_kernel(float* x, float value, std::size_t count) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += std::size_t{gridDim.x} * blockDim.x)
    x[i] = value;
}

/// y[i] += x[i]
static __global__ void add_kernel(float* y, const float* x, std::size_t count) {
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += std::size_t{gridDim.x} * blockDim.x)
    y[i] += x[i];
}

/// Writes far outside of everything.
static __global__ void fault_kernel(float* x) { x[std::size_t{1} << 44] = 1; }

inline float* floats(const hd::Storage& storage) { return static_cast<float*>(storage.data); }
inline float* floats(const hd::StorageHandle& storage) { return floats(*storage.get()); }

inline hd::StorageHandle allocate_floats(std::size_t count, hd::Cuda device = {}) {
  return hd::StorageHandle(hd::cuda::allocate(count * sizeof(float), device));
}

inline hd::on_cuda::launch_context context_of(const hd::cuda::Stream& stream, const char* operation) {
  return {hd::cuda::handle_of(stream.state()), stream.device().index, operation};
}

inline void fill(const hd::StorageHandle& storage, float value, const hd::cuda::Stream& stream) {
  const std::size_t count = storage->bytes / sizeof(float);
  hd::on_cuda::launch<fill_kernel>(hd::on_cuda::grid_for(static_cast<std::int64_t>(count), 256, 1024), 256, 0,
                                   context_of(stream, "fill"), floats(storage), value, count);
}
inline void fill(const hd::StorageHandle& storage, float value) {
  fill(storage, value, hd::cuda::current_stream(hd::Cuda{storage->device}));
}

inline void add(const hd::StorageHandle& y, const hd::StorageHandle& x, const hd::cuda::Stream& stream) {
  const std::size_t count = y->bytes / sizeof(float);
  hd::on_cuda::launch<add_kernel>(hd::on_cuda::grid_for(static_cast<std::int64_t>(count), 256, 1024), 256, 0,
                                  context_of(stream, "add"), floats(y), floats(x), count);
}

inline std::vector<float> read(const hd::StorageHandle& storage, const hd::cuda::Stream& stream) {
  std::vector<float> values(storage->bytes / sizeof(float), -12345.0f);
  hd::cuda::copy(values.data(), storage->data, storage->bytes, cudaMemcpyDeviceToHost, stream);
  return values;
}
inline std::vector<float> read(const hd::StorageHandle& storage) {
  return read(storage, hd::cuda::current_stream(hd::Cuda{storage->device}));
}

inline bool contains(const char* text, const char* part) { return std::string(text).find(part) != std::string::npos; }

}  // namespace heddle_test
