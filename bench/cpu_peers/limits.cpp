#include <omp.h>

#include "peers.hpp"

namespace heddle_bench::peers {
namespace {

constexpr int chains = 128;
constexpr int steps = 200000;

float chains_of_one_thread() {
  float value[chains];
  for (int j = 0; j < chains; ++j) value[j] = static_cast<float>(j);
  for (int i = 0; i < steps; ++i)
    for (int j = 0; j < chains; ++j) value[j] = value[j] * 0.999F + 0.5F;
  float sum = 0;
  for (int j = 0; j < chains; ++j) sum += value[j];
  return sum;
}

}  // namespace

void use_threads(int count) { omp_set_num_threads(count); }

void triad(const float* a, const float* b, float* y, std::size_t count) {
#pragma omp parallel for simd schedule(static)
  for (std::size_t i = 0; i < count; ++i) y[i] = a[i] + 3.0F * b[i];
}

double multiply_adds_operations() { return 2.0 * chains * steps * omp_get_max_threads(); }

float multiply_adds() {
  float sum = 0;
#pragma omp parallel reduction(+ : sum)
  sum += chains_of_one_thread();
  return sum;
}

}  // namespace heddle_bench::peers
