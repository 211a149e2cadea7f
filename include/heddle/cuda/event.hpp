// Events: points in a stream's work that others can wait for, and that time is measured between.
#pragma once

#include "heddle/config.hpp"

#if HEDDLE_HAS_CUDA

#include <cuda_runtime_api.h>

#include "heddle/core/device.hpp"
#include "heddle/cuda/check.hpp"
#include "heddle/cuda/device.hpp"
#include "heddle/cuda/stream.hpp"

namespace heddle::cuda {

/// A point in a stream's work. Made at its first record; one that was never recorded is complete.
/// Example: `hd::cuda::Event ready; ready.record(producer); consumer.wait(ready);`
class Event {
 public:
  /// Whether elapsed_ms is wanted; an event without is cheaper to wait for.
  enum class Timing : bool { off, on };

  explicit Event(Timing timing = Timing::on) noexcept : timing_(timing) {}
  Event(Event&& other) noexcept : handle_(other.handle_), device_(other.device_), timing_(other.timing_) {
    other.handle_ = nullptr;
  }
  Event& operator=(Event&& other) noexcept {
    cudaEvent_t const handle = handle_;
    const int device = device_;
    handle_ = other.handle_;
    device_ = other.device_;
    timing_ = other.timing_;
    other.handle_ = handle;
    other.device_ = device;
    return *this;
  }
  ~Event() { destroy(); }

  /// Marks the end of the work put on the stream so far; an earlier mark is given up. Throws DeviceError.
  void record(const Stream& stream) {
    require_device(stream.device().index);
    const DeviceGuard guard(stream.device());
    if (handle_ != nullptr && device_ != stream.device().index) destroy();
    if (handle_ == nullptr) {
      check(cudaEventCreateWithFlags(&handle_, timing_ == Timing::on ? cudaEventDefault : cudaEventDisableTiming),
            "new event");
      device_ = stream.device().index;
    }
    check(cudaEventRecord(handle_, handle_of(stream.state())), "record an event");
  }
  void record() { record(current_stream()); }

  /// Makes work put on the stream from now on wait for the mark; the host goes on. Throws DeviceError.
  void wait(const Stream& stream) const {
    if (handle_ == nullptr) return;
    const DeviceGuard guard(stream.device());
    check(cudaStreamWaitEvent(handle_of(stream.state()), handle_, 0), "wait for an event");
  }
  void wait() const { wait(current_stream()); }

  /// Waits on the host for the mark. Throws DeviceError with the fault of a failed kernel, UnsupportedError in a
  /// capture.
  void synchronize() const {
    if (handle_ == nullptr) return;
    require_no_capture("waiting for an event");
    check(cudaEventSynchronize(handle_), "synchronize an event");
    throw_recorded_fault(device_);
  }

  /// Whether the work before the mark is done. Throws DeviceError with the fault of a failed kernel.
  bool query() const {
    if (handle_ == nullptr) return true;
    const cudaError_t status = cudaEventQuery(handle_);
    if (status == cudaErrorNotReady) {
      clear_own_error();
      return false;
    }
    check(status, "query an event");
    return true;
  }

  /// Milliseconds on the device from this mark to a later one; both must be complete. Throws DeviceError.
  /// Example: `start.record(); y = a + b; stop.record(); stop.synchronize(); start.elapsed_ms(stop)`.
  float elapsed_ms(const Event& later) const {
    if (handle_ == nullptr || later.handle_ == nullptr)
      throw DeviceError(Message{} << "elapsed_ms: both events must have been recorded", cudaErrorInvalidResourceHandle,
                        cudaGetErrorName(cudaErrorInvalidResourceHandle));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, handle_, later.handle_), "time between events");
    return milliseconds;
  }

  /// CUDA's handle; null before the first record.
  cudaEvent_t handle() const noexcept { return handle_; }

 private:
  void destroy() noexcept {
    if (handle_ == nullptr || known_device_count() == 0) return;
    cudaEventDestroy(handle_);
    handle_ = nullptr;
  }

  cudaEvent_t handle_ = nullptr;
  int device_ = 0;
  Timing timing_;
};

inline void Stream::wait(const Event& event) const { event.wait(*this); }

}  // namespace heddle::cuda

#endif  // HEDDLE_HAS_CUDA
