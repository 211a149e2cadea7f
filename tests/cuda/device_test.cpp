// Devices: counting, describing, choosing them.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <thread>

#include "cuda/call_counter.hpp"
#include "cuda/support.hpp"

namespace {

using namespace heddle_test;

TEST(Device, IsAvailableAndCounted) {
  EXPECT_TRUE(hd::cuda::is_available());
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(hd::cuda::device_count(), count);
  EXPECT_TRUE(calls_of([] { EXPECT_TRUE(hd::cuda::is_available()); }).empty());
}

TEST(Device, InfoAgreesWithTheRuntime) {
  const hd::cuda::DeviceInfo info = hd::cuda::device_info();
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_STREQ(info.name, properties.name);
  EXPECT_EQ(info.major, properties.major);
  EXPECT_EQ(info.minor, properties.minor);
  EXPECT_EQ(info.multiprocessors, properties.multiProcessorCount);
  EXPECT_GT(info.total_memory, 0u);
  EXPECT_GT(info.free_memory, 0u);
  EXPECT_LE(info.free_memory, info.total_memory);
  int version = 0;
  ASSERT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
  EXPECT_EQ(info.driver_version, version);
  ASSERT_EQ(cudaRuntimeGetVersion(&version), cudaSuccess);
  EXPECT_EQ(info.runtime_version, version);

  std::ostringstream out;
  out << "device: " << info << ';';
  EXPECT_NE(out.str().find(properties.name), std::string::npos) << out.str();
  EXPECT_NE(out.str().find(std::to_string(info.major) + "." + std::to_string(info.minor)), std::string::npos);
  EXPECT_EQ(out.str().back(), ';');
}

TEST(Device, AttributesAreAskedForOnce) {
  const hd::cuda::DeviceAttributes& known = hd::cuda::attributes(0);
  int value = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0), cudaSuccess);
  EXPECT_EQ(known.max_shared_memory, value);
  EXPECT_GE(known.max_shared_memory, 48 * 1024);
  EXPECT_TRUE(calls_of([] { EXPECT_GT(hd::cuda::attributes(0).multiprocessors, 0); }).empty());
}

TEST(Device, AnIndexOutOfRangeIsNamed) {
  const int count = hd::cuda::device_count();
  for (const int index : {-1, count, 63, 64, 1000}) {
    try {
      hd::StorageHandle storage(hd::cuda::allocate(16, hd::Cuda{index}));
      FAIL() << index;
    } catch (const hd::DeviceError& error) {
      EXPECT_TRUE(contains(error.what(), ("cuda:" + std::to_string(index)).c_str())) << error.what();
      EXPECT_TRUE(contains(error.what(), (std::to_string(count) + " device").c_str())) << error.what();
      EXPECT_STREQ(error.name(), "cudaErrorInvalidDevice");
      EXPECT_EQ(error.code(), static_cast<int>(cudaErrorInvalidDevice));
    }
    EXPECT_THROW(hd::cuda::device_info(index), hd::DeviceError);
    EXPECT_THROW(hd::cuda::attributes(index), hd::DeviceError);
    EXPECT_THROW(hd::cuda::synchronize(hd::Cuda{index}), hd::DeviceError);
    EXPECT_THROW(hd::cuda::Stream{hd::Cuda{index}}, hd::DeviceError);
    EXPECT_THROW(hd::cuda::current_stream(hd::Cuda{index}), hd::DeviceError);
    EXPECT_THROW(hd::cuda::DeviceGuard{hd::Cuda{index}}, hd::DeviceError);
    EXPECT_THROW(hd::cuda::memory_stats(hd::Cuda{index}), hd::DeviceError);
  }
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST(Device, AGuardMakesNoCallOnAMachineWithOneDevice) {
  if (hd::cuda::device_count() != 1) GTEST_SKIP() << "several devices";
  EXPECT_TRUE(calls_of([] { const hd::cuda::DeviceGuard guard(hd::Cuda{0}); }).empty());
}

TEST(Device, AGuardRestoresTheDevice) {
  if (hd::cuda::device_count() < 2) GTEST_SKIP() << "needs two devices";
  int current = -1;
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  {
    const hd::cuda::DeviceGuard outer(hd::Cuda{1});
    ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, 1);
    {
      const hd::cuda::DeviceGuard inner(hd::Cuda{0});
      ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
      EXPECT_EQ(current, 0);
    }
    ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, 1);
  }
  ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 0);
}

// A thread's current device is 0 whatever the thread that made the memory had set: everything names its device.
TEST(Device, WorkOnTheSecondDeviceFromANewThread) {
  if (hd::cuda::device_count() < 2) GTEST_SKIP() << "needs two devices";
  const hd::Cuda second{1};
  hd::StorageHandle x;
  std::thread([&] {
    x = allocate_floats(1000, second);
    fill(x, 3.5f);
  }).join();
  cudaPointerAttributes where{};
  ASSERT_EQ(cudaPointerGetAttributes(&where, x->data), cudaSuccess);
  EXPECT_EQ(where.device, 1);
  std::thread([&] { EXPECT_EQ(read(x), std::vector<float>(1000, 3.5f)); }).join();
  std::thread([&] { x = hd::StorageHandle(); }).join();
  hd::cuda::synchronize(second);
  EXPECT_EQ(hd::cuda::memory_stats(second).in_use, 0u);
}

TEST(Device, CopiesBetweenDevicesAreOrdered) {
  if (hd::cuda::device_count() < 2) GTEST_SKIP() << "needs two devices";
  const hd::cuda::Stream on_first(hd::Cuda{0});
  const hd::cuda::Stream on_second(hd::Cuda{1});
  const hd::cuda::StreamGuard first_guard(on_first);
  const hd::cuda::StreamGuard second_guard(on_second);
  const hd::StorageHandle y = allocate_floats(5000, hd::Cuda{1});
  {
    const hd::StorageHandle x = allocate_floats(5000, hd::Cuda{0});
    fill(x, 7.0f);
    hd::cuda::copy_between_devices(y->data, hd::Cuda{1}, x->data, hd::Cuda{0}, x->bytes);
    fill(x, 9.0f);
  }
  EXPECT_EQ(read(y), std::vector<float>(5000, 7.0f));
}

}  // namespace
