// In a source of its own: nvcc does not take vector types.
#include <utility>

#include "limits.hpp"

namespace heddle_bench {
namespace {

/// Independent multiply-adds in vector registers of the widest kind that the machine has.
struct multiply_add_loop {
  using vector = float __attribute__((vector_size(64)));
  static constexpr int lanes = 16, chains = 12, steps = 100000;
  float* out;
  HEDDLE_ALWAYS_INLINE void operator()() const { run(std::make_integer_sequence<int, chains>{}); }

 private:
  template <int... C>
  HEDDLE_ALWAYS_INLINE void run(std::integer_sequence<int, C...>) const {
    vector value[chains] = {vector{} + static_cast<float>(C)...};
    for (int i = 0; i < steps; ++i) ((value[C] = value[C] * 0.999F + 0.5F), ...);
    *out += (value[C] + ...)[0];
  }
};

}  // namespace

double peak_flops(hd::Cpu) {
  double best = 1e30;
  const int threads = hd::thread_count();
  for (int i = 0; i < 3; ++i) {
    best = std::min(best, seconds_of(hd::cpu, 1, [&] {
                      hd::parallel_for(threads, 1, [&](hd::index_t begin, hd::index_t end) {
                        float sink = 0;
                        for (hd::index_t t = begin; t < end; ++t) hd::on_cpu::vectorised(multiply_add_loop{&sink});
                        volatile float keep = sink;
                        (void)keep;
                      });
                    }));
  }
  using loop = multiply_add_loop;
  return 2.0 * loop::lanes * loop::chains * loop::steps * threads / best;
}

}  // namespace heddle_bench
