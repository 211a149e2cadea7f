// Device memory in stream order: taken from the device's pool when the stream gets there, given back when it is done.
#pragma once

#include "heddle/config.hpp"

#if HEDDLE_HAS_CUDA

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "heddle/core/device.hpp"
#include "heddle/core/error.hpp"
#include "heddle/core/storage.hpp"
#include "heddle/cuda/check.hpp"
#include "heddle/cuda/device.hpp"
#include "heddle/cuda/stream.hpp"
#include "heddle/cuda/uses.hpp"

namespace heddle::cuda {

/// Where the memory of each device comes from.
struct PoolTable {
  int kind[max_devices];  ///< 0: not known yet; 1: from `pool`; 2: by cudaMalloc, the device has no pools
  cudaMemPool_t pool[max_devices];
};
HEDDLE_SHARED constinit inline PoolTable pool_table{};

/// Prepares a device's memory at its first use. A pool gives its free memory back to the system at every
/// synchronisation unless its threshold is raised; one that the user has set already stays.
inline int prepare_pool(int index) {
  require_device(index);
  const char* const wish = std::getenv("HEDDLE_CUDA_POOL");
  const bool refused = wish != nullptr && std::strcmp(wish, "off") == 0;
  const int kind = !refused && attributes(index).pools_supported != 0 ? 1 : 2;
  if (kind == 1) {
    cudaMemPool_t pool = nullptr;
    check(cudaDeviceGetDefaultMemPool(&pool, index), "the device's memory pool");
    std::uint64_t threshold = 0;
    check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), "the pool's release threshold");
    if (threshold == 0) {
      threshold = UINT64_MAX;
      check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), "the pool's release threshold");
    }
    __atomic_store_n(&pool_table.pool[index], pool, __ATOMIC_RELAXED);
  }
  __atomic_store_n(&pool_table.kind[index], kind, __ATOMIC_RELEASE);
  return kind;
}

/// The device's pool, null where it has none.
inline cudaMemPool_t pool_of(int index) {
  require_device(index);
  int kind = __atomic_load_n(&pool_table.kind[index], __ATOMIC_ACQUIRE);
  if (kind == 0) kind = prepare_pool(index);
  return kind == 1 ? __atomic_load_n(&pool_table.pool[index], __ATOMIC_RELAXED) : nullptr;
}

/// Sets how many bytes of free memory a device's pool keeps for the next allocations when the program synchronises;
/// Heddle's default is all of it. 0 gives everything back at each synchronisation. Nothing happens without a pool.
/// Example: `hd::cuda::set_release_threshold(std::size_t{1} << 30);`
inline void set_release_threshold(std::size_t bytes, Cuda device = {}) {
  const cudaMemPool_t pool = pool_of(device.index);
  if (pool == nullptr) return;
  std::uint64_t threshold = bytes;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), "the pool's release threshold");
}

/// Waits for the device, then gives its pool's free memory beyond `bytes_to_keep` back to the system, so that other
/// libraries and processes can have it. Example: `hd::cuda::trim();`
inline void trim(Cuda device = {}, std::size_t bytes_to_keep = 0) {
  const cudaMemPool_t pool = pool_of(device.index);
  synchronize(device);
  if (pool != nullptr) check(cudaMemPoolTrimTo(pool, bytes_to_keep), "trim the pool");
}

/// What `memory_stats` tells, in bytes. Without a pool the first four are 0.
struct MemoryStats {
  std::size_t in_use;         ///< handed out by the pool
  std::size_t in_use_peak;    ///< the most there ever was of it
  std::size_t reserved;       ///< held by the pool, in use or not
  std::size_t reserved_peak;  ///< the most there ever was of it
  std::size_t free;           ///< of the device, for everybody
  std::size_t total;          ///< of the device
};

/// The state of a device's memory. Example: `hd::cuda::memory_stats().in_use`.
inline MemoryStats memory_stats(Cuda device = {}) {
  const cudaMemPool_t pool = pool_of(device.index);
  const DeviceGuard guard(device);
  MemoryStats stats{};
  check(cudaMemGetInfo(&stats.free, &stats.total), "free memory");
  if (pool == nullptr) return stats;
  const auto read = [pool](cudaMemPoolAttr attribute) {
    std::uint64_t value = 0;
    check(cudaMemPoolGetAttribute(pool, attribute, &value), "the pool's statistics");
    return static_cast<std::size_t>(value);
  };
  stats.in_use = read(cudaMemPoolAttrUsedMemCurrent);
  stats.in_use_peak = read(cudaMemPoolAttrUsedMemHigh);
  stats.reserved = read(cudaMemPoolAttrReservedMemCurrent);
  stats.reserved_peak = read(cudaMemPoolAttrReservedMemHigh);
  return stats;
}

