// Copies and page-locked memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "cuda/call_counter.hpp"
#include "cuda/support.hpp"

namespace {

using namespace heddle_test;

hd::StorageHandle pinned_floats(std::size_t count) {
  return hd::StorageHandle(hd::cuda::allocate_pinned(count * sizeof(float)));
}

TEST(Copy, ThereAndBackAndOnTheDevice) {
  std::vector<float> source(10007);
  std::iota(source.begin(), source.end(), 1.0f);
  const hd::StorageHandle x = allocate_floats(source.size());
  const hd::StorageHandle y = allocate_floats(source.size());
  const hd::cuda::Stream stream = hd::cuda::current_stream();
  hd::cuda::copy(x->data, source.data(), x->bytes, cudaMemcpyHostToDevice, stream);
  hd::cuda::copy(y->data, x->data, x->bytes, cudaMemcpyDeviceToDevice, stream);
  EXPECT_EQ(read(y), source);
}

TEST(Copy, NothingIsNoCall) {
  const hd::cuda::Stream stream = hd::cuda::current_stream();
  EXPECT_TRUE(calls_of([&] {
                hd::cuda::copy(nullptr, nullptr, 0, cudaMemcpyHostToDevice, stream);
                hd::cuda::copy_rows(nullptr, 0, nullptr, 0, 0, 5, cudaMemcpyHostToDevice, stream);
                hd::cuda::copy_between_devices(nullptr, hd::Cuda{0}, nullptr, hd::Cuda{0}, 0);
                hd::cuda::fill_bytes(nullptr, 1, 0, stream);
              }).empty());
}

TEST(Copy, OnTheDeviceDoesNotWait) {
  const hd::StorageHandle x = allocate_floats(100);
  const hd::StorageHandle y = allocate_floats(100);
  fill(x, 1.0f);
  const auto made = calls_of(
      [&] { hd::cuda::copy(y->data, x->data, x->bytes, cudaMemcpyDeviceToDevice, hd::cuda::current_stream()); });
  EXPECT_EQ(made.count("cudaStreamSynchronize"), 0u);
  EXPECT_EQ(made.at("cudaMemcpyAsync"), 1);
}

TEST(Copy, RowsOfAWiderMatrix) {
  const std::size_t rows = 13;
  const std::size_t columns = 5;
  const std::size_t pitch = 11;
  std::vector<float> source(rows * pitch);
  std::iota(source.begin(), source.end(), 0.0f);
  const hd::StorageHandle x = allocate_floats(rows * columns);
  const hd::cuda::Stream stream = hd::cuda::current_stream();
  const std::size_t width = columns * sizeof(float);
  hd::cuda::copy_rows(x->data, width, source.data() + 2, pitch * sizeof(float), width, rows, cudaMemcpyHostToDevice,
                      stream);
  std::vector<float> expected;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column) expected.push_back(source[row * pitch + column + 2]);
  EXPECT_EQ(read(x), expected);
  std::vector<float> back(rows * pitch, -1.0f);
  hd::cuda::copy_rows(back.data() + 2, pitch * sizeof(float), x->data, width, width, rows, cudaMemcpyDeviceToHost,
                      stream);
  for (std::size_t i = 0; i < back.size(); ++i) {
    const bool copied = i % pitch >= 2 && i % pitch < 2 + columns;
    EXPECT_EQ(back[i], copied ? source[i] : -1.0f) << i;
  }
}

TEST(Copy, FillsBytes) {
  const hd::StorageHandle x(hd::cuda::allocate(1001, hd::Cuda{0}));
  hd::cuda::fill_bytes(x->data, 0xab, 1001, hd::cuda::current_stream());
  std::vector<unsigned char> back(1001);
  hd::cuda::copy(back.data(), x->data, 1001, cudaMemcpyDeviceToHost, hd::cuda::current_stream());
  EXPECT_EQ(back, std::vector<unsigned char>(1001, 0xab));
}

TEST(Pinned, IsPageLockedAlignedAndForBothSides) {
  const hd::StorageHandle x = pinned_floats(1000);
  EXPECT_TRUE(x->pinned);
  EXPECT_EQ(x->device, -1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x->data) % hd::host_alignment, 0u);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, x->data), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  std::fill_n(floats(x), 1000, 2.5f);
  EXPECT_EQ(floats(x)[999], 2.5f);
  EXPECT_FALSE(hd::StorageHandle(hd::cuda::allocate_pinned(0))->pinned);
}

TEST(Pinned, R176_TheHostMayChangeItsMemoryAfterACopy) {
  const std::size_t count = std::size_t{64} << 18;  // 64 MiB
  for (const bool is_pinned : {true, false}) {
    const hd::StorageHandle host =
        is_pinned ? pinned_floats(count) : hd::StorageHandle(hd::allocate_host(count * sizeof(float)));
    std::fill_n(floats(host), count, 1.0f);
    const hd::cuda::Stream stream;
    const hd::cuda::StreamGuard guard(stream);
    const hd::StorageHandle x = allocate_floats(count);
    hd::cuda::copy(x->data, host->data, host->bytes, cudaMemcpyHostToDevice, stream);
    std::fill_n(floats(host), count, 2.0f);
    const std::vector<float> arrived = read(x);
    EXPECT_EQ(std::count(arrived.begin(), arrived.end(), 1.0f), static_cast<std::ptrdiff_t>(count));
  }
}

TEST(Pinned, R176_ItsReleaseWaitsForTheCopiesInFlight) {
  const std::size_t count = std::size_t{16} << 18;
  const hd::cuda::Stream stream;
  const hd::cuda::StreamGuard guard(stream);
  const hd::StorageHandle x = allocate_floats(count);
  fill(x, -1.0f);
  {
    const hd::StorageHandle host = pinned_floats(count);
    std::fill_n(floats(host), count, 1.0f);
    hd::cuda::copy_async(x->data, host->data, host->bytes, cudaMemcpyHostToDevice, stream);
    hd::cuda::record_stream(*host.get(), stream);
    hd::cuda::record_stream(*host.get(), stream);
    EXPECT_NE(host->uses, nullptr);
    calls().clear();
  }
  EXPECT_EQ(calls()["cudaStreamSynchronize"], 1);
  EXPECT_EQ(calls()["cudaFreeHost"], 1);
  EXPECT_EQ(read(x), std::vector<float>(count, 1.0f));
}

TEST(Pinned, TooMuchIsAnOutOfMemory) {
  const std::size_t asked = std::size_t{1} << 46;
  try {
    const hd::StorageHandle x(hd::cuda::allocate_pinned(asked));
    FAIL();
  } catch (const hd::OutOfMemory& error) {
    EXPECT_EQ(error.bytes_asked(), asked);
    EXPECT_TRUE(contains(error.what(), "page-locked")) << error.what();
  }
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

}  // namespace
