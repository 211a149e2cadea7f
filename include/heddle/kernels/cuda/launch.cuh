// How kernels are started: directly by the runtime's own call, so that an error is that call's, with everything that
// CUDA has to be asked for kept per kernel and device.
#pragma once

#if !defined(__CUDACC__)
#error "heddle/kernels/cuda/*.cuh holds kernels: compile this file as CUDA (.cu)"
#endif

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "heddle/config.hpp"
#include "heddle/core/error.hpp"
#include "heddle/cuda/check.hpp"
#include "heddle/cuda/device.hpp"
#include "heddle/cuda/stream.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// Where a kernel runs, and what the error message calls it.
struct launch_context {
  cudaStream_t stream = cudaStreamLegacy;
  int device = 0;
  const char* operation = "kernel";
};

/// The calling thread's current stream of a device. Throws DeviceError where the device can't be used.
inline launch_context current_context(int device, const char* operation = "kernel") {
  cuda::require_device(device);
  return {cuda::current_handle(device), device, operation};
}

/// The greatest grid in x; y and z take 65,535.
inline constexpr std::int64_t max_grid_x = 2147483647;

/// The number of blocks of `block` threads for `count` threads, at most `limit`: a kernel whose grid may be cut strides
/// over the rest.
constexpr unsigned grid_for(std::int64_t count, std::int64_t block, std::int64_t limit = max_grid_x) {
  const std::int64_t blocks = (count + block - 1) / block;
  return static_cast<unsigned>(blocks < limit ? blocks : limit);
}

/// The architectures that a translation unit is compiled for, as nvcc lists them: 800 is sm_80.
template <int... Architectures>
struct arch_list {
  static void print(Message& message) {
    const char* separator = "";
    ((message << separator << Architectures / 10, separator = ", "), ...);
  }
};
#if defined(__CUDA_ARCH_LIST__)
using compiled_architectures = arch_list<__CUDA_ARCH_LIST__>;
#else
using compiled_architectures = arch_list<>;
#endif

/// Whether the program holds no code that this device, or its driver, can run.
inline bool is_missing_code(cudaError_t status) {
  return status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction ||
         status == cudaErrorInvalidKernelImage || status == cudaErrorUnsupportedPtxVersion ||
         status == cudaErrorJitCompilerNotFound || status == cudaErrorJitCompilationDisabled;
}

/// Says what was to be launched and what is wrong: see `launch`.
template <class Architectures>
[[noreturn]] void throw_launch_error(cudaError_t status, const launch_context& context, const void* kernel, dim3 grid,
                                     dim3 block, std::size_t shared_bytes) {
  cuda::clear_own_error();
  const char* kernel_name = nullptr;
#if CUDART_VERSION >= 12030
  if (!cuda::is_kernel_fault(status) && cudaFuncGetName(&kernel_name, kernel) != cudaSuccess) {
    kernel_name = nullptr;
    cuda::clear_own_error();
  }
#endif
  Message message;
  message << context.operation << " on cuda:" << context.device << ": " << cudaGetErrorName(status) << ": "
          << cudaGetErrorString(status);
  if (is_missing_code(status)) {
    const cuda::DeviceAttributes& device = cuda::attributes(context.device);
    message << ". This device is of compute capability " << device.major << '.' << device.minor
            << ", and this file is compiled for ";
    Architectures::print(message);
    message << ": add " << device.major << device.minor << " to CMAKE_CUDA_ARCHITECTURES (nvcc: -gencode arch=compute_"
            << device.major << device.minor << ",code=sm_" << device.major << device.minor << ')';
  } else if (cuda::is_kernel_fault(status)) {
    message << " (the fault of a kernel launched earlier; HEDDLE_SYNC_CHECK=1 in the environment tells which)";
  } else {
    message << "; grid " << grid.x << " x " << grid.y << " x " << grid.z << ", block " << block.x << " x " << block.y
            << " x " << block.z << ", " << shared_bytes << " bytes of dynamic shared memory (a block may have "
            << cuda::attributes(context.device).max_shared_memory << ')';
  }
  if (kernel_name != nullptr) {
    // The names of kernels of formulas are as long as the formulas.
    message << "; kernel ";
    for (int i = 0; i < 160 && kernel_name[i] != '\0'; ++i) message << kernel_name[i];
  }
  throw DeviceError(message, static_cast<int>(status), cudaGetErrorName(status));
}

