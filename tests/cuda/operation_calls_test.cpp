// What a warm operation asks of CUDA: its launches, at most one allocation and one release, nothing else.
#include <gtest/gtest.h>
#include <heddle/heddle.hpp>

#include <map>
#include <string>

#include "cuda/call_counter.hpp"

namespace {

namespace hd = heddle;
using heddle_test::calls_of;
using Calls = std::map<std::string, int>;

const Calls launch_only{{"cudaLaunchKernel", 1}};
const Calls launch_into_a_new_tensor{{"cudaMallocAsync", 1}, {"cudaLaunchKernel", 1}, {"cudaFreeAsync", 1}};

class OperationCalls : public testing::Test {
 protected:
  void SetUp() override {
    if (hd::cuda::device_count() != 1) GTEST_SKIP() << "one device: with several the current one is asked for";
  }

  template <class F>
  Calls warm_calls_of(F f) {
    f();
    return calls_of(f);
  }

  hd::Cuda device_;
};

TEST_F(OperationCalls, Maps) {
  const auto a = hd::full<float>({50, 20}, 2, device_);
  const auto b = hd::full<float>({50, 20}, 3, device_);
  const auto c = hd::full<float>({20}, -5, device_);
  auto y = hd::full<float>({50, 20}, 0, device_);
  EXPECT_EQ(warm_calls_of([&] { y = hd::relu(a * b + c); }), launch_only);
  EXPECT_EQ(warm_calls_of([&] { y.assign(hd::relu(a * b + c)); }), launch_only);
  EXPECT_EQ(warm_calls_of([&] { y += a; }), launch_only);
  EXPECT_EQ(warm_calls_of([&] { y = hd::dropout(hd::relu(a * b + c), 0.1f); }), launch_only);
  EXPECT_EQ(warm_calls_of([&] { const hd::Tensor z = hd::relu(a * b + c); }), launch_into_a_new_tensor);
  const hd::cuda::Stream stream;
  const hd::cuda::StreamGuard guard(stream);
  EXPECT_EQ(warm_calls_of([&] { const hd::Tensor z = a * a; })["cudaLaunchKernel"], 1);
}

TEST_F(OperationCalls, MatmulWithItsEpilogue) {
  const auto x = hd::full<float>({33, 65}, 1, device_);
  const auto w = hd::full<float>({65, 17}, 1, device_);
  const auto b = hd::full<float>({17}, 1, device_);
  EXPECT_EQ(warm_calls_of([&] { const hd::Tensor y = hd::relu(hd::matmul(x, w) + b); }), launch_into_a_new_tensor);
}

TEST_F(OperationCalls, Views) {
  const auto x = hd::full<float>({33, 65}, 1, device_);
  EXPECT_EQ(warm_calls_of([&] {
              const hd::Tensor t = x.transpose();
              const hd::Tensor s = x[3];
            }),
            Calls{});
}

TEST_F(OperationCalls, NothingIsLaunchedForNothing) {
  const auto x = hd::full<float>({0, 65}, 1, device_);
  EXPECT_EQ(warm_calls_of([&] { const hd::Tensor y = x + x; }), Calls{});
}

}  // namespace
