// Tensors across threads, streams and page-locked memory: the public interface over what memory_test.cpp looks into.
#include <gtest/gtest.h>
#include <heddle/heddle.hpp>

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

namespace {

namespace hd = heddle;

std::size_t in_use() {
  hd::cuda::synchronize();
  return hd::cuda::memory_stats().in_use;
}

TEST(TensorLifetime, R168_EachThreadWorksOnItsOwnStream) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(8, 0);
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([t, &wrong] {
      const hd::cuda::Stream stream;
      const hd::cuda::StreamGuard guard(stream);
      for (int round = 0; round < 5; ++round) {
        const auto a = hd::full<float>({64, 256}, t, hd::Cuda{});
        const auto b = hd::ones<float>({256, 64}, hd::Cuda{});
        const hd::Tensor y = hd::matmul(a, b);
        for (const float value : y.to_vector()) wrong[static_cast<std::size_t>(t)] += value != 256.0f * t;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(8, 0));
}

TEST(TensorLifetime, R172_MadeAndReleasedByDifferentThreads) {
  hd::cuda::trim();
  const std::size_t before = in_use();
  std::optional<hd::Tensor<float, 2, hd::Cuda>> x;
  std::thread([&] { x = hd::full<float>({1000, 1000}, 3, hd::Cuda{}); }).join();
  EXPECT_EQ(hd::max(*x).item(), 3.0f);
  EXPECT_GE(in_use(), before + 4'000'000);
  std::thread([&] { x.reset(); }).join();
  EXPECT_EQ(in_use(), before);
}

TEST(TensorLifetime, R174_OutlivesItsStream) {
  const std::size_t before = in_use();
  {
    std::optional<hd::cuda::Stream> s(std::in_place);
    hd::Tensor<float, 1, hd::Cuda> t;
    {
      const hd::cuda::StreamGuard guard(*s);
      t = hd::full<float>({1000}, 5, hd::Cuda{});
    }
    s->synchronize();
    s.reset();
    const hd::Tensor doubled = t + t;
    t.record_stream(hd::cuda::current_stream());
    t = hd::zeros<float>({3}, hd::Cuda{});
    EXPECT_EQ(doubled.to_vector(), std::vector<float>(1000, 10.0f));
  }
  EXPECT_EQ(in_use(), before);
}

TEST(TensorLifetime, R176_HostMemoryMayChangeAfterACopy) {
  const hd::index_t count = hd::index_t{1} << 24;  // 64 MiB
  const hd::cuda::Stream stream;
  const hd::cuda::StreamGuard guard(stream);
  for (const bool is_pinned : {true, false}) {
    auto host = is_pinned ? hd::empty_pinned<float>({count}) : hd::empty<float>({count}, hd::cpu);
    std::fill_n(host.data(), count, 1.0f);
    const hd::Tensor x = host.to(hd::Cuda{});
    std::fill_n(host.data(), count, 2.0f);
    EXPECT_EQ(hd::sum(x).item(), 16777216.0f) << (is_pinned ? "pinned" : "pageable");
  }
}

TEST(TensorLifetime, R176_HostMemoryMayBeReleasedAfterAnAsynchronousCopy) {
  const hd::index_t count = hd::index_t{1} << 22;
  const hd::cuda::Stream stream;
  const hd::cuda::StreamGuard guard(stream);
  hd::Tensor<float, 1, hd::Cuda> x;
  {
    auto host = hd::empty_pinned<float>({count});
    std::fill_n(host.data(), count, 1.0f);
    x = host.to_async(hd::Cuda{}, stream);
  }
  {
    auto other = hd::empty_pinned<float>({count});
    std::fill_n(other.data(), count, 3.0f);
  }
  EXPECT_EQ(hd::sum(x).item(), 4194304.0f);
}

TEST(TensorLifetime, R193_AStaleErrorOfTheUserIsNotOurs) {
  ASSERT_NE(cudaSetDevice(12345), cudaSuccess);
  EXPECT_EQ(hd::sum(hd::ones<float>({1000}, hd::Cuda{})).item(), 1000.0f);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}

TEST(TensorLifetime, TooLargeATensorLeavesTheOldOne) {
  auto y = hd::ones<float>({10}, hd::Cuda{});
  const std::size_t before = in_use();
  EXPECT_THROW((y = hd::ones<float>({hd::index_t{1} << 44}, hd::Cuda{})), hd::OutOfMemory);
  EXPECT_EQ(hd::sum(y).item(), 10.0f);
  EXPECT_EQ(in_use(), before);
}

}  // namespace