/// HEDDLE_SYNC_CHECK=1: waits for the kernel, so that its fault is reported here and by name. Not under capture.
inline void synchronize_after(const launch_context& context) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (context.stream != cudaStreamLegacy) cudaStreamIsCapturing(context.stream, &capture);
  if (capture != cudaStreamCaptureStatusNone) return;
  const cudaError_t status = cudaStreamSynchronize(context.stream);
  if (status == cudaSuccess) return cuda::throw_recorded_fault(context.device);
  cuda::clear_own_error();
  throw DeviceError(Message{} << context.operation << " on cuda:" << context.device
                              << " failed: " << cudaGetErrorName(status) << ": " << cudaGetErrorString(status),
                    static_cast<int>(status), cudaGetErrorName(status));
}

/// What CUDA has been asked about one kernel, by device. Zero: nothing yet.
template <auto Kernel>
struct kernel_cache {
  static inline int shared_bytes[cuda::max_devices];         ///< dynamic shared memory allowed so far
  static inline std::uint64_t occupancy[cuda::max_devices];  ///< the last question and its answer, see below
  static inline int clusters[cuda::max_devices];             ///< 1: it can't run in clusters of blocks, 2: it can
};

/// A block may have this much shared memory without being allowed it expressly.
inline constexpr std::size_t shared_memory_by_default = 48 * 1024;

/// Allows a kernel more dynamic shared memory than 48 KiB, once per kernel and device.
template <auto Kernel>
void allow_shared_memory(std::size_t bytes, const launch_context& context) {
  if (bytes <= shared_memory_by_default) return;
  int* const allowed = &kernel_cache<Kernel>::shared_bytes[context.device];
  if (static_cast<std::size_t>(__atomic_load_n(allowed, __ATOMIC_RELAXED)) >= bytes) return;
  const void* const kernel = reinterpret_cast<const void*>(Kernel);
  const cuda::DeviceGuard guard(Cuda{context.device});
  const cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
  if (status != cudaSuccess) throw_launch_error<compiled_architectures>(status, context, kernel, dim3(), dim3(), bytes);
  __atomic_store_n(allowed, static_cast<int>(bytes), __ATOMIC_RELAXED);
}

/// How many blocks of this kernel one multiprocessor holds at a time; the answer to the last question is kept.
template <auto Kernel>
int blocks_per_multiprocessor(int threads, std::size_t shared_bytes, const launch_context& context) {
  const std::uint64_t question = static_cast<std::uint64_t>(threads) << 40 | static_cast<std::uint64_t>(shared_bytes)
                                                                                 << 8;
  std::uint64_t* const kept = &kernel_cache<Kernel>::occupancy[context.device];
  const std::uint64_t known = __atomic_load_n(kept, __ATOMIC_RELAXED);
  if ((known & ~std::uint64_t{255}) == question) return static_cast<int>(known & 255);
  allow_shared_memory<Kernel>(shared_bytes, context);
  const void* const kernel = reinterpret_cast<const void*>(Kernel);
  const cuda::DeviceGuard guard(Cuda{context.device});
  int blocks = 0;
  const cudaError_t status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes);
  if (status != cudaSuccess)
    throw_launch_error<compiled_architectures>(status, context, kernel, dim3(), dim3(static_cast<unsigned>(threads)),
                                               shared_bytes);
  __atomic_store_n(kept, question | static_cast<std::uint64_t>(blocks), __ATOMIC_RELAXED);
  return blocks;
}