inline void finish_release(Storage* storage) noexcept {
  if (storage->stream != nullptr) static_cast<StreamState*>(storage->stream)->drop();
  delete storage;
}

/// Gives pool memory back in the order of its stream, after all recorded uses. What CUDA answers is not looked at: when
/// the process ends the driver may be gone, and the fault of a kernel is reported by every later call anyway. In a
/// forked child the memory is the parent's.
inline void release_to_pool(Storage* storage) noexcept {
  if (storage->data != nullptr && known_device_count() != 0) [[likely]] {
    const DeviceGuard guard(Cuda{storage->device}, nullptr);
    if (storage->uses != nullptr) {
      if (keep_for_graph(storage)) return;
      wait_for_uses(storage);
    }
    cudaFreeAsync(storage->data, handle_of(static_cast<StreamState*>(storage->stream)));
  } else if (storage->uses != nullptr) {
    forget_uses(storage);
  }
  finish_release(storage);
}

/// Gives memory of cudaMalloc back; cudaFree waits for the device, and so for every use.
inline void release_plain(Storage* storage) noexcept {
  if (storage->uses != nullptr) {
    if (known_device_count() != 0 && keep_for_graph(storage)) return;
    forget_uses(storage);
  }
  if (storage->data != nullptr && known_device_count() != 0) {
    const DeviceGuard guard(Cuda{storage->device}, nullptr);
    cudaFree(storage->data);
  }
  finish_release(storage);
}

/// A call's attempt at memory: from the pool in stream order, or by cudaMalloc (allowed during capture, too, where this
/// thread says that it knows what it does).
inline cudaError_t try_allocate(void** data, std::size_t bytes, int kind, cudaStream_t stream) noexcept {
  if (kind == 1) [[likely]] {
    return cudaMallocAsync(data, bytes, stream);
  }
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  const cudaError_t status = cudaMalloc(data, bytes);
  cudaThreadExchangeStreamCaptureMode(&mode);
  return status;
}

[[noreturn]] inline void throw_out_of_memory(std::size_t bytes, int index) {
  clear_own_error();
  MemoryStats stats{};
  cudaMemPool_t pool = nullptr;
  try {
    stats = memory_stats(Cuda{index});
    pool = pool_of(index);
  } catch (const Error&) {
    // The message does without what can't be had.
  }
  Message message;
  message << "out of memory on cuda:" << index << ": " << bytes << " bytes were asked for, " << stats.free << " of "
          << stats.total << " are free";
  if (pool != nullptr)
    message << "; Heddle's pool holds " << stats.reserved << ", of which " << stats.in_use << " are in use";
  throw OutOfMemory(message, bytes, stats.free);
}

/// After a first refusal: waits until all that was released is free, makes the pool let go of it, tries once more.
inline void allocate_after_trim(void** data, std::size_t bytes, int kind, int index, cudaStream_t stream) {
  clear_own_error();
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (stream != cudaStreamLegacy) cudaStreamIsCapturing(stream, &capture);
  if (capture != cudaStreamCaptureStatusNone) throw_out_of_memory(bytes, index);
  if (const cudaError_t status = cudaDeviceSynchronize(); is_kernel_fault(status)) throw_error(status, "allocation");
  if (kind == 1) cudaMemPoolTrimTo(__atomic_load_n(&pool_table.pool[index], __ATOMIC_RELAXED), 0);
  const cudaError_t status = try_allocate(data, bytes, kind, stream);
  if (status == cudaErrorMemoryAllocation) throw_out_of_memory(bytes, index);
  check(status, "allocation");
  clear_own_error();
}

