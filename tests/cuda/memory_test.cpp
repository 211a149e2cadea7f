// Device memory: stream order, lifetime across threads and streams, running out.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "cuda/call_counter.hpp"
#include "cuda/support.hpp"

namespace {

using namespace heddle_test;
using Calls = std::map<std::string, int>;

std::size_t in_use() {
  hd::cuda::synchronize();
  return hd::cuda::memory_stats().in_use;
}

TEST(Memory, IsAllocatedUsedAndReturned) {
  const std::size_t before = in_use();
  {
    const hd::StorageHandle x = allocate_floats(1000);
    EXPECT_EQ(x->bytes, 4000u);
    EXPECT_EQ(x->device, 0);
    EXPECT_TRUE(x->owned);
    EXPECT_FALSE(x->pinned);
    fill(x, 1.5f);
    EXPECT_EQ(read(x), std::vector<float>(1000, 1.5f));
    EXPECT_GE(in_use(), before + 4000);
  }
  EXPECT_EQ(in_use(), before);
}

TEST(Memory, AWarmKernelIntoANewTensorIsThreeCalls) {
  if (hd::cuda::device_count() != 1) GTEST_SKIP() << "one device";
  const auto work = [] {
    const hd::StorageHandle x = allocate_floats(1000);
    hd::on_cuda::launch<fill_kernel>(4, 256, 0, hd::on_cuda::current_context(0, "fill"), floats(x), 1.0f,
                                     std::size_t{1000});
  };
  work();
  const Calls expected{{"cudaMallocAsync", 1}, {"cudaLaunchKernel", 1}, {"cudaFreeAsync", 1}};
  EXPECT_EQ(calls_of(work), expected);
  const hd::cuda::Stream stream;
  const hd::cuda::StreamGuard guard(stream);
  EXPECT_EQ(calls_of(work), expected);
}

TEST(Memory, ZeroBytesMakeNoCall) {
  EXPECT_TRUE(calls_of([] {
                const hd::StorageHandle x(hd::cuda::allocate(0, hd::Cuda{0}));
                EXPECT_EQ(x->data, nullptr);
                EXPECT_EQ(x->bytes, 0u);
              }).empty());
}

TEST(Memory, StatisticsThresholdAndTrim) {
  const hd::cuda::MemoryStats start = hd::cuda::memory_stats();
  EXPECT_GT(start.total, 0u);
  EXPECT_LE(start.free, start.total);
  EXPECT_LE(start.in_use, start.reserved);
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  std::uint64_t threshold = 0;
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), cudaSuccess);
  EXPECT_EQ(threshold, UINT64_MAX);

  { const hd::StorageHandle x(hd::cuda::allocate(std::size_t{64} << 20, hd::Cuda{0})); }
  hd::cuda::synchronize();
  EXPECT_GE(hd::cuda::memory_stats().reserved, std::size_t{64} << 20);
  EXPECT_GE(hd::cuda::memory_stats().in_use_peak, std::size_t{64} << 20);
  hd::cuda::trim();
  EXPECT_LT(hd::cuda::memory_stats().reserved, std::size_t{64} << 20);

  hd::cuda::set_release_threshold(0);
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), cudaSuccess);
  EXPECT_EQ(threshold, 0u);
  { const hd::StorageHandle x(hd::cuda::allocate(4096, hd::Cuda{0})); }
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold), cudaSuccess);
  EXPECT_EQ(threshold, 0u) << "the user's choice is not raised again";
  hd::cuda::set_release_threshold(SIZE_MAX);
}

TEST(Memory, R172_ReleasedByAThreadThatNeverTouchedCuda) {
  for (int device = 0; device < hd::cuda::device_count(); ++device) {
    const hd::Cuda where{device};
    hd::cuda::trim(where);
    const hd::cuda::MemoryStats before = hd::cuda::memory_stats(where);
    hd::StorageHandle x;
    hd::StorageHandle y;
    std::thread([&] {
      x = hd::StorageHandle(hd::cuda::allocate(std::size_t{40} << 20, where));
      const hd::cuda::Stream stream(where);
      const hd::cuda::StreamGuard guard(stream);
      y = hd::StorageHandle(hd::cuda::allocate(std::size_t{40} << 20, where));
    }).join();
    EXPECT_GE(hd::cuda::memory_stats(where).in_use, before.in_use + (std::size_t{80} << 20));
    std::thread([&] { x = hd::StorageHandle(); }).join();
    y = hd::StorageHandle();
    hd::cuda::trim(where);
    const hd::cuda::MemoryStats after = hd::cuda::memory_stats(where);
    EXPECT_EQ(after.in_use, before.in_use);
    EXPECT_EQ(after.free, before.free);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }
}