/// How many blocks a cluster has at most on every device that knows clusters.
inline constexpr unsigned max_cluster = 8;
#if CUDART_VERSION >= 11080
inline cudaLaunchAttribute cluster_attribute(unsigned blocks) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = blocks;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  return attribute;
}
inline cudaLaunchConfig_t cluster_configuration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                                const launch_context& context, cudaLaunchAttribute* attribute) {
  cudaLaunchConfig_t configuration{};
  configuration.gridDim = grid;
  configuration.blockDim = block;
  configuration.dynamicSmemBytes = shared_bytes;
  configuration.stream = context.stream;
  configuration.attrs = attribute;
  configuration.numAttrs = 1;
  return configuration;
}
/// Whether a device runs code of this kernel that was compiled for compute capability 9.0 or later, and can hold a
/// cluster of max_cluster blocks of it. A program that was compiled for 8.0 alone runs on 9.0 too, but without them.
template <class Architectures>
bool has_clusters(const void* kernel, unsigned threads, const launch_context& context) {
  const cuda::DeviceGuard guard(Cuda{context.device});
  cudaFuncAttributes function;
  int clusters = 0;
  cudaLaunchAttribute attribute = cluster_attribute(max_cluster);
  const cudaLaunchConfig_t configuration =
      cluster_configuration(dim3(max_cluster), dim3(threads), 0, context, &attribute);
  const bool known = cudaFuncGetAttributes(&function, kernel) == cudaSuccess && function.ptxVersion >= 90;
  if (known && cudaOccupancyMaxActiveClusters(&clusters, kernel, &configuration) == cudaSuccess) return clusters > 0;
  cuda::clear_own_error();
  return false;
}
#else
template <class Architectures>
bool has_clusters(const void*, unsigned, const launch_context&) {
  return false;
}
#endif
/// Whether a kernel can run in clusters of max_cluster blocks of so many threads; the answer is kept.
template <auto Kernel>
bool may_use_clusters(unsigned threads, const launch_context& context) {
  if (cuda::attributes(context.device).major < 9) return false;
  int* const kept = &kernel_cache<Kernel>::clusters[context.device];
  int known = __atomic_load_n(kept, __ATOMIC_RELAXED);
  if (known == 0) {
    known = has_clusters<compiled_architectures>(reinterpret_cast<const void*>(Kernel), threads, context) ? 2 : 1;
    __atomic_store_n(kept, known, __ATOMIC_RELAXED);
  }
  return known == 2;
}

/// Blocks that fill the device once, for kernels that stride over their work: no more than the work needs, at least 1.
template <auto Kernel>
unsigned resident_grid(std::int64_t blocks_of_work, int threads, std::size_t shared_bytes,
                       const launch_context& context) {
  const std::int64_t held =
      static_cast<std::int64_t>(blocks_per_multiprocessor<Kernel>(threads, shared_bytes, context)) *
      cuda::attributes(context.device).multiprocessors;
  const std::int64_t blocks = blocks_of_work < held ? blocks_of_work : held;
  return static_cast<unsigned>(blocks > 1 ? blocks : 1);
}

/// Starts a kernel, in clusters of so many blocks along x if that is more than 1.
template <class Architectures>
void launch_function(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared_bytes,
                     [[maybe_unused]] unsigned cluster, const launch_context& context) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  const cuda::DeviceGuard guard(Cuda{context.device});
  cudaError_t status = cudaSuccess;
#if CUDART_VERSION >= 11080
  if (cluster > 1) {
    cudaLaunchAttribute attribute = cluster_attribute(cluster);
    const cudaLaunchConfig_t configuration = cluster_configuration(grid, block, shared_bytes, context, &attribute);
    status = cudaLaunchKernelExC(&configuration, function, arguments);
  } else
#endif
    status = cudaLaunchKernel(function, grid, block, arguments, shared_bytes, context.stream);
  if (status != cudaSuccess) [[unlikely]] {
    throw_launch_error<Architectures>(status, context, function, grid, block, shared_bytes);
  }
  if (cuda::sync_check()) [[unlikely]] {
    synchronize_after(context);
  }
}

/// Launches a kernel with at most 48 KiB of dynamic shared memory (`launch<kernel>` takes more). The arguments are
/// converted to the kernel's parameters. A grid with an extent of 0 is no launch. Throws DeviceError with what the
/// launch itself reports; where the program has no code for the device it says which architecture to add.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
            const launch_context& context, const std::type_identity_t<Parameters>&... arguments) {
  void* addresses[sizeof...(Parameters) + 1] = {const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
  launch_function<compiled_architectures>(reinterpret_cast<const void*>(kernel), grid, block, addresses, shared_bytes,
                                          1, context);
}
/// As above in clusters of so many blocks along x, which the grid is a multiple of.
template <class... Parameters>
void launch_clusters(unsigned cluster, void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
                     const launch_context& context, const std::type_identity_t<Parameters>&... arguments) {
  void* addresses[sizeof...(Parameters) + 1] = {const_cast<void*>(static_cast<const void*>(&arguments))..., nullptr};
  launch_function<compiled_architectures>(reinterpret_cast<const void*>(kernel), grid, block, addresses, shared_bytes,
                                          cluster, context);
}

/// As above with any amount of dynamic shared memory that the device has.
/// Example: `launch<softmax_rows<float>>(grid_for(rows, 4), 128, bytes, context, source, sink, rows)`.
template <auto Kernel, class... Arguments>
void launch(dim3 grid, dim3 block, std::size_t shared_bytes, const launch_context& context,
            const Arguments&... arguments) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  allow_shared_memory<Kernel>(shared_bytes, context);
  launch(Kernel, grid, block, shared_bytes, context, arguments...);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
