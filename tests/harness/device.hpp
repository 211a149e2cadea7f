// The device that a test source is compiled for: Cpu by the C++ compiler, Cuda as CUDA.
#pragma once

#include <heddle/core/tensor.hpp>

#ifndef HEDDLE_TEST_DEVICE_CUDA
#define HEDDLE_TEST_DEVICE_CUDA 0
#endif

namespace heddle_test {

namespace hd = heddle;

#if HEDDLE_TEST_DEVICE_CUDA
using TestDevice = hd::Cuda;
#else
using TestDevice = hd::Cpu;
#endif
inline constexpr bool on_cuda = HEDDLE_TEST_DEVICE_CUDA != 0;

/// The device to test.
inline TestDevice test_device() { return {}; }

template <class T, int Rank>
using TestTensor = hd::Tensor<T, Rank, TestDevice>;

}  // namespace heddle_test
