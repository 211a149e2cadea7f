// The operations beside what the machine can do: every line has bytes or floating-point operations a second, and the
// share of the copy bandwidth or of the multiply-add peak measured in the same run. HEDDLE_BENCH_SMALL=1 takes sizes
// that an emulator can bear.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "limits.hpp"

namespace hd = heddle;
using hd::index_t;

namespace {

using heddle_bench::small_sizes;

/// The limits of a device, measured when they are first asked for.
struct limits {
  double bandwidth;
  double flops;
};
template <class Device>
const limits& limits_of(Device device) {
  static const limits measured{heddle_bench::copy_bandwidth(device, small_sizes() ? 1 << 16 : 1 << 28),
                               heddle_bench::peak_flops(device)};
  return measured;
}

/// Runs f under the device's clock and reports what it moved and computed for each call.
template <class Device, class F>
void measure(benchmark::State& state, Device device, double bytes, double flops, F&& f) {
  f();
  double total = 0;
  std::int64_t calls = 0;
  const int rounds = small_sizes() ? 1 : 10;
  for (auto _ : state) {
    const double seconds = heddle_bench::seconds_of(device, rounds, f);
    state.SetIterationTime(seconds / rounds);
    total += seconds;
    calls += rounds;
  }
  const double per_call = total / static_cast<double>(calls);
  if (flops > 0) {
    state.counters["flop/s"] = flops / per_call;
    state.counters["of_peak"] = flops / per_call / limits_of(device).flops;
  } else {
    state.counters["bytes/s"] = bytes / per_call;
    state.counters["of_copy"] = bytes / per_call / limits_of(device).bandwidth;
  }
}

template <class Device, class F>
void add(const std::string& name, F run) {
  auto* const registered = benchmark::RegisterBenchmark(name.c_str(), [run](benchmark::State& state) { run(state); });
  registered->UseManualTime()->Unit(benchmark::kMicrosecond);
  if (small_sizes()) registered->Iterations(1);
}

template <class Device>
void add_all(const std::string& where, Device device) {
  const index_t shrink = small_sizes() ? 64 : 1;
  for (const index_t n : {index_t{1} << 20, index_t{1} << 24}) {
    const index_t count = n / (shrink * shrink);
    const std::string size = '/' + std::to_string(count);
    const double bytes = 4.0 * static_cast<double>(count);
    add<Device>(where + "/map/relu(a*b+c)" + size, [=](benchmark::State& state) {
      const auto a = hd::rand<float>({count}, device), b = hd::rand<float>({count}, device),
                 c = hd::rand<float>({count}, device);
      auto y = hd::zeros<float>({count}, device);
      measure(state, device, 4 * bytes, 0, [&] { y = hd::relu(a * b + c); });
    });
    add<Device>(where + "/map/exp" + size, [=](benchmark::State& state) {
      const auto a = hd::rand<float>({count}, device);
      auto y = hd::zeros<float>({count}, device);
      measure(state, device, 2 * bytes, 0, [&] { y = hd::exp(a); });
    });
    add<Device>(where + "/sum/all" + size, [=](benchmark::State& state) {
      const auto a = hd::rand<float>({count}, device);
      auto y = hd::zeros<float>({}, device);
      measure(state, device, bytes, 0, [&] { y = hd::sum(a); });
    });
  }
  for (const index_t columns : {index_t{1000}, index_t{8192}}) {
    const index_t rows = 4096 / shrink;
    const double bytes = 4.0 * static_cast<double>(rows * columns);
    const std::string size = '/' + std::to_string(rows) + 'x' + std::to_string(columns);
    add<Device>(where + "/sum/rows" + size, [=](benchmark::State& state) {
      const auto a = hd::rand<float>({rows, columns}, device);
      auto y = hd::zeros<float>({rows}, device);
      measure(state, device, bytes, 0, [&] { y = hd::sum(a, hd::axis<1>); });
    });
    add<Device>(where + "/sum/columns" + size, [=](benchmark::State& state) {
      const auto a = hd::rand<float>({rows, columns}, device);
      auto y = hd::zeros<float>({columns}, device);
      measure(state, device, bytes, 0, [&] { y = hd::sum(a, hd::axis<0>); });
    });
    add<Device>(where + "/softmax" + size, [=](benchmark::State& state) {
      const auto a = hd::rand<float>({rows, columns}, device);
      auto y = hd::zeros<float>({rows, columns}, device);
      measure(state, device, 2 * bytes, 0, [&] { y = hd::softmax(a, hd::axis<1>); });
    });
  }
  const bool on_host = std::is_same_v<Device, hd::Cpu>;
  for (const index_t n : {index_t{256}, index_t{1024}, index_t{4096}}) {
    if (on_host && n > 1024) continue;
    const index_t m = n / (small_sizes() ? 16 : 1);
    const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(m) * static_cast<double>(m);
    add<Device>(where + "/matmul/" + std::to_string(m), [=](benchmark::State& state) {
      const auto a = hd::rand<float>({m, m}, device), b = hd::rand<float>({m, m}, device);
      auto y = hd::zeros<float>({m, m}, device);
      measure(state, device, 0, flops, [&] { y = hd::matmul(a, b); });
    });
    add<Device>(where + "/matmul_bias_relu/" + std::to_string(m), [=](benchmark::State& state) {
      const auto a = hd::rand<float>({m, m}, device), b = hd::rand<float>({m, m}, device);
      const auto bias = hd::rand<float>({m}, device);
      auto y = hd::zeros<float>({m, m}, device);
      measure(state, device, 0, flops, [&] { y = hd::relu(hd::matmul(a, b) + bias); });
    });
  }
}

template <class Device>
void print_limits(const char* where, Device device) {
  const limits& measured = limits_of(device);
  std::fprintf(stderr, "%s: copy %.1f GB/s, multiply-add peak %.1f GFLOP/s\n", where, measured.bandwidth * 1e-9,
               measured.flops * 1e-9);
  benchmark::AddCustomContext(std::string(where) + "_copy_bytes_per_second", std::to_string(measured.bandwidth));
  benchmark::AddCustomContext(std::string(where) + "_peak_flops", std::to_string(measured.flops));
}

}  // namespace

int main(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  if (benchmark::ReportUnrecognizedArguments(count, arguments)) return 1;
  add_all("cpu", hd::cpu);
  print_limits("cpu", hd::cpu);
#if defined(__CUDACC__)
  if (hd::cuda::is_available()) {
    add_all("cuda", hd::Cuda{0});
    print_limits("cuda", hd::Cuda{0});
  }
#endif
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