TEST(Memory, R174_OutlivesTheStreamItWasAllocatedOn) {
  const std::size_t before = in_use();
  hd::StorageHandle t;
  {
    const hd::cuda::Stream s;
    const hd::cuda::StreamGuard guard(s);
    t = allocate_floats(1000);
    fill(t, 4.0f);
    s.synchronize();
  }
  EXPECT_EQ(read(t), std::vector<float>(1000, 4.0f));
  fill(t, 6.0f);
  hd::cuda::record_current_stream(*t.get());
  EXPECT_EQ(read(t), std::vector<float>(1000, 6.0f));
  const auto made = calls_of([&] { t = hd::StorageHandle(); });
  EXPECT_EQ(made.at("cudaFreeAsync"), 1);
  EXPECT_EQ(made.at("cudaStreamDestroy"), 1);
  EXPECT_EQ(in_use(), before);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

// Without the record the consumer would read memory that is given back, and filled anew, before it gets there.
TEST(Memory, ItsReleaseWaitsForRecordedUsesOnOtherStreams) {
  const hd::cuda::Stream owner;
  const hd::cuda::Stream consumer;
  const std::size_t count = 1 << 18;
  const hd::StorageHandle sum = allocate_floats(count);
  fill(sum, 0.0f);
  hd::cuda::synchronize();
  for (int round = 1; round <= 4; ++round) {
    hd::StorageHandle x;
    {
      const hd::cuda::StreamGuard guard(owner);
      x = allocate_floats(count);
      fill(x, 1.0f);
      hd::cuda::record_current_stream(*x.get());
      EXPECT_EQ(x->uses, nullptr) << "its own stream needs no record";
    }
    hd::cuda::Event ready;
    ready.record(owner);
    consumer.wait(ready);
    add(sum, x, consumer);
    hd::cuda::record_stream(*x.get(), consumer);
    hd::cuda::record_stream(*x.get(), consumer);
    EXPECT_NE(x->uses, nullptr);
    const Calls expected{{"cudaStreamIsCapturing", 1},
                         {"cudaEventCreateWithFlags", round == 1 ? 1 : 0},
                         {"cudaEventRecord", 1},
                         {"cudaStreamWaitEvent", 1},
                         {"cudaFreeAsync", 1}};
    Calls made = calls_of([&] { x = hd::StorageHandle(); });
    made.emplace("cudaEventCreateWithFlags", 0);
    if (hd::cuda::device_count() == 1) {
      EXPECT_EQ(made, expected);
    }
    const hd::cuda::StreamGuard guard(owner);
    const hd::StorageHandle next = allocate_floats(count);
    fill(next, 1000.0f);
  }
  EXPECT_EQ(read(sum, consumer), std::vector<float>(count, 4.0f));
}

TEST(Memory, UsesOnTheDefaultStreamAreWaitedForToo) {
  const hd::cuda::Stream owner;
  const std::size_t count = 1 << 16;
  const hd::StorageHandle sum = allocate_floats(count);
  fill(sum, 2.0f);
  hd::StorageHandle x;
  {
    const hd::cuda::StreamGuard guard(owner);
    x = allocate_floats(count);
    fill(x, 3.0f);
    owner.synchronize();
  }
  add(sum, x, hd::cuda::current_stream());
  hd::cuda::record_current_stream(*x.get());
  x = hd::StorageHandle();
  {
    const hd::cuda::StreamGuard guard(owner);
    const hd::StorageHandle next = allocate_floats(count);
    fill(next, 1000.0f);
    owner.synchronize();
  }
  EXPECT_EQ(read(sum), std::vector<float>(count, 5.0f));
}

TEST(Memory, UsesMayBeRecordedFromSeveralThreads) {
  const hd::cuda::Stream streams[4];
  hd::StorageHandle x = allocate_floats(100);
  std::vector<std::thread> threads;
  for (const hd::cuda::Stream& stream : streams)
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) hd::cuda::record_stream(*x.get(), stream);
    });
  for (std::thread& thread : threads) thread.join();
  int recorded = 0;
  for (auto* use = static_cast<hd::cuda::Use*>(x->uses); use != nullptr; use = use->next) ++recorded;
  EXPECT_EQ(recorded, 4);
  const auto made = calls_of([&] { x = hd::StorageHandle(); });
  EXPECT_EQ(made.at("cudaStreamWaitEvent"), 4);
}

