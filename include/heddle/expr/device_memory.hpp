// How each kind of device gives memory and copies it. The one place that knows which devices there are besides
// kernels/.
#pragma once

#include <cstring>

#include "heddle/core/tensor.hpp"
#include "heddle/cuda/device.hpp"
#include "heddle/cuda/pinned.hpp"
#if HEDDLE_HAS_CUDA
#include "heddle/cuda/copy.hpp"
#include "heddle/cuda/memory.hpp"
#include "heddle/cuda/stream.hpp"
#include "heddle/cuda/uses.hpp"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

/// Memory of a device: allocate, copy to and from the host and within the device, and the stream that work goes to.
template <class Device>
struct device_memory;

template <>
struct device_memory<Cpu> {
  static Storage* allocate(std::size_t bytes, Cpu) { return allocate_host(bytes); }
  static void copy(void* to, const void* from, std::size_t bytes, Cpu) {
    // The upper bound only tells g++, which else warns of a count that no tensor has.
    if (bytes > 0 && bytes <= PTRDIFF_MAX) std::memcpy(to, from, bytes);
  }
  /// The state of the stream that work now goes to; the CPU has none.
  static void* current_stream(Cpu) { return nullptr; }
};

#if HEDDLE_HAS_CUDA
template <>
struct device_memory<Cuda> {
  static Storage* allocate(std::size_t bytes, Cuda device) { return cuda::allocate(bytes, device); }
  static void copy(void* to, const void* from, std::size_t bytes, Cuda device) {
    if (bytes > 0) cuda::copy(to, from, bytes, cudaMemcpyDeviceToDevice, cuda::current_stream(device));
  }
  static void from_host(void* to, const void* from, std::size_t bytes, Cuda device) {
    if (bytes > 0) cuda::copy(to, from, bytes, cudaMemcpyHostToDevice, cuda::current_stream(device));
  }
  static void to_host(void* to, const void* from, std::size_t bytes, Cuda device) {
    if (bytes > 0) cuda::copy(to, from, bytes, cudaMemcpyDeviceToHost, cuda::current_stream(device));
  }
  static void* current_stream(Cuda device) { return cuda::current_state(device.index); }
};
#else
template <>
struct device_memory<Cuda> {
  template <class... Any>
  static constexpr bool built = sizeof...(Any) < 0;
  template <class Bytes>
  static Storage* allocate(Bytes, Cuda) {
    static_assert(built<Bytes>,
                  "this build has no CUDA: Tensor<T, Rank, Cuda> needs HEDDLE_HAS_CUDA (the CMake target sets it where "
                  "CUDA is enabled)");
    return nullptr;
  }
  template <class Bytes>
  static void copy(void*, const void*, Bytes, Cuda) {}
  template <class Bytes>
  static void from_host(void*, const void*, Bytes, Cuda) {}
  template <class Bytes>
  static void to_host(void*, const void*, Bytes, Cuda) {}
  static void* current_stream(Cuda) { return nullptr; }
};
#endif

/// A new tensor with those strides, which must be dense; its elements are not initialised.
template <class T, int Rank, class Device>
Tensor<T, Rank, Device> allocate_tensor(const Shape<Rank>& shape, const Strides<Rank>& strides, Device device) {
  StorageHandle storage(device_memory<Device>::allocate(static_cast<std::size_t>(shape.size()) * sizeof(T), device));
  T* const data = static_cast<T*>(storage->data);
  return {std::move(storage), data, shape, strides, device};
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
