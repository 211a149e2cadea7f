// What an operation costs the host when CUDA itself costs nothing: nanoseconds per call beside a runtime whose calls
// return at once (stub_cudart.cpp). Prints one line a case with its target; exits 1 where a target is missed by more
// than --tolerance allows (default 1: not at all; 0 only prints).
#include <heddle/heddle.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace hd = heddle;

namespace {

/// The median of 101 batches, each long enough for the clock.
template <class F>
double nanoseconds_per_call(F f) {
  constexpr int batches = 101;
  constexpr int calls = 2000;
  for (int i = 0; i < calls; ++i) f();
  std::vector<double> times;
  for (int batch = 0; batch < batches; ++batch) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) f();
    const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
    times.push_back(elapsed.count() / calls);
  }
  std::nth_element(times.begin(), times.begin() + batches / 2, times.end());
  return times[batches / 2];
}

double tolerance = 1;
bool missed = false;

template <class F>
void report(const char* name, double target, F f) {
  const double time = nanoseconds_per_call(f);
  const bool miss = target > 0 && tolerance > 0 && time > target * tolerance;
  missed = missed || miss;
  if (target > 0) {
    std::printf("%-40s %8.1f ns   target %4.0f%s\n", name, time, target, miss ? "   MISSED" : "");
  } else {
    std::printf("%-40s %8.1f ns\n", name, time);
  }
}

}  // namespace

int main(int count, char** arguments) {
  for (int i = 1; i + 1 < count; ++i)
    if (std::strcmp(arguments[i], "--tolerance") == 0) tolerance = std::atof(arguments[i + 1]);

  const hd::Cuda device;
  auto a = hd::empty<float>({1000, 100}, device);
  auto b = hd::empty<float>({1000, 100}, device);
  auto c = hd::empty<float>({1000, 100}, device);
  auto bias = hd::empty<float>({100}, device);
  auto y = hd::empty<float>({1000, 100}, device);
  auto x = hd::empty<float>({64, 784}, device);
  auto w = hd::empty<float>({784, 128}, device);
  auto h = hd::empty<float>({128}, device);

  report("allocation and release", 60, [&] { const hd::StorageHandle memory(hd::cuda::allocate(400000, device)); });
  report("y = relu(a * b + c), in place", 250, [&] { y = hd::relu(a * b + c); });
  report("y.assign(relu(a * b + c))", 250, [&] { y.assign(hd::relu(a * b + c)); });
  report("y = relu(a * b + bias), in place", 250, [&] { y = hd::relu(a * b + bias); });
  report("Tensor y = relu(a * b + c)", 450, [&] { const hd::Tensor z = hd::relu(a * b + c); });
  report("Tensor y = relu(matmul(x, w) + h)", 700, [&] { const hd::Tensor z = hd::relu(hd::matmul(x, w) + h); });
  return missed ? 1 : 0;
}