TEST(Memory, AskingForTooMuchIsAnOutOfMemoryAndLeavesNothingBehind) {
  const std::size_t before = in_use();
  const std::size_t asked = std::size_t{1} << 46;
  const auto made = calls_of([&] { EXPECT_THROW(hd::cuda::allocate(asked, hd::Cuda{0}), hd::OutOfMemory); });
  EXPECT_EQ(made.at("cudaMallocAsync"), 2);
  EXPECT_EQ(made.at("cudaDeviceSynchronize"), 1);
  EXPECT_EQ(made.at("cudaMemPoolTrimTo"), 1);
  try {
    const hd::StorageHandle x(hd::cuda::allocate(asked, hd::Cuda{0}));
    FAIL();
  } catch (const hd::OutOfMemory& error) {
    EXPECT_EQ(error.bytes_asked(), asked);
    EXPECT_GT(error.bytes_free(), 0u);
    EXPECT_LT(error.bytes_free(), asked);
    EXPECT_TRUE(contains(error.what(), std::to_string(asked).c_str())) << error.what();
    EXPECT_TRUE(contains(error.what(), std::to_string(error.bytes_free()).c_str())) << error.what();
    EXPECT_TRUE(contains(error.what(), "cuda:0")) << error.what();
  }
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "our refused call must not look like the user's";
  EXPECT_EQ(in_use(), before);
  const hd::StorageHandle x = allocate_floats(100);
  fill(x, 8.0f);
  EXPECT_EQ(read(x), std::vector<float>(100, 8.0f));
}

TEST(Memory, R179_CachedMemoryIsGivenUpForALargerRequest) {
  const std::size_t mebibyte = std::size_t{1} << 20;
  hd::cuda::trim();
  std::size_t free = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  // Leaves a gibibyte.
  ASSERT_GE(free, 1100 * mebibyte) << "a device needs 1.1 GB to spare for this test";
  void* ballast = nullptr;
  ASSERT_EQ(cudaMalloc(&ballast, free - 1024 * mebibyte), cudaSuccess);
  const std::size_t before = in_use();
  { const hd::StorageHandle x(hd::cuda::allocate(512 * mebibyte, hd::Cuda{0})); }
  {
    const hd::StorageHandle y(hd::cuda::allocate(768 * mebibyte, hd::Cuda{0}));
    EXPECT_EQ(in_use(), before + 768 * mebibyte);
    EXPECT_THROW(hd::cuda::allocate(768 * mebibyte, hd::Cuda{0}), hd::OutOfMemory);
  }
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  EXPECT_EQ(cudaFree(ballast), cudaSuccess);
  hd::cuda::trim();
}

TEST(Memory, R193_AStaleErrorOfTheUserIsNotOurs) {
  ASSERT_NE(cudaSetDevice(12345), cudaSuccess);
  const hd::StorageHandle x = allocate_floats(1000);
  fill(x, 1.0f);
  EXPECT_EQ(read(x), std::vector<float>(1000, 1.0f));
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice) << "the user's error is still his to find";
}

TEST(Memory, UnderCaptureEverythingStaysInStreamOrder) {
  const hd::cuda::Stream stream;
  const std::size_t count = 1000;
  const hd::StorageHandle sum = allocate_floats(count);
  fill(sum, 0.0f);
  hd::cuda::synchronize();
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream.handle(), cudaStreamCaptureModeGlobal), cudaSuccess);
  {
    const hd::cuda::StreamGuard guard(stream);
    const hd::StorageHandle x = allocate_floats(count);
    fill(x, 2.0f);
    add(sum, x, stream);
    add(sum, x, stream);
  }
  ASSERT_EQ(cudaStreamEndCapture(stream.handle(), &graph), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  for (int replay = 0; replay < 3; ++replay) ASSERT_EQ(cudaGraphLaunch(executable, stream.handle()), cudaSuccess);
  EXPECT_EQ(read(sum, stream), std::vector<float>(count, 12.0f));
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST(Memory, ManyThreadsAtOnce) {
  const std::size_t before = in_use();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) {
        const hd::StorageHandle x(hd::cuda::allocate(static_cast<std::size_t>(1 + 97 * i), hd::Cuda{0}));
        const hd::StorageHandle share = x;
        EXPECT_NE(share->data, nullptr);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(in_use(), before);
}

}  // namespace
