// Launches: errors by name, caches, limits.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "cuda/call_counter.hpp"
#include "cuda/support.hpp"

namespace {

using namespace heddle_test;
namespace on_cuda = hd::on_cuda;
using Calls = std::map<std::string, int>;

template <class T>
__global__ void last_of_shared(T* out, int count) {
  extern __shared__ unsigned char memory[];
  T* const shared = reinterpret_cast<T*>(memory);
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x))
    shared[i] = static_cast<T>(i);
  __syncthreads();
  if (threadIdx.x == 0) *out = shared[count - 1];
}

struct Big {
  float values[100];
};
__global__ void sum_of_big(float* out, Big big, double scale) {
  float sum = 0;
  for (const float value : big.values) sum += value;
  *out = sum * static_cast<float>(scale);
}

on_cuda::launch_context here(const char* operation) { return on_cuda::current_context(0, operation); }

TEST(Launch, GridSizes) {
  EXPECT_EQ(on_cuda::grid_for(0, 128), 0u);
  EXPECT_EQ(on_cuda::grid_for(1, 128), 1u);
  EXPECT_EQ(on_cuda::grid_for(128, 128), 1u);
  EXPECT_EQ(on_cuda::grid_for(129, 128), 2u);
  EXPECT_EQ(on_cuda::grid_for(1000, 1, 7), 7u);
  EXPECT_EQ(on_cuda::grid_for(std::int64_t{1} << 40, 128), 2147483647u);
}

TEST(Launch, AnEmptyGridIsNoLaunch) {
  float* const none = nullptr;
  here("first");
  EXPECT_TRUE(calls_of([&] {
                on_cuda::launch<fill_kernel>(0, 128, 0, here("fill"), none, 1.0f, std::size_t{0});
                on_cuda::launch<fill_kernel>(dim3(1, 0), 128, 0, here("fill"), none, 1.0f, std::size_t{0});
                on_cuda::launch<fill_kernel>(dim3(1, 1, 0), 128, 0, here("fill"), none, 1.0f, std::size_t{0});
              }).empty());
}

TEST(Launch, ArgumentsAreConvertedToTheParameters) {
  const hd::StorageHandle x = allocate_floats(1);
  Big big;
  for (int i = 0; i < 100; ++i) big.values[i] = static_cast<float>(i);
  on_cuda::launch<sum_of_big>(1, 1, 0, here("sum"), floats(x), big, 2);
  EXPECT_EQ(read(x)[0], 9900.0f);
  on_cuda::launch(sum_of_big, 1, 1, 0, here("sum"), floats(x), big, 3.0f);
  EXPECT_EQ(read(x)[0], 14850.0f);
}

TEST(Launch, LargeSharedMemoryIsAllowedOncePerKernel) {
  const hd::StorageHandle x = allocate_floats(1);
  const int count = 60 * 1024 / 4;
  const auto launch = [&](int elements) {
    on_cuda::launch<last_of_shared<float>>(1, 128, static_cast<std::size_t>(elements) * 4, here("last"), floats(x),
                                           elements);
  };
  EXPECT_EQ(calls_of([&] { launch(count); })["cudaFuncSetAttribute"], 1);
  EXPECT_EQ(read(x)[0], static_cast<float>(count - 1));
  EXPECT_EQ(calls_of([&] { launch(count); })["cudaFuncSetAttribute"], 0);
  EXPECT_EQ(calls_of([&] { launch(count - 1000); })["cudaFuncSetAttribute"], 0);
  EXPECT_EQ(calls_of([&] { launch(count + 10); })["cudaFuncSetAttribute"], 1);
  EXPECT_EQ(read(x)[0], static_cast<float>(count + 9));
  EXPECT_EQ(calls_of([&] { launch(100); })["cudaFuncSetAttribute"], 0);
}

TEST(Launch, OccupancyIsAskedForOnce) {
  int expected = 0;
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&expected, last_of_shared<int>, 128, 20000), cudaSuccess);
  const auto ask = [](int threads) {
    return on_cuda::blocks_per_multiprocessor<last_of_shared<int>>(threads, 20000, here("last"));
  };
  int answer = 0;
  const char* const question = "cudaOccupancyMaxActiveBlocksPerMultiprocessor";
  EXPECT_EQ(calls_of([&] { answer = ask(128); })[question], 1);
  EXPECT_EQ(answer, expected);
  EXPECT_EQ(calls_of([&] { answer = ask(128); })[question], 0);
  EXPECT_EQ(answer, expected);
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&expected, last_of_shared<int>, 512, 20000), cudaSuccess);
  EXPECT_EQ(ask(512), expected);

  const std::int64_t most = expected * static_cast<std::int64_t>(hd::cuda::attributes(0).multiprocessors);
  EXPECT_EQ(on_cuda::resident_grid<last_of_shared<int>>(1 << 30, 512, 20000, here("last")), most);
  EXPECT_EQ(on_cuda::resident_grid<last_of_shared<int>>(3, 512, 20000, here("last")), 3u);
  EXPECT_EQ(on_cuda::resident_grid<last_of_shared<int>>(0, 512, 20000, here("last")), 1u);
}

TEST(Launch, ARefusedLaunchNamesOperationErrorAndConfiguration) {
  const hd::StorageHandle x = allocate_floats(1);
  try {
    on_cuda::launch<fill_kernel>(1, 4096, 0, here("my operation"), floats(x), 1.0f, std::size_t{1});
    FAIL();
  } catch (const hd::DeviceError& error) {
    EXPECT_STREQ(error.name(), "cudaErrorInvalidConfiguration");
    EXPECT_EQ(error.code(), static_cast<int>(cudaErrorInvalidConfiguration));
    for (const char* part : {"my operation", "cuda:0", "cudaErrorInvalidConfiguration", "4096", "fill_kernel"})
      EXPECT_TRUE(contains(error.what(), part)) << part << " in " << error.what();
  }
  EXPECT_THROW(on_cuda::launch<last_of_shared<double>>(1, 32, std::size_t{1} << 20, here("last"),
                                                       reinterpret_cast<double*>(x->data), 1),
               hd::DeviceError);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  fill(x, 3.0f);
  EXPECT_EQ(read(x)[0], 3.0f) << "the device goes on";
}

TEST(Launch, MissingCodeNamesTheArchitectureToAdd) {
  const int missing = hd::cuda::attributes(0).major * 10 + hd::cuda::attributes(0).minor;
  try {
    on_cuda::throw_launch_error<on_cuda::arch_list<700, 750>>(cudaErrorNoKernelImageForDevice, here("softmax"),
                                                              reinterpret_cast<const void*>(fill_kernel), 1, 1, 0);
  } catch (const hd::DeviceError& error) {
    for (const std::string part : {std::string("softmax"), std::string("70, 75"),
                                   "add " + std::to_string(missing) + " to CMAKE_CUDA_ARCHITECTURES"})
      EXPECT_TRUE(contains(error.what(), part.c_str())) << part << " in " << error.what();
  }
}

TEST(Launch, OnAnotherDevice) {
  if (hd::cuda::device_count() < 2) GTEST_SKIP() << "needs two devices";
  const hd::StorageHandle x = allocate_floats(1, hd::Cuda{1});
  const int count = 60 * 1024 / 4;
  for (int round = 0; round < 2; ++round) {
    on_cuda::launch<last_of_shared<float>>(1, 128, 60 * 1024, on_cuda::current_context(1, "last"), floats(x), count);
    EXPECT_EQ(read(x)[0], static_cast<float>(count - 1));
  }
}

}  // namespace
