// What this machine can do at most, measured in the same run: the floor that every benchmark is shown beside.
#pragma once

#include <heddle/heddle.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>

#if defined(__CUDACC__)
#include <heddle/cuda/event.hpp>
#endif

namespace heddle_bench {

namespace hd = heddle;

/// Whether the environment asks for sizes that an emulator can bear: HEDDLE_BENCH_SMALL=1.
inline bool small_sizes() {
  const char* const asked = std::getenv("HEDDLE_BENCH_SMALL");
  return asked != nullptr && asked[0] == '1';
}

/// Seconds of `rounds` calls of f, on the device's own clock where it has one.
template <class F>
double seconds_of(hd::Cpu, int rounds, F&& f) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

#if defined(__CUDACC__)
template <class F>
double seconds_of(hd::Cuda device, int rounds, F&& f) {
  hd::cuda::Event start;
  hd::cuda::Event stop;
  start.record(hd::cuda::current_stream(device));
  for (int i = 0; i < rounds; ++i) f();
  stop.record(hd::cuda::current_stream(device));
  stop.synchronize();
  return static_cast<double>(start.elapsed_ms(stop)) * 1e-3;
}

/// Independent multiply-adds in registers.
inline constexpr int peak_chains = 16;
inline constexpr int peak_steps = 1024;
__global__ void multiply_add_chains(float* out, float factor) {
  float value[peak_chains];
  for (int c = 0; c < peak_chains; ++c) value[c] = static_cast<float>(threadIdx.x + static_cast<unsigned>(c));
  for (int i = 0; i < peak_steps; ++i)
#pragma unroll
    for (int c = 0; c < peak_chains; ++c) value[c] = value[c] * factor + 1.0F;
  float sum = 0;
  for (int c = 0; c < peak_chains; ++c) sum += value[c];
  if (sum == 0.5F) out[0] = sum;
}
#endif

/// Bytes a second of a copy (each byte read once and written once, both counted), the best of several.
template <class Device>
double copy_bandwidth(Device device, hd::index_t bytes) {
  const auto from = hd::ones<float>({bytes / 4}, device);
  auto to = hd::zeros<float>({bytes / 4}, device);
  double best = 1e30;
  for (int i = 0; i < 5; ++i) best = std::min(best, seconds_of(device, 3, [&] { to.copy_from(from); }) / 3);
  return 2.0 * static_cast<double>(bytes) / best;
}

/// Floating-point operations a second in float, of all threads or multiprocessors together.
double peak_flops(hd::Cpu);

#if defined(__CUDACC__)
inline double peak_flops(hd::Cuda device) {
  auto out = hd::zeros<float>({1}, device);
  const int blocks = hd::cuda::attributes(device.index).multiprocessors * 8;
  constexpr int block = 256;
  const auto context = hd::on_cuda::current_context(device.index, "peak");
  auto run = [&] {
    hd::on_cuda::launch(multiply_add_chains, dim3(static_cast<unsigned>(blocks)), dim3(block), 0, context, out.data(),
                        0.999F);
  };
  run();
  double best = 1e30;
  for (int i = 0; i < 3; ++i) best = std::min(best, seconds_of(device, 1, run));
  return 2.0 * peak_chains * peak_steps * block * blocks / best;
}
#endif

}  // namespace heddle_bench
