// CUDA's error codes as exceptions. Only the code that a call itself returned is looked at, never cudaGetLastError: an
// error that the user's own earlier call left behind is not ours to report, nor is one of ours left behind for him.
#pragma once

#include "heddle/config.hpp"

#if HEDDLE_HAS_CUDA

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdlib>

#include "heddle/core/error.hpp"

namespace heddle::cuda {

/// 1 in a child process forked from one that had used CUDA through Heddle: CUDA is of no use there.
HEDDLE_SHARED constinit inline int forked_after_use = 0;

inline bool is_forked() noexcept { return __atomic_load_n(&forked_after_use, __ATOMIC_RELAXED) != 0; }

/// A CUDA version number as people write it: 13000 is 13.0.
struct Version {
  int number;
};
inline Message& operator<<(Message& message, Version version) noexcept {
  return message << version.number / 1000 << '.' << version.number % 1000 / 10;
}

/// The newest CUDA version that the installed driver serves, as 1000 * major + 10 * minor; 0: there is no driver.
inline int driver_version() noexcept {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

/// The version of the CUDA runtime that this program uses, as 1000 * major + 10 * minor.
inline int runtime_version() noexcept {
  int version = 0;
  return cudaRuntimeGetVersion(&version) == cudaSuccess ? version : CUDART_VERSION;
}

/// Why CUDA can't be used here, and what to do about it.
inline void explain_unavailable(Message& message) noexcept {
  const int driver = driver_version();
  const int runtime = runtime_version();
  if (is_forked()) {
    message << "CUDA cannot be used after fork: the parent process had used it already. Fork before the first use of "
               "CUDA, or start the child by exec";
  } else if (driver == 0) {
    message << "no NVIDIA driver was found (this program uses the CUDA runtime " << Version{runtime}
            << "). Install a driver for CUDA " << Version{runtime / 1000 * 1000}
            << " or newer, or compute on hd::cpu; hd::cuda::is_available() tells beforehand";
  } else if (driver / 1000 < runtime / 1000) {
    message << "the NVIDIA driver found serves CUDA " << Version{driver} << ", but this program uses the CUDA runtime "
            << Version{runtime} << ". Install a driver for CUDA " << Version{runtime / 1000 * 1000}
            << " or newer, or build with the CUDA toolkit " << Version{driver} << " or older";
  } else {
    message << "the NVIDIA driver (CUDA " << Version{driver} << ", this program's runtime is " << Version{runtime}
            << ") offers no device. See what nvidia-smi lists, and whether CUDA_VISIBLE_DEVICES hides it";
  }
}

/// Whether such an error is the fault of a kernel that was launched earlier; it stays until the process ends.
inline bool is_kernel_fault(cudaError_t status) noexcept {
  return status == cudaErrorIllegalAddress || status == cudaErrorAssert || status == cudaErrorLaunchFailure ||
         status == cudaErrorMisalignedAddress || status == cudaErrorLaunchTimeout ||
         status == cudaErrorHardwareStackError || status == cudaErrorIllegalInstruction ||
         status == cudaErrorInvalidAddressSpace || status == cudaErrorInvalidPc;
}

/// Takes back the mark that a failed call of ours has left in the runtime, so that the user's next cudaGetLastError
/// does not find it. The faults of kernels can't be taken back, and are not.
inline void clear_own_error() noexcept { static_cast<void>(cudaGetLastError()); }

/// Turns a call's error into an exception: see `check`.
[[noreturn]] inline void throw_error(cudaError_t status, const char* what, std::size_t bytes_asked = 0) {
  clear_own_error();
  Message message;
  message << what << ": ";
  if (status == cudaErrorMemoryAllocation) {
    std::size_t bytes_free = 0;
    std::size_t bytes_total = 0;
    if (cudaMemGetInfo(&bytes_free, &bytes_total) != cudaSuccess) clear_own_error();
    message << "out of memory";
    if (bytes_asked > 0) message << ": " << bytes_asked << " bytes were asked for";
    message << "; " << bytes_free << " of the device's " << bytes_total << " bytes are free";
    throw OutOfMemory(message, bytes_asked, bytes_free);
  }
  message << cudaGetErrorName(status) << ": " << cudaGetErrorString(status);
  if (is_forked() || status == cudaErrorInsufficientDriver || status == cudaErrorNoDevice) {
    message << ": ";
    explain_unavailable(message);
  } else if (is_kernel_fault(status)) {
    message << " (the fault of this kernel or one before it; HEDDLE_SYNC_CHECK=1 in the environment tells which)";
  }
  throw DeviceError(message, static_cast<int>(status), cudaGetErrorName(status));
}

/// Throws what a call of the CUDA runtime reports: OutOfMemory where memory was lacking, else DeviceError with CUDA's
/// number, name and text. `what` says what was being done. Example:
/// `cuda::check(cudaMemsetAsync(p, 0, n, s), "fill")`.
inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) [[unlikely]] {
    throw_error(status, what);
  }
}

/// Whether HEDDLE_SYNC_CHECK=1 asks to wait for every kernel and report its fault at once, by name.
HEDDLE_SHARED constinit inline int sync_check_state = 0;
inline bool sync_check() noexcept {
  int state = __atomic_load_n(&sync_check_state, __ATOMIC_RELAXED);
  if (state == 0) [[unlikely]] {
    const char* const value = std::getenv("HEDDLE_SYNC_CHECK");
    state = value != nullptr && value[0] != '\0' && value[0] != '0' ? 2 : 1;
    __atomic_store_n(&sync_check_state, state, __ATOMIC_RELAXED);
  }
  return state == 2;
}

}  // namespace heddle::cuda

#endif  // HEDDLE_HAS_CUDA
