// The main function of the tests. Those for a CUDA device exit with 77, "skipped", where there is none.
#include <gtest/gtest.h>
#include <heddle/core/tensor.hpp>
#include <heddle/cuda/device.hpp>

#include <cstdio>
#include <cstring>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#if HEDDLE_TEST_DEVICE_CUDA && HEDDLE_HAS_CUDA
#include <heddle/cuda/copy.hpp>
#include <heddle/cuda/memory.hpp>
#endif

namespace {

// Memory that is handed out is never 0 by chance, so that an element which a kernel forgets is seen.
void poison_host_memory() {
#if defined(__GLIBC__)
  mallopt(M_PERTURB, 0x5a);
#endif
}

#if HEDDLE_TEST_DEVICE_CUDA && HEDDLE_HAS_CUDA
void poison_device_memory() {
  constexpr std::size_t bytes = std::size_t{16} << 20;
  const heddle::StorageHandle host(heddle::allocate_host(bytes));
  std::memset(host->data, 0xff, bytes);
  const heddle::StorageHandle device(heddle::cuda::allocate(bytes, heddle::Cuda{}));
  heddle::cuda::copy(device->data, host->data, bytes, cudaMemcpyHostToDevice, heddle::cuda::current_stream());
}
#endif

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
#if HEDDLE_TEST_DEVICE_CUDA
  if (!heddle::cuda::is_available()) {
    std::puts("skipped: no CUDA device");
    return 77;
  }
#endif
  poison_host_memory();
#if HEDDLE_TEST_DEVICE_CUDA && HEDDLE_HAS_CUDA
  poison_device_memory();
#endif
  return RUN_ALL_TESTS();
}
