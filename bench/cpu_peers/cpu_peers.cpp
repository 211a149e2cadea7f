// Heddle's CPU kernels beside the machine's limits and other libraries, all on the same memory and as many threads.
// A noisy machine makes single times worthless: ours and the peer's take turns, and the median of the paired ratios
// counts. Each line has the bytes a second of ours (map 16 an element, sum 4, exp and tanh 8), `speedup`, the median of
// the peer's time over ours, and the pairs behind it. `map_of_triad` and `sum_of_triad` compare bytes a second with the
// triad's (12 an element).
#include <benchmark/benchmark.h>
#include <unistd.h>
#include <heddle/heddle.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "../limits.hpp"
#include "peers.hpp"

namespace hd = heddle;
namespace peers = heddle_bench::peers;

namespace {

using heddle_bench::small_sizes;

template <class F>
double seconds_of(F&& f) {
  return heddle_bench::seconds_of(hd::cpu, 1, f);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Lets `ours` and `peer` take turns. weight: how much a unit of the peer's work counts against one of ours.
template <class Ours, class Peer>
void add(const char* name, double bytes, double weight, Ours ours, Peer peer) {
  benchmark::RegisterBenchmark(name,
                               [=](benchmark::State& state) {
                                 ours();
                                 peer();
                                 std::vector<double> ratios, times;
                                 for (auto _ : state) {
                                   // Each comes first every other time.
                                   const bool ours_first = ratios.size() % 2 == 0;
                                   double mine = ours_first ? seconds_of(ours) : 0;
                                   const double theirs = seconds_of(peer);
                                   if (!ours_first) mine = seconds_of(ours);
                                   state.SetIterationTime(mine);
                                   ratios.push_back(theirs * weight / mine);
                                   times.push_back(mine);
                                 }
                                 state.counters["speedup"] = median(ratios);
                                 state.counters["pairs"] = static_cast<double>(ratios.size());
                                 state.counters["bytes/s"] = bytes / median(times);
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(small_sizes() ? 2 : 60);
}

void print_limits(const float* a, const float* b, float* y, std::size_t count) {
  std::vector<double> triad;
  for (int i = 0; i < (small_sizes() ? 1 : 20); ++i) triad.push_back(seconds_of([&] { peers::triad(a, b, y, count); }));
  std::printf("threads %d, triad %.2f GB/s (median), multiply-adds %.1f Gflop/s (best)\n", hd::thread_count(),
              12e-9 * static_cast<double>(count) / median(triad), 1e-9 * heddle_bench::peak_flops(hd::cpu));
}

/// OpenMP's threads would spin for a while after each loop of a peer, on the cores that ours needs next. The library
/// reads how they are to wait before main runs: so the program starts once more.
void restart_with_passive_waiting(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv("/proc/self/exe", argv);
}

}  // namespace

int main(int argc, char** argv) {
  restart_with_passive_waiting(argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  peers::use_threads(hd::thread_count());

  const hd::index_t columns = 1024, rows = small_sizes() ? 16 : 16 * 1024, count = rows * columns;
  const auto n = static_cast<std::size_t>(count);
  const auto a = hd::randn<float>({count}), b = hd::randn<float>({count}), c = hd::randn<float>({count});
  const auto matrix = a.reshape({rows, columns});
  auto y = hd::zeros<float>({count});
  auto peer_y = hd::zeros<float>({count});
  float* const to = peer_y.data();
  const double element = static_cast<double>(count);
  print_limits(a.data(), b.data(), to, n);

  const auto fused_map = [&] { y = hd::relu(a * b + c); };
  const auto sum = [&] { benchmark::DoNotOptimize(hd::sum(a).item()); };
  const auto triad = [&] { peers::triad(a.data(), b.data(), to, n); };
  add("map_of_triad", 16 * element, 16.0 / 12, fused_map, triad);
  add("sum_of_triad", 4 * element, 4.0 / 12, sum, triad);
#if HEDDLE_BENCH_EIGEN
  add("map_against_eigen", 16 * element, 1, fused_map, [&] { peers::eigen_map(a.data(), b.data(), c.data(), to, n); });
  add("sum_against_eigen", 4 * element, 1, sum, [&] { benchmark::DoNotOptimize(peers::eigen_sum(a.data(), n)); });
  add(
      "exp_against_eigen", 8 * element, 1, [&] { y = hd::exp(a); }, [&] { peers::eigen_exp(a.data(), to, n); });
  add(
      "tanh_against_eigen", 8 * element, 1, [&] { y = hd::tanh(a); }, [&] { peers::eigen_tanh(a.data(), to, n); });
#endif
  // In the caches, where arithmetic is the limit.
  const hd::index_t few = rows < 128 ? rows : 128;
  const auto cached = matrix.slice(hd::axis<0>, hd::range(0, few));
  const double cached_element = static_cast<double>(cached.size());
  const auto cached_n = static_cast<std::size_t>(cached.size());
  auto cached_y = hd::zeros<float>({few, columns});
  add(
      "exp_against_libm", 8 * cached_element, 1, [&] { cached_y = hd::exp(cached); },
      [&] { peers::libm_exp(cached.data(), to, cached_n); });
  add(
      "tanh_against_libm", 8 * cached_element, 1, [&] { cached_y = hd::tanh(cached); },
      [&] { peers::libm_tanh(cached.data(), to, cached_n); });
  add(
      "gelu_against_libm", 8 * cached_element, 1, [&] { cached_y = hd::gelu(cached); },
      [&] { peers::libm_gelu(cached.data(), to, cached_n); });
  add(
      "softmax_against_libm", 8 * cached_element, 1, [&] { cached_y = hd::softmax(cached, hd::axis<1>); },
      [&] {
        peers::libm_softmax(cached.data(), to, static_cast<std::size_t>(few), static_cast<std::size_t>(columns));
      });
  benchmark::RunSpecifiedBenchmarks();
}
