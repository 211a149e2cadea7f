// The CUDA devices of this machine: whether there are any, what they are, which one is current.
#pragma once

#include "heddle/config.hpp"
#include "heddle/core/capture.hpp"
#include "heddle/core/device.hpp"
#include "heddle/core/error.hpp"

#include <cstddef>

#if HEDDLE_HAS_CUDA

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <sched.h>

#include <cstring>

#include "heddle/cuda/check.hpp"
#include "heddle/cuda/fault.hpp"

#endif  // HEDDLE_HAS_CUDA

namespace heddle::cuda {

/// What `device_info` tells of a device.
struct DeviceInfo {
  char name[256];            ///< as the vendor calls it
  int major;                 ///< compute capability, major
  int minor;                 ///< compute capability, minor
  std::size_t total_memory;  ///< bytes
  std::size_t free_memory;   ///< bytes, for the moment
  int multiprocessors;       ///< number of streaming multiprocessors
  int driver_version;        ///< 1000 * major + 10 * minor of the newest CUDA that the driver serves
  int runtime_version;       ///< 1000 * major + 10 * minor of the CUDA runtime in use
};

/// One line: name, compute capability, multiprocessors, memory, versions.
template <class OutputStream>
requires requires(OutputStream& out) { out << ""; }
OutputStream& operator<<(OutputStream& out, const DeviceInfo& info) {
  const auto version = [&out](int number) { out << number / 1000 << '.' << number % 1000 / 10; };
  const auto gibibytes = [&out](std::size_t bytes) {
    const std::size_t tenths = (bytes * 10 + (std::size_t{1} << 29)) >> 30;
    out << tenths / 10 << '.' << tenths % 10;
  };
  out << info.name << " (compute capability " << info.major << '.' << info.minor << "), " << info.multiprocessors
      << " multiprocessors, ";
  gibibytes(info.free_memory);
  out << " of ";
  gibibytes(info.total_memory);
  out << " GiB free, driver CUDA ";
  version(info.driver_version);
  out << ", runtime ";
  version(info.runtime_version);
  return out;
}

}  // namespace heddle::cuda

#if HEDDLE_HAS_CUDA

namespace heddle::cuda {

/// What launches and allocations ask of a device again and again; asked of CUDA once.
struct DeviceAttributes {
  int major;              ///< compute capability, major
  int minor;              ///< compute capability, minor
  int multiprocessors;    ///< number of streaming multiprocessors
  int max_shared_memory;  ///< bytes of shared memory that one block may opt in to
  int max_threads_per_multiprocessor;
  int pools_supported;  ///< whether cudaMallocAsync works
};

/// Everything known about the devices. Constant-initialised and never destroyed: usable before and after main.
struct DeviceTable {
  int count;               ///< 0: not known yet, or none
  int ready[max_devices];  ///< of the attributes: 0 unknown, 1 being written, 2 known
  DeviceAttributes attributes[max_devices];
};
HEDDLE_SHARED constinit inline DeviceTable device_table{};

/// The number of devices as far as it has been asked for: 0 before that, without devices, and in a forked child.
inline int known_device_count() noexcept { return __atomic_load_n(&device_table.count, __ATOMIC_ACQUIRE); }

inline void forget_devices_in_child() noexcept {
  if (known_device_count() == 0) return;
  __atomic_store_n(&device_table.count, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&forked_after_use, 1, __ATOMIC_RELAXED);
}

HEDDLE_SHARED constinit inline int fork_is_watched = 0;

/// Asks CUDA for the number of devices until it has answered once. 0 where CUDA can't be used, for whatever reason.
inline int query_device_count() noexcept {
  int count = known_device_count();
  if (count > 0 || is_forked()) [[likely]] {
    return count;
  }
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    clear_own_error();
    return 0;
  }
  if (count > max_devices) count = max_devices;
  if (count > 0) {
    if (__atomic_exchange_n(&fork_is_watched, 1, __ATOMIC_ACQ_REL) == 0)
      pthread_atfork(nullptr, nullptr, forget_devices_in_child);
    __atomic_store_n(&device_table.count, count, __ATOMIC_RELEASE);
  }
  return count;
}

[[noreturn]] inline void throw_no_such_device(int index) {
  const int count = query_device_count();
  Message message;
  message << "cuda:" << index << " cannot be used: ";
  if (count == 0) {
    explain_unavailable(message);
  } else {
    message << "there " << (count == 1 ? "is " : "are ") << count << (count == 1 ? " device" : " devices")
            << ", so an index must be ";
    if (count == 1) {
      message << '0';
    } else {
      message << "from 0 to " << count - 1;
    }
  }
  int driver_status = cudaErrorInvalidDevice;
  if (count == 0) {
    int ignored = 0;
    driver_status = is_forked() ? cudaErrorInitializationError : cudaGetDeviceCount(&ignored);
    clear_own_error();
    if (driver_status == cudaSuccess) driver_status = cudaErrorNoDevice;
  }
  throw DeviceError(message, driver_status, cudaGetErrorName(static_cast<cudaError_t>(driver_status)));
}

