// What the tests of the raw CUDA kernels share: device memory that is poisoned first, and the simplest sources and
// sinks that a kernel can be given.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "heddle/core/half.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cuda/launch.cuh"

namespace heddle_test {

using heddle::index_t;

/// Device memory for `count` elements, every byte 0xff: NaN in every floating type, -1 in signed integers.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(index_t count) : count_(count) {
    EXPECT_EQ(cudaMalloc(&data_, bytes()), cudaSuccess);
    EXPECT_EQ(cudaMemset(data_, 0xff, bytes()), cudaSuccess);
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(static_cast<index_t>(values.size())) {
    EXPECT_EQ(cudaMemcpy(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), cudaSuccess);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* data() const { return static_cast<T*>(data_); }
  std::vector<T> to_vector() const {
    std::vector<T> values(static_cast<std::size_t>(count_));
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(values.data(), data_, values.size() * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return values;
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(count_ > 0 ? count_ : 1) * sizeof(T); }

  void* data_ = nullptr;
  index_t count_ = 0;
};

/// A two-dimensional operand of any strides.
template <class T, class Value = T>
struct StridedSource {
  using value_type = Value;
  using Position = const T*;
  const T* data;
  index_t outer_stride, inner_stride;

  __device__ Position at(index_t outer) const { return data + outer * outer_stride; }
  __device__ Value load(Position position, index_t inner) const {
    return static_cast<Value>(position[inner * inner_stride]);
  }
  bool inner_is_contiguous() const { return inner_stride == 1; }
  bool outer_is_contiguous() const { return outer_stride == 1; }
};

/// (x - y)^2: a source with a prologue of two operands.
struct SquaredDifference {
  using value_type = float;
  using Position = index_t;
  const float* x;
  const float* y;
  index_t outer_stride;

  __device__ Position at(index_t outer) const { return outer * outer_stride; }
  __device__ float load(Position position, index_t inner) const {
    const float difference = x[position + inner] - y[position + inner];
    return difference * difference;
  }
};

/// The output: a batch (or row, or result), a row and a column, each with a stride.
template <class T>
struct StridedSink {
  using Position = T*;
  T* data;
  index_t outer_stride, row_stride, column_stride;

  __device__ Position at(index_t outer) const { return data + outer * outer_stride; }
  template <class Value>
  __device__ void store(Position position, index_t row, index_t column, Value value) const {
    position[row * row_stride + column * column_stride] = static_cast<T>(value);
  }
};

/// Integers from -4 to 4, never all alike: their sums are exact in every type here.
template <class T>
std::vector<T> exact_values(index_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values;
  for (index_t i = 0; i < count; ++i) values.push_back(static_cast<T>(static_cast<int>(random() % 9U) - 4));
  return values;
}

template <class T>
std::vector<T> real_values(index_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-2, 2);
  std::vector<T> values;
  for (index_t i = 0; i < count; ++i) values.push_back(static_cast<T>(uniform(random)));
  return values;
}

/// Whether two results have the same bits.
template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

}  // namespace heddle_test
