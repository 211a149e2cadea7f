// Uses of memory on other streams than its own: recorded when they happen, waited for before the memory is given back.
#pragma once

#include "heddle/config.hpp"

#if HEDDLE_HAS_CUDA

#include <cuda_runtime_api.h>

#include <new>

#include "heddle/core/error.hpp"
#include "heddle/core/storage.hpp"
#include "heddle/cuda/check.hpp"
#include "heddle/cuda/device.hpp"
#include "heddle/cuda/stream.hpp"

namespace heddle::cuda {

/// One stream that has used the memory; `Storage::uses` points to the latest. Added atomically, as several threads may
/// read one tensor.
struct Use {
  StreamState* stream;  ///< null: the default stream
  int device;
  Use* next;
  Storage* storage;  ///< what is used
};

/// Records that work put on the stream so far uses the memory, so that its release waits for it. Nothing to do for
/// memory of that very stream, for borrowed and for pageable memory. Throws OutOfMemory.
/// Example: `hd::cuda::record_stream(*storage, stream);`
inline void record_stream(Storage& storage, const Stream& stream) {
  const bool on_device = storage.device >= 0;
  if (!storage.owned || (!on_device && !storage.pinned)) return;
  if (on_device && storage.stream == stream.state() && storage.device == stream.device().index) return;
  void* head = __atomic_load_n(&storage.uses, __ATOMIC_ACQUIRE);
  for (const Use* use = static_cast<Use*>(head); use != nullptr; use = use->next)
    if (use->stream == stream.state() && use->device == stream.device().index) return;
  Use* const use = new (std::nothrow) Use{stream.state(), stream.device().index, nullptr, &storage};
  if (use == nullptr) throw OutOfMemory(Message{} << "out of host memory for the record of a stream", sizeof(Use), 0);
  if (use->stream != nullptr) use->stream->retain();
  do {
    use->next = static_cast<Use*>(head);
  } while (!__atomic_compare_exchange_n(&storage.uses, &head, use, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
}

/// Records the use of device memory by the calling thread's current stream of its device, if that is another stream
/// than its own: two comparisons where it is not.
inline void record_current_stream(Storage& storage) {
  if (storage.device >= 0 && storage.stream != current_state(storage.device)) [[unlikely]] {
    record_stream(storage, current_stream(Cuda{storage.device}));
  }
}

/// Takes the record of the uses from a storage that nobody shares any more and hands each to `f`, which must not throw.
template <class F>
void take_uses(Storage* storage, F f) noexcept {
  Use* use = static_cast<Use*>(storage->uses);
  storage->uses = nullptr;
  while (use != nullptr) {
    Use* const next = use->next;
    f(*use);
    if (use->stream != nullptr) use->stream->drop();
    delete use;
    use = next;
  }
}

inline void forget_uses(Storage* storage) noexcept {
  take_uses(storage, [](const Use&) noexcept {});
}

/// The event with which a stream's end is marked. Each stream keeps one: a mark is waited for at once, and a later one
/// is as good. The default streams keep none.
inline cudaEvent_t marker_of(StreamState* state) noexcept {
  if (state != nullptr) {
    if (cudaEvent_t const kept = __atomic_load_n(&state->marker, __ATOMIC_ACQUIRE); kept != nullptr) return kept;
  }
  cudaEvent_t made = nullptr;
  if (cudaEventCreateWithFlags(&made, cudaEventDisableTiming) != cudaSuccess) return nullptr;
  if (state == nullptr) return made;
  cudaEvent_t kept = nullptr;
  if (__atomic_compare_exchange_n(&state->marker, &kept, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
  cudaEventDestroy(made);
  return kept;
}

/// Makes `waiting` (a stream of `waiting_device`) wait for all work put so far on another stream. Where no event can be
/// had the host waits.
inline void order_after(cudaStream_t waiting, int waiting_device, StreamState* before, int before_device) noexcept {
  cudaEvent_t marker = nullptr;
  {
    const DeviceGuard guard(Cuda{before_device}, nullptr);
    // An event of a stream under capture would draw the waiting stream into the capture.
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (before != nullptr) cudaStreamIsCapturing(before->handle, &capture);
    if (capture != cudaStreamCaptureStatusNone) return;
    marker = marker_of(before);
    if (marker == nullptr || cudaEventRecord(marker, handle_of(before)) != cudaSuccess)
      cudaStreamSynchronize(handle_of(before));
  }
  if (marker == nullptr) return;
  const DeviceGuard guard(Cuda{waiting_device}, nullptr);
  cudaStreamWaitEvent(waiting, marker, 0);
  if (before == nullptr) cudaEventDestroy(marker);
}

/// Leaves memory that nobody shares any more to a graph that uses it, if there is one: released when the graph is.
inline bool keep_for_graph(Storage* storage) noexcept {
  void** link = &storage->uses;
  for (Use* use = static_cast<Use*>(*link); use != nullptr; use = use->next) {
    GraphMemory* const graph = use->stream != nullptr ? use->stream->graph : nullptr;
    if (graph != nullptr) {
      const GraphMemoryLock lock(*graph);
      if (graph->open) {
        *link = use->next;
        use->next = graph->kept;
        graph->kept = use;
        // The graph itself holds the stream; a reference from what it keeps would be a circle.
        use->stream->drop();
        return true;
      }
    }
    link = reinterpret_cast<void**>(&use->next);
  }
  return false;
}

/// Makes the stream that device memory belongs to wait for the recorded uses, and forgets them.
inline void wait_for_uses(Storage* storage) noexcept {
  const cudaStream_t own = handle_of(static_cast<StreamState*>(storage->stream));
  take_uses(storage, [&](const Use& use) noexcept { order_after(own, storage->device, use.stream, use.device); });
}

/// Waits on the host for the recorded uses, and forgets them.
inline void synchronize_uses(Storage* storage) noexcept {
  take_uses(storage, [](const Use& use) noexcept {
    const DeviceGuard guard(Cuda{use.device}, nullptr);
    cudaStreamSynchronize(handle_of(use.stream));
  });
}

}  // namespace heddle::cuda

#endif  // HEDDLE_HAS_CUDA
