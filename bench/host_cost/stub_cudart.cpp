// A CUDA runtime that answers every call at once and does nothing, under NVIDIA's name and symbol version: what a
// program costs beside it is the host's own cost. Memory is a counter; nothing may follow its pointers.
#include <cuda_runtime_api.h>

#include <cstdint>

#define STUB extern "C" __attribute__((visibility("default")))

namespace {

// Distinct addresses, as far apart as the allocations are long.
std::uintptr_t next_address = std::uintptr_t{1} << 40;

cudaError_t hand_out(void** pointer, std::size_t bytes) {
  *pointer = reinterpret_cast<void*>(next_address);
  next_address += (bytes + 511) & ~std::size_t{511};
  return cudaSuccess;
}

template <class Handle>
cudaError_t make_handle(Handle* handle) {
  *handle = reinterpret_cast<Handle>(&next_address);
  return cudaSuccess;
}

}  // namespace

// What nvcc's host code calls.
STUB void** __cudaRegisterFatBinary(void*) { return reinterpret_cast<void**>(&next_address); }
STUB void __cudaRegisterFatBinaryEnd(void**) {}
STUB void __cudaUnregisterFatBinary(void**) {}
STUB void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, dim3*, dim3*, int*) {}
STUB void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
STUB char __cudaInitModule(void**) { return 0; }
STUB unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, cudaStream_t) { return 0; }
STUB cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*) { return cudaSuccess; }
STUB cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void*) { return make_handle(kernel); }
STUB cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) { return cudaSuccess; }

// Devices: one, of compute capability 9.0 with 132 multiprocessors.
STUB cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
STUB cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
STUB cudaError_t cudaSetDevice(int) { return cudaSuccess; }
STUB cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = 132;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = 227 * 1024;
      break;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = 2048;
      break;
    default:
      *value = 1;
  }
  return cudaSuccess;
}
STUB cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
STUB cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
STUB cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
STUB cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }

// Errors.
STUB cudaError_t cudaGetLastError() { return cudaSuccess; }
STUB cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
STUB const char* cudaGetErrorName(cudaError_t) { return "cudaSuccess"; }
STUB const char* cudaGetErrorString(cudaError_t) { return "no error"; }

// Streams and events.
STUB cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return make_handle(stream); }
STUB cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
STUB cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
STUB cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
STUB cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
STUB cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
STUB cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return make_handle(event); }
STUB cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
STUB cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
STUB cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
STUB cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

// Memory.
STUB cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t) { return hand_out(pointer, bytes); }
STUB cudaError_t cudaMalloc(void** pointer, std::size_t bytes) { return hand_out(pointer, bytes); }
STUB cudaError_t cudaFreeAsync(void*, cudaStream_t) { return cudaSuccess; }
STUB cudaError_t cudaFree(void*) { return cudaSuccess; }
STUB cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) { return hand_out(pointer, bytes); }
STUB cudaError_t cudaFreeHost(void*) { return cudaSuccess; }
STUB cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = std::size_t{1} << 37;
  return cudaSuccess;
}
STUB cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t) { return cudaSuccess; }
STUB cudaError_t cudaMemcpy2DAsync(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t,
                                   cudaMemcpyKind, cudaStream_t) {
  return cudaSuccess;
}
STUB cudaError_t cudaMemcpyPeerAsync(void*, int, const void*, int, std::size_t, cudaStream_t) { return cudaSuccess; }
STUB cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t) { return cudaSuccess; }
STUB cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) { return make_handle(pool); }
STUB cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* value) {
  *static_cast<std::uint64_t*>(value) = 0;
  return cudaSuccess;
}
STUB cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
STUB cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return cudaSuccess; }

// Launches.
STUB cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) { return cudaSuccess; }
STUB cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**) { return cudaSuccess; }
STUB cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
STUB cudaError_t cudaFuncGetName(const char** name, const void*) {
  *name = "kernel";
  return cudaSuccess;
}
STUB cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, std::size_t) {
  *blocks = 4;
  return cudaSuccess;
}
STUB cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, std::size_t,
                                                                        unsigned) {
  *blocks = 4;
  return cudaSuccess;
}
