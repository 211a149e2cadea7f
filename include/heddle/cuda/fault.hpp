// Indices out of range that kernels have met. A kernel can't throw: it leaves the element out, writes what it met into
// a page-locked record of its device, and the next synchronisation throws it.
#pragma once

#include "heddle/config.hpp"

#if HEDDLE_HAS_CUDA

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "heddle/core/error.hpp"
#include "heddle/cuda/check.hpp"

namespace heddle::cuda {

/// Devices beyond this number are not looked at.
inline constexpr int max_devices = 64;

/// The first index out of range that kernels of a device have met since the last synchronisation.
struct IndexFault {
  unsigned state;         ///< 0: none; 1: being written; 2: complete
  int axis;               ///< of the tensor that was indexed
  std::int64_t index;     ///< what was asked for
  std::int64_t extent;    ///< how many there are
  const char* operation;  ///< a literal of the host's
};

/// The record of each device; null until an operation that checks indices has run there.
HEDDLE_SHARED constinit inline IndexFault* index_faults[max_devices] = {};

inline void release_index_faults() noexcept {
  for (IndexFault*& record : index_faults) {
    IndexFault* const held = __atomic_exchange_n(&record, nullptr, __ATOMIC_ACQ_REL);
    // In a forked child it is the parent's; when the runtime is gone already the call fails, and nothing is lost.
    if (held != nullptr && !is_forked()) cudaFreeHost(held);
  }
}

/// The record that kernels of a device write to. Throws DeviceError, OutOfMemory.
inline IndexFault* index_fault_record(int device) {
  IndexFault* record = __atomic_load_n(&index_faults[device], __ATOMIC_ACQUIRE);
  if (record != nullptr) [[likely]] {
    return record;
  }
  void* made = nullptr;
  // Under capture this thread says that it knows what it does: nothing of the capture depends on the call.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  const cudaError_t status = cudaHostAlloc(&made, sizeof(IndexFault), cudaHostAllocPortable | cudaHostAllocMapped);
  cudaThreadExchangeStreamCaptureMode(&mode);
  check(status, "the record of indices out of range");
  std::memset(made, 0, sizeof(IndexFault));
  if (__atomic_compare_exchange_n(&index_faults[device], &record, static_cast<IndexFault*>(made), false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    static const int registered = std::atexit(release_index_faults);
    static_cast<void>(registered);
    return static_cast<IndexFault*>(made);
  }
  cudaFreeHost(made);
  return record;
}

[[noreturn]] inline void throw_index_fault(const IndexFault& fault, int device) {
  throw DeviceError(Message{} << fault.operation << " on cuda:" << device << ": index " << fault.index
                              << " is out of range for axis " << fault.axis << " with extent " << fault.extent
                              << ". Nothing was read or written for it; an operation that ran before this "
                                 "synchronisation met it (HEDDLE_SYNC_CHECK=1 in the environment tells which)");
}

/// Throws what kernels have met on that device, once. For every place where the host has waited for the device.
inline void throw_recorded_fault(int device) {
  IndexFault* const record = __atomic_load_n(&index_faults[device], __ATOMIC_ACQUIRE);
  if (record == nullptr || __atomic_load_n(&record->state, __ATOMIC_ACQUIRE) != 2) [[likely]] {
    return;
  }
  const IndexFault fault = *record;
  unsigned complete = 2;
  if (__atomic_compare_exchange_n(&record->state, &complete, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    throw_index_fault(fault, device);
}

}  // namespace heddle::cuda

#endif  // HEDDLE_HAS_CUDA
