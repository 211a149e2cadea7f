#include <omp.h>

#include "peers.hpp"

namespace heddle_bench::peers {
namespace {

// Vectors by name: a compiler keeps them in registers, where an array of floats would go through memory.
using vector = float __attribute__((vector_size(64)));
constexpr int lanes = 16;
constexpr int chains = 12;
constexpr int steps = 1000000;

float chains_of_one_thread() {
  vector value[chains];
  for (int c = 0; c < chains; ++c) value[c] = vector{} + static_cast<float>(c);
  for (int i = 0; i < steps; ++i)
#pragma GCC unroll 12
    for (int c = 0; c < chains; ++c) value[c] = value[c] * 0.999F + 0.5F;
  vector sum{};
  for (int c = 0; c < chains; ++c) sum += value[c];
  return sum[0];
}

}  // namespace

void use_threads(int count) { omp_set_num_threads(count); }

void triad(const float* a, const float* b, float* y, std::size_t count) {
#pragma omp parallel for simd schedule(static)
  for (std::size_t i = 0; i < count; ++i) y[i] = a[i] + 3.0F * b[i];
}

double multiply_adds_operations() { return 2.0 * lanes * chains * steps * omp_get_max_threads(); }

float multiply_adds() {
  float sum = 0;
#pragma omp parallel reduction(+ : sum)
  sum += chains_of_one_thread();
  return sum;
}

}  // namespace heddle_bench::peers