/// Throws a DeviceError that says why and what to do unless this device can be used.
inline void require_device(int index) {
  if (static_cast<unsigned>(index) < static_cast<unsigned>(known_device_count())) [[likely]] {
    return;
  }
  if (static_cast<unsigned>(index) >= static_cast<unsigned>(query_device_count())) throw_no_such_device(index);
}

inline int device_attribute(cudaDeviceAttr attribute, int index) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, attribute, index), "device attributes");
  return value;
}

inline void query_attributes(int index) {
  require_device(index);
  const DeviceAttributes found{device_attribute(cudaDevAttrComputeCapabilityMajor, index),
                               device_attribute(cudaDevAttrComputeCapabilityMinor, index),
                               device_attribute(cudaDevAttrMultiProcessorCount, index),
                               device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, index),
                               device_attribute(cudaDevAttrMaxThreadsPerMultiProcessor, index),
                               device_attribute(cudaDevAttrMemoryPoolsSupported, index)};
  int expected = 0;
  int* const ready = &device_table.ready[index];
  if (__atomic_compare_exchange_n(ready, &expected, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    device_table.attributes[index] = found;
    __atomic_store_n(ready, 2, __ATOMIC_RELEASE);
  }
  // Another thread is writing the same few words.
  while (__atomic_load_n(ready, __ATOMIC_ACQUIRE) != 2) sched_yield();
}

/// The cached attributes of a device. Throws DeviceError where there is none of that number.
inline const DeviceAttributes& attributes(int index) {
  if (static_cast<unsigned>(index) >= static_cast<unsigned>(max_devices)) throw_no_such_device(index);
  if (__atomic_load_n(&device_table.ready[index], __ATOMIC_ACQUIRE) != 2) [[unlikely]] {
    query_attributes(index);
  }
  return device_table.attributes[index];
}

/// Makes a device current for the calling thread, and the one before again at the end of the scope. On a machine with
/// one device there is nothing to do, and no call is made. Example: `cuda::DeviceGuard guard(hd::Cuda{1});`
class DeviceGuard {
 public:
  explicit DeviceGuard(Cuda device) {
    if (known_device_count() == 1 && device.index == 0) [[likely]] {
      return;
    }
    require_device(device.index);
    check(cudaGetDevice(&previous_), "current device");
    if (previous_ == device.index) {
      previous_ = -1;
    } else {
      check(cudaSetDevice(device.index), "change of the current device");
    }
  }
  /// For destructors: where the device can't be changed, the calls that follow report it.
  DeviceGuard(Cuda device, std::nullptr_t) noexcept {
    if (known_device_count() == 1) [[likely]] {
      return;
    }
    if (cudaGetDevice(&previous_) != cudaSuccess || previous_ == device.index ||
        cudaSetDevice(device.index) != cudaSuccess)
      previous_ = -1;
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (previous_ >= 0) [[unlikely]] {
      cudaSetDevice(previous_);
    }
  }

 private:
  int previous_ = -1;
};

/// Asks CUDA for what `device_info` tells.
inline DeviceInfo query_device_info(int index) {
  require_device(index);
  const DeviceGuard guard(Cuda{index});
  const DeviceAttributes& known = attributes(index);
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, index), "device properties");
  DeviceInfo info{};
  static_assert(sizeof(info.name) == sizeof(properties.name));
  std::memcpy(info.name, properties.name, sizeof(info.name));
  info.name[sizeof(info.name) - 1] = '\0';
  info.major = known.major;
  info.minor = known.minor;
  check(cudaMemGetInfo(&info.free_memory, &info.total_memory), "free memory");
  info.multiprocessors = known.multiprocessors;
  info.driver_version = driver_version();
  info.runtime_version = runtime_version();
  return info;
}

/// Waits for all work on a device. Throws DeviceError with the fault of any kernel that failed, and with an index that
/// was out of range; UnsupportedError in the capture of a graph.
inline void synchronize(Cuda device = {}) {
  require_device(device.index);
  require_no_capture("waiting for a device");
  const DeviceGuard guard(device);
  check(cudaDeviceSynchronize(), "synchronize");
  throw_recorded_fault(device.index);
}

}  // namespace heddle::cuda

#endif  // HEDDLE_HAS_CUDA

namespace heddle::cuda {

/// The number of CUDA devices that this program can use; 0 without a driver, without a device, with a driver older than
/// the runtime, and where this translation unit is built without CUDA. Never an exception.
template <class Build = this_build>
int device_count() noexcept {
#if HEDDLE_HAS_CUDA
  return query_device_count();
#else
  return 0;
#endif
}

/// Whether there is a CUDA device and a driver that is new enough. Never an exception, never a message.
/// Example: `if (hd::cuda::is_available()) …`
template <class Build = this_build>
bool is_available() noexcept {
  return device_count<Build>() > 0;
}

/// Describes a device. Throws DeviceError where there is none of that number, or no CUDA in this build.
/// Example: `std::cout << hd::cuda::device_info(0) << '\n';`
template <class Build = this_build>
DeviceInfo device_info([[maybe_unused]] int index = 0) {
#if HEDDLE_HAS_CUDA
  return query_device_info(index);
#else
  throw DeviceError(Message{} << "cuda:" << index << " cannot be used: this program is built without CUDA");
#endif
}

}  // namespace heddle::cuda
