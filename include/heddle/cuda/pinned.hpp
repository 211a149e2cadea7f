// Page-locked host memory: what the device copies from and to at full speed, and while the host goes on.
#pragma once

#include "heddle/config.hpp"
#include "heddle/core/error.hpp"
#include "heddle/core/storage.hpp"
#include "heddle/cuda/device.hpp"

#if HEDDLE_HAS_CUDA

#include <cuda_runtime_api.h>

#include <cstddef>
#include <new>

#include "heddle/cuda/check.hpp"
#include "heddle/cuda/uses.hpp"

namespace heddle::cuda {

/// Frees page-locked memory after the asynchronous copies recorded on it. In a forked child it is the parent's.
inline void release_pinned(Storage* storage) noexcept {
  if (known_device_count() != 0) {
    if (storage->uses != nullptr) {
      if (keep_for_graph(storage)) return;
      synchronize_uses(storage);
    }
    cudaFreeHost(storage->data);
  } else if (storage->uses != nullptr) {
    forget_uses(storage);
  }
  delete storage;
}

inline Storage* allocate_page_locked(std::size_t bytes) {
  void* data = nullptr;
  // Under capture this thread says that it knows what it does: nothing of the capture depends on the call.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  const cudaError_t status = cudaHostAlloc(&data, bytes, cudaHostAllocPortable);
  cudaThreadExchangeStreamCaptureMode(&mode);
  if (status == cudaErrorMemoryAllocation) {
    clear_own_error();
    throw OutOfMemory(Message{} << "out of memory: " << bytes << " bytes of page-locked host memory were asked for",
                      bytes, 0);
  }
  check(status, "page-locked memory");
  Storage* const storage = new (std::nothrow) Storage;
  if (storage == nullptr) {
    cudaFreeHost(data);
    throw OutOfMemory(Message{} << "out of host memory for a tensor's control block", sizeof(Storage), 0);
  }
  storage->data = data;
  storage->bytes = bytes;
  storage->pinned = true;
  storage->release = release_pinned;
  return storage;
}

}  // namespace heddle::cuda

#endif  // HEDDLE_HAS_CUDA

namespace heddle::cuda {

/// Host memory of that many bytes, uninitialised: page-locked where there is a CUDA device, else plain. Heddle's
/// ordinary copies are complete when they return; an asynchronous one is recorded on the memory, whose release waits
/// for it. Throws OutOfMemory.
template <class Build = this_build>
Storage* allocate_pinned(std::size_t bytes) {
#if HEDDLE_HAS_CUDA
  if (bytes > 0 && query_device_count() > 0) return allocate_page_locked(bytes);
#endif
  return allocate_host(bytes);
}

}  // namespace heddle::cuda
