// Streams, and the one that the calling thread's work goes to.
#pragma once

#include "heddle/config.hpp"

#if HEDDLE_HAS_CUDA

#include <cuda_runtime_api.h>

#include <cstdint>
#include <new>

#include "heddle/core/capture.hpp"
#include "heddle/core/device.hpp"
#include "heddle/cuda/check.hpp"
#include "heddle/cuda/device.hpp"
#include "heddle/cuda/graph_memory.hpp"

namespace heddle::cuda {

class Event;

/// What all handles on a stream share. Memory holds it too, and so outlives the user's Stream without harm. A null
/// pointer in its place means the default stream.
struct StreamState {
  std::int64_t references;  ///< changed atomically
  cudaStream_t handle;
  int device;
  bool owned;          ///< false: the stream belongs to somebody else
  cudaEvent_t marker;  ///< made when it is first needed, see mark_end
  GraphMemory* graph;  ///< of the stream that a Graph was captured on, else null

  void retain() noexcept { __atomic_add_fetch(&references, 1, __ATOMIC_RELAXED); }
  void drop() noexcept {
    if (__atomic_sub_fetch(&references, 1, __ATOMIC_ACQ_REL) != 0) return;
    if (known_device_count() != 0) {
      const DeviceGuard guard(Cuda{device}, nullptr);
      if (marker != nullptr) cudaEventDestroy(marker);
      if (owned) cudaStreamDestroy(handle);
    }
    delete graph;
    delete this;
  }
};

/// The default stream is named explicitly: 0 would mean another one in files compiled for per-thread default streams.
inline cudaStream_t handle_of(const StreamState* state) noexcept {
  return state != nullptr ? state->handle : cudaStreamLegacy;
}

/// The calling thread's current stream of each device; whoever sets one keeps it alive.
HEDDLE_SHARED constinit inline thread_local StreamState* current_states[max_devices] = {};

/// The calling thread's current stream for launches and allocations on a device known to exist.
inline StreamState* current_state(int device) noexcept { return current_states[device]; }
inline cudaStream_t current_handle(int device) noexcept { return handle_of(current_state(device)); }

/// A queue of work on one device: shared handle, copies mean the same stream. A stream of its own does not wait for the
/// default stream. It is destroyed when its last handle and the last memory allocated on it are gone.
/// Example: `hd::cuda::Stream s; { hd::cuda::StreamGuard on{s}; y = a + b; } s.synchronize();`
class Stream {
 public:
  /// Makes a new stream. Throws DeviceError.
  explicit Stream(Cuda device = {}) : device_(device.index) {
    require_device(device_);
    const DeviceGuard guard(device);
    cudaStream_t handle = nullptr;
    check(cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "new stream");
    state_ = make_state(handle, true);
    if (state_ == nullptr) {
      cudaStreamDestroy(handle);
      throw OutOfMemory(Message{} << "out of host memory for a new stream", sizeof(StreamState), 0);
    }
  }

  /// The default stream of a device: no call, no allocation. Heddle means the legacy default stream in every file.
  static Stream default_stream(Cuda device = {}) noexcept { return Stream(nullptr, device.index); }

  /// Uses a stream that belongs to somebody else, who keeps it until the last memory allocated on it is released.
  /// Throws UnsupportedError for cudaStreamPerThread, which names another stream in every thread.
  static Stream borrow(cudaStream_t handle, Cuda device = {}) {
    if (handle == nullptr || handle == cudaStreamLegacy) return default_stream(device);
    if (handle == cudaStreamPerThread)
      throw UnsupportedError(
          "cudaStreamPerThread cannot be borrowed: memory ordered by it may be released by a thread "
          "in which it names another stream. Make a hd::cuda::Stream for each thread");
    require_device(device.index);
    Stream stream(nullptr, device.index);
    stream.state_ = stream.make_state(handle, false);
    if (stream.state_ == nullptr)
      throw OutOfMemory(Message{} << "out of host memory for a stream", sizeof(StreamState), 0);
    return stream;
  }

  /// Shares a state (null: the default stream of that device).
  static Stream share(StreamState* state, int device) noexcept {
    if (state != nullptr) state->retain();
    return Stream(state, device);
  }