/// Gives an allocation of a capture back to its graph: for the rest of the capture, or to the device where the graph is
/// no more.
inline void release_to_graph(Storage* storage) noexcept {
  if (storage->uses != nullptr && known_device_count() != 0 && keep_for_graph(storage)) return;
  GraphMemory& graph = *static_cast<StreamState*>(storage->stream)->graph;
  {
    const GraphMemoryLock lock(graph);
    for (GraphMemory::Block** link = &graph.blocks; *link != nullptr; link = &(*link)->next) {
      GraphMemory::Block* const block = *link;
      if (block->data != storage->data) continue;
      // What other streams of the same capture still use can't serve again.
      if (graph.open) {
        block->in_use = storage->uses != nullptr && captures_under_way > 0;
      } else {
        *link = block->next;
        const DeviceGuard guard(Cuda{storage->device}, nullptr);
        if (known_device_count() != 0) cudaFree(block->data);
        delete block;
      }
      break;
    }
  }
  if (storage->uses != nullptr) forget_uses(storage);
  finish_release(storage);
}

/// Memory for a capture, by cudaMalloc: no work of the capture's, and nobody else's until the graph is gone.
inline void allocate_for_graph(Storage& storage, std::size_t bytes, GraphMemory& graph) {
  const GraphMemoryLock lock(graph);
  GraphMemory::Block* best = nullptr;
  for (GraphMemory::Block* block = graph.blocks; block != nullptr; block = block->next)
    if (!block->in_use && block->bytes >= bytes && block->bytes / 2 <= bytes &&
        (best == nullptr || block->bytes < best->bytes))
      best = block;
  if (best == nullptr) {
    void* data = nullptr;
    cudaError_t status = try_allocate(&data, bytes, 2, nullptr);
    if (status == cudaErrorMemoryAllocation) {
      clear_own_error();
      if (const cudaMemPool_t pool = pool_of(storage.device); pool != nullptr) cudaMemPoolTrimTo(pool, 0);
      status = try_allocate(&data, bytes, 2, nullptr);
    }
    if (status == cudaErrorMemoryAllocation) throw_out_of_memory(bytes, storage.device);
    check(status, "allocation for a graph");
    best = new (std::nothrow) GraphMemory::Block{data, bytes, true, graph.blocks};
    if (best == nullptr) {
      cudaFree(data);
      throw OutOfMemory(Message{} << "out of host memory for a graph's allocation", sizeof(GraphMemory::Block), 0);
    }
    graph.blocks = best;
  }
  best->in_use = true;
  storage.data = best->data;
  storage.release = release_to_graph;
}

/// Device memory of that many bytes, uninitialised, on the calling thread's current stream: usable by work put on that
/// stream from now on. Zero bytes make no call and give a null pointer. When memory is short the device is waited for
/// and its pool's free memory given back before a second try. Throws OutOfMemory, or DeviceError for a device that
/// can't be used. Example: `heddle::StorageHandle s(hd::cuda::allocate(1024, hd::Cuda{0}));`
inline Storage* allocate(std::size_t bytes, Cuda device) {
  require_device(device.index);
  int kind = __atomic_load_n(&pool_table.kind[device.index], __ATOMIC_ACQUIRE);
  if (kind == 0) [[unlikely]] {
    kind = prepare_pool(device.index);
  }
  StreamState* const state = current_state(device.index);
  Storage* const storage = new (std::nothrow) Storage;
  if (storage == nullptr) [[unlikely]] {
    throw OutOfMemory(Message{} << "out of host memory for a tensor's control block", sizeof(Storage), 0);
  }
  storage->bytes = bytes;
  storage->device = device.index;
  storage->stream = state;
  storage->release = kind == 1 ? release_to_pool : release_plain;
  if (state != nullptr) state->retain();
  if (bytes == 0) return storage;
  try {
    const DeviceGuard guard(device);
    if (state != nullptr && state->graph != nullptr) [[unlikely]] {
      allocate_for_graph(*storage, bytes, *state->graph);
      return storage;
    }
    const cudaStream_t stream = handle_of(state);
    const cudaError_t status = try_allocate(&storage->data, bytes, kind, stream);
    if (status != cudaSuccess) [[unlikely]] {
      storage->data = nullptr;
      if (status != cudaErrorMemoryAllocation) throw_error(status, "allocation");
      allocate_after_trim(&storage->data, bytes, kind, device.index, stream);
    }
  } catch (...) {
    storage->data = nullptr;
    storage->release(storage);
    throw;
  }
  return storage;
}

}  // namespace heddle::cuda

#endif  // HEDDLE_HAS_CUDA
