// Copies between host and device, and fills.
#pragma once

#include "heddle/config.hpp"

#if HEDDLE_HAS_CUDA

#include <cuda_runtime_api.h>

#include <cstddef>

#include "heddle/core/device.hpp"
#include "heddle/cuda/check.hpp"
#include "heddle/cuda/device.hpp"
#include "heddle/cuda/stream.hpp"
#include "heddle/cuda/uses.hpp"

namespace heddle::cuda {

/// Puts a copy on the stream and returns. Host memory must stay as it is until the stream has got there, so it should
/// be page-locked and recorded (`record_stream`). Throws DeviceError, also with the fault of an earlier kernel.
inline void copy_async(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, const Stream& stream) {
  if (bytes == 0) return;
  require_device(stream.device().index);
  const DeviceGuard guard(stream.device());
  check(cudaMemcpyAsync(to, from, bytes, kind, handle_of(stream.state())), "copy");
}

/// Copies in the order of the stream. Between host and device it is complete on return, whatever kind of host memory it
/// is; on one device it is only queued. Throws DeviceError, also with the fault of an earlier kernel.
/// Example: `cuda::copy(host, device, bytes, cudaMemcpyDeviceToHost, hd::cuda::current_stream());`
inline void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, const Stream& stream) {
  if (bytes == 0) return;
  if (kind != cudaMemcpyDeviceToDevice) require_no_capture("a copy between host and device");
  copy_async(to, from, bytes, kind, stream);
  if (kind != cudaMemcpyDeviceToDevice) stream.synchronize();
}

/// Copies `rows` rows of `row_bytes` bytes that begin every `to_pitch` and `from_pitch` bytes; otherwise as `copy`.
inline void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t row_bytes,
                      std::size_t rows, cudaMemcpyKind kind, const Stream& stream) {
  if (row_bytes == 0 || rows == 0) return;
  if (kind != cudaMemcpyDeviceToDevice) require_no_capture("a copy between host and device");
  require_device(stream.device().index);
  const DeviceGuard guard(stream.device());
  check(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, row_bytes, rows, kind, handle_of(stream.state())), "copy");
  if (kind != cudaMemcpyDeviceToDevice) stream.synchronize();
}

/// Copies between two devices on the calling thread's current streams of both: the copy waits for what was put on the
/// source's stream, which in its turn waits for the copy before it goes on. Both memories keep their own order.
inline void copy_between_devices(void* to, Cuda to_device, const void* from, Cuda from_device, std::size_t bytes) {
  if (bytes == 0) return;
  const Stream to_stream = current_stream(to_device);
  if (to_device == from_device) return copy(to, from, bytes, cudaMemcpyDeviceToDevice, to_stream);
  require_device(to_device.index);
  require_device(from_device.index);
  const Stream from_stream = current_stream(from_device);
  order_after(handle_of(to_stream.state()), to_device.index, from_stream.state(), from_device.index);
  {
    const DeviceGuard guard(to_device);
    check(cudaMemcpyPeerAsync(to, to_device.index, from, from_device.index, bytes, handle_of(to_stream.state())),
          "copy between devices");
  }
  order_after(handle_of(from_stream.state()), from_device.index, to_stream.state(), to_device.index);
}

/// Sets every byte to `value` in the order of the stream. Throws DeviceError.
inline void fill_bytes(void* to, unsigned char value, std::size_t bytes, const Stream& stream) {
  if (bytes == 0) return;
  require_device(stream.device().index);
  const DeviceGuard guard(stream.device());
  check(cudaMemsetAsync(to, value, bytes, handle_of(stream.state())), "fill");
}

}  // namespace heddle::cuda

#endif  // HEDDLE_HAS_CUDA