  Stream(const Stream& other) noexcept : state_(other.state_), device_(other.device_) {
    if (state_ != nullptr) state_->retain();
  }
  Stream(Stream&& other) noexcept : state_(other.state_), device_(other.device_) { other.state_ = nullptr; }
  Stream& operator=(Stream other) noexcept {
    StreamState* const mine = state_;
    state_ = other.state_;
    other.state_ = mine;
    device_ = other.device_;
    return *this;
  }
  ~Stream() {
    if (state_ != nullptr) state_->drop();
  }

  /// CUDA's handle, for launches and libraries of one's own; null for the default stream.
  cudaStream_t handle() const noexcept { return state_ != nullptr ? state_->handle : nullptr; }
  Cuda device() const noexcept { return Cuda{device_}; }
  StreamState* state() const noexcept { return state_; }

  /// Waits on the host for all work put on the stream so far. Throws DeviceError with the fault of a failed kernel, and
  /// with an index that was out of range; UnsupportedError in a capture.
  void synchronize() const {
    require_device(device_);
    require_no_capture("waiting for the stream");
    const DeviceGuard guard(device());
    check(cudaStreamSynchronize(handle_of(state_)), "synchronize the stream");
    throw_recorded_fault(device_);
  }

  /// Makes work put on the stream from now on wait for the event; the host goes on. (Needs cuda/event.hpp.)
  void wait(const Event& event) const;

  /// Whether all work put on the stream is done. Throws DeviceError with the fault of a failed kernel.
  bool query() const {
    require_device(device_);
    const DeviceGuard guard(device());
    const cudaError_t status = cudaStreamQuery(handle_of(state_));
    if (status == cudaErrorNotReady) {
      clear_own_error();
      return false;
    }
    check(status, "query the stream");
    return true;
  }

  friend bool operator==(const Stream& a, const Stream& b) noexcept {
    return a.device_ == b.device_ && a.handle() == b.handle();
  }

 private:
  Stream(StreamState* state, int device) noexcept : state_(state), device_(device) {}

  StreamState* make_state(cudaStream_t handle, bool owned) const noexcept {
    return new (std::nothrow) StreamState{1, handle, device_, owned, nullptr, nullptr};
  }

  StreamState* state_ = nullptr;
  int device_ = 0;
};

/// Throws DeviceError for a device number that can't be; asks CUDA nothing.
inline void require_device_number(int index) {
  const int known = known_device_count();
  if (static_cast<unsigned>(index) >= static_cast<unsigned>(known > 0 ? known : max_devices)) [[unlikely]] {
    throw_no_such_device(index);
  }
}

/// The stream that the calling thread's work on a device goes to: the default stream unless a StreamGuard says
/// otherwise.
inline Stream current_stream(Cuda device = {}) {
  require_device_number(device.index);
  return Stream::share(current_state(device.index), device.index);
}

/// Makes a stream the calling thread's current one of its device until the end of the scope. In the capture of a graph
/// the stream must belong to it, by waiting for an event that was recorded in it: else an UnsupportedError. Example:
/// `hd::cuda::StreamGuard guard{stream};`
class [[nodiscard]] StreamGuard {
 public:
  explicit StreamGuard(Stream stream) : stream_(static_cast<Stream&&>(stream)) {
    require_device_number(stream_.device().index);
    if (captures_under_way > 0) [[unlikely]] {
      require_captured();
    }
    previous_ = current_states[stream_.device().index];
    current_states[stream_.device().index] = stream_.state();
  }
  StreamGuard(const StreamGuard&) = delete;
  StreamGuard& operator=(const StreamGuard&) = delete;
  ~StreamGuard() { current_states[stream_.device().index] = previous_; }

 private:
  void require_captured() const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (stream_.state() != nullptr) check(cudaStreamIsCapturing(stream_.handle(), &status), "state of a capture");
    if (status == cudaStreamCaptureStatusNone)
      throw UnsupportedError(
          "work on this stream would be done at once, and not be part of the graph that is being captured: let the "
          "stream wait for an event that was recorded in the capture (and the capture's stream for one of this) first");
  }

  Stream stream_;
  StreamState* previous_ = nullptr;
};

}  // namespace heddle::cuda

#endif  // HEDDLE_HAS_CUDA
