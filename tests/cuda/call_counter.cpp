// Stands before the shared CUDA runtime: the program's own definitions win, count, and hand on to the library's.
#include "cuda/call_counter.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

namespace heddle_test {

std::map<std::string, int>& calls() {
  static std::map<std::string, int>* const counts = new std::map<std::string, int>;
  return *counts;
}

namespace {

template <class Function>
Function* count_call(const char* name) {
  static std::mutex mutex;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    ++calls()[name];
  }
  void* const address = dlsym(RTLD_NEXT, name);
  Function* function = nullptr;
  std::memcpy(&function, &address, sizeof(function));
  return function;
}

}  // namespace
}  // namespace heddle_test

#define HEDDLE_TEST_COUNTED(name, parameters, arguments)                          \
  extern "C" __attribute__((visibility("default"))) cudaError_t name parameters { \
    return heddle_test::count_call<cudaError_t parameters>(#name) arguments;      \
  }

HEDDLE_TEST_COUNTED(cudaGetDeviceCount, (int* a), (a))
HEDDLE_TEST_COUNTED(cudaGetDevice, (int* a), (a))
HEDDLE_TEST_COUNTED(cudaSetDevice, (int a), (a))
HEDDLE_TEST_COUNTED(cudaDeviceGetAttribute, (int* a, cudaDeviceAttr b, int c), (a, b, c))
HEDDLE_TEST_COUNTED(cudaDeviceSynchronize, (), ())
HEDDLE_TEST_COUNTED(cudaGetLastError, (), ())
HEDDLE_TEST_COUNTED(cudaPeekAtLastError, (), ())
HEDDLE_TEST_COUNTED(cudaStreamCreateWithFlags, (cudaStream_t * a, unsigned b), (a, b))
HEDDLE_TEST_COUNTED(cudaStreamDestroy, (cudaStream_t a), (a))
HEDDLE_TEST_COUNTED(cudaStreamSynchronize, (cudaStream_t a), (a))
HEDDLE_TEST_COUNTED(cudaStreamIsCapturing, (cudaStream_t a, cudaStreamCaptureStatus* b), (a, b))
HEDDLE_TEST_COUNTED(cudaStreamWaitEvent, (cudaStream_t a, cudaEvent_t b, unsigned c), (a, b, c))
HEDDLE_TEST_COUNTED(cudaEventCreateWithFlags, (cudaEvent_t * a, unsigned b), (a, b))
HEDDLE_TEST_COUNTED(cudaEventDestroy, (cudaEvent_t a), (a))
HEDDLE_TEST_COUNTED(cudaEventRecord, (cudaEvent_t a, cudaStream_t b), (a, b))
HEDDLE_TEST_COUNTED(cudaEventSynchronize, (cudaEvent_t a), (a))
HEDDLE_TEST_COUNTED(cudaMalloc, (void** a, std::size_t b), (a, b))
HEDDLE_TEST_COUNTED(cudaMallocAsync, (void** a, std::size_t b, cudaStream_t c), (a, b, c))
HEDDLE_TEST_COUNTED(cudaFree, (void* a), (a))
HEDDLE_TEST_COUNTED(cudaFreeAsync, (void* a, cudaStream_t b), (a, b))
HEDDLE_TEST_COUNTED(cudaHostAlloc, (void** a, std::size_t b, unsigned c), (a, b, c))
HEDDLE_TEST_COUNTED(cudaFreeHost, (void* a), (a))
HEDDLE_TEST_COUNTED(cudaMemGetInfo, (std::size_t * a, std::size_t* b), (a, b))
HEDDLE_TEST_COUNTED(cudaMemcpyAsync, (void* a, const void* b, std::size_t c, cudaMemcpyKind d, cudaStream_t e),
                    (a, b, c, d, e))
HEDDLE_TEST_COUNTED(cudaMemsetAsync, (void* a, int b, std::size_t c, cudaStream_t d), (a, b, c, d))
HEDDLE_TEST_COUNTED(cudaMemPoolGetAttribute, (cudaMemPool_t a, cudaMemPoolAttr b, void* c), (a, b, c))
HEDDLE_TEST_COUNTED(cudaMemPoolSetAttribute, (cudaMemPool_t a, cudaMemPoolAttr b, void* c), (a, b, c))
HEDDLE_TEST_COUNTED(cudaMemPoolTrimTo, (cudaMemPool_t a, std::size_t b), (a, b))
HEDDLE_TEST_COUNTED(cudaPointerGetAttributes, (cudaPointerAttributes * a, const void* b), (a, b))
HEDDLE_TEST_COUNTED(cudaLaunchKernel, (const void* a, dim3 b, dim3 c, void** d, std::size_t e, cudaStream_t f),
                    (a, b, c, d, e, f))
HEDDLE_TEST_COUNTED(cudaLaunchKernelExC, (const cudaLaunchConfig_t* a, const void* b, void** c), (a, b, c))
HEDDLE_TEST_COUNTED(cudaFuncSetAttribute, (const void* a, cudaFuncAttribute b, int c), (a, b, c))
HEDDLE_TEST_COUNTED(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int* a, const void* b, int c, std::size_t d),
                    (a, b, c, d))
