// Streams: the current one, guards, ordering, lifetime.
#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

#include "cuda/call_counter.hpp"
#include "cuda/support.hpp"

namespace {

using namespace heddle_test;

TEST(Stream, TheDefaultStreamIsCurrentAndFree) {
  const auto made = calls_of([] {
    const hd::cuda::Stream stream = hd::cuda::current_stream();
    EXPECT_EQ(stream.handle(), nullptr);
    EXPECT_EQ(stream.device(), hd::Cuda{0});
    EXPECT_EQ(stream, hd::cuda::Stream::default_stream());
  });
  EXPECT_TRUE(made.empty());
}

TEST(Stream, AGuardSetsAndRestoresForItsThreadOnly) {
  const hd::cuda::Stream a;
  const hd::cuda::Stream b;
  EXPECT_NE(a.handle(), nullptr);
  EXPECT_NE(a, b);
  {
    const hd::cuda::StreamGuard outer(a);
    EXPECT_EQ(hd::cuda::current_stream(), a);
    {
      const hd::cuda::StreamGuard inner(b);
      EXPECT_EQ(hd::cuda::current_stream(), b);
      {
        const hd::cuda::StreamGuard back(hd::cuda::Stream::default_stream());
        EXPECT_EQ(hd::cuda::current_stream().handle(), nullptr);
      }
      EXPECT_EQ(hd::cuda::current_stream(), b);
    }
    EXPECT_EQ(hd::cuda::current_stream(), a);
    std::thread([&] {
      EXPECT_EQ(hd::cuda::current_stream().handle(), nullptr);
      const hd::cuda::StreamGuard guard(b);
      EXPECT_EQ(hd::cuda::current_stream(), b);
    }).join();
    EXPECT_EQ(hd::cuda::current_stream(), a);
  }
  EXPECT_EQ(hd::cuda::current_stream().handle(), nullptr);
}

TEST(Stream, CopiesAreTheSameStreamAndAGuardKeepsIt) {
  hd::cuda::Stream a;
  hd::cuda::Stream copy = a;
  EXPECT_EQ(a, copy);
  const cudaStream_t handle = a.handle();
  const auto made = calls_of([&] {
    const hd::cuda::StreamGuard guard(std::move(a));
    copy = hd::cuda::Stream::default_stream();
    EXPECT_EQ(calls()["cudaStreamDestroy"], 0);
    EXPECT_EQ(hd::cuda::current_stream().handle(), handle);
    hd::cuda::current_stream().synchronize();
  });
  EXPECT_EQ(made.at("cudaStreamDestroy"), 1);
}

TEST(Stream, DoesNotWaitForTheDefaultStream) {
  const hd::cuda::Stream stream;
  unsigned flags = 0;
  ASSERT_EQ(cudaStreamGetFlags(stream.handle(), &flags), cudaSuccess);
  EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamNonBlocking));
}

TEST(Stream, ABorrowedStreamIsNotDestroyed) {
  cudaStream_t raw = nullptr;
  ASSERT_EQ(cudaStreamCreate(&raw), cudaSuccess);
  {
    const hd::cuda::Stream borrowed = hd::cuda::Stream::borrow(raw);
    EXPECT_EQ(borrowed.handle(), raw);
    const hd::cuda::StreamGuard guard(borrowed);
    const hd::StorageHandle x = allocate_floats(100);
    fill(x, 2.0f);
    EXPECT_EQ(read(x), std::vector<float>(100, 2.0f));
  }
  EXPECT_EQ(cudaStreamSynchronize(raw), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(raw), cudaSuccess);
}

TEST(Stream, TheNullHandleIsTheDefaultStreamAndThePerThreadOneIsRefused) {
  EXPECT_EQ(hd::cuda::Stream::borrow(nullptr), hd::cuda::Stream::default_stream());
  EXPECT_EQ(hd::cuda::Stream::borrow(cudaStreamLegacy), hd::cuda::Stream::default_stream());
  EXPECT_THROW(hd::cuda::Stream::borrow(cudaStreamPerThread), hd::UnsupportedError);
}

TEST(Stream, WaitsForAnEventOfAnother) {
  const hd::cuda::Stream producer;
  const hd::cuda::Stream consumer;
  const hd::StorageHandle x = allocate_floats(1 << 16);
  const hd::StorageHandle y = allocate_floats(1 << 16);
  fill(x, 1.0f);
  fill(y, 10.0f);
  hd::cuda::synchronize();
  fill(x, 5.0f, producer);
  hd::cuda::Event ready;
  ready.record(producer);
  consumer.wait(ready);
  add(y, x, consumer);
  EXPECT_EQ(read(y, consumer), std::vector<float>(1 << 16, 15.0f));
}

TEST(Stream, QueryTellsWhetherTheWorkIsDoneAndLeavesNoError) {
  const hd::cuda::Stream stream;
  const hd::StorageHandle x = allocate_floats(1 << 20);
  fill(x, 1.0f, stream);
  while (!stream.query()) {
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
  }
  EXPECT_TRUE(stream.query());
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

// R168 in small: the stream that one thread sets is no other thread's.
TEST(Stream, R168_ThreadsWorkOnTheirOwnStreams) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(8, 0);
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([t, &wrong] {
      const hd::cuda::Stream stream;
      const hd::cuda::StreamGuard guard(stream);
      for (int round = 0; round < 20; ++round) {
        const hd::StorageHandle x = allocate_floats(777);
        const hd::StorageHandle y = allocate_floats(777);
        fill(x, static_cast<float>(t));
        fill(y, static_cast<float>(round));
        add(y, x, hd::cuda::current_stream());
        for (const float value : read(y)) wrong[static_cast<std::size_t>(t)] += value != static_cast<float>(t + round);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(8, 0));
}

TEST(Event, MeasuresTimeAndOrdersStreams) {
  hd::cuda::Event start;
  hd::cuda::Event stop;
  EXPECT_TRUE(start.query());
  start.synchronize();
  EXPECT_THROW(start.elapsed_ms(stop), hd::DeviceError);
  const hd::StorageHandle x = allocate_floats(1 << 16);
  start.record();
  fill(x, 1.0f);
  stop.record();
  stop.synchronize();
  EXPECT_TRUE(stop.query());
  EXPECT_GE(start.elapsed_ms(stop), 0.0f);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);

  hd::cuda::Event moved = std::move(stop);
  EXPECT_NE(moved.handle(), nullptr);
  EXPECT_EQ(stop.handle(), nullptr);
  EXPECT_GE(start.elapsed_ms(moved), 0.0f);

  hd::cuda::Event plain(hd::cuda::Event::Timing::off);
  plain.record();
  plain.synchronize();
  EXPECT_THROW(start.elapsed_ms(plain), hd::DeviceError);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST(Event, MayBeRecordedOnAnotherDevice) {
  if (hd::cuda::device_count() < 2) GTEST_SKIP() << "needs two devices";
  hd::cuda::Event event;
  event.record(hd::cuda::Stream::default_stream(hd::Cuda{0}));
  event.record(hd::cuda::Stream::default_stream(hd::Cuda{1}));
  event.wait(hd::cuda::Stream::default_stream(hd::Cuda{0}));
  event.synchronize();
  EXPECT_TRUE(event.query());
}

}  // namespace
