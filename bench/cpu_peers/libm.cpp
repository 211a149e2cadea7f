// Scalar on purpose: compiled without vectorisation.
#include <algorithm>
#include <cmath>

#include "peers.hpp"

namespace heddle_bench::peers {

void libm_exp(const float* x, float* y, std::size_t count) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < count; ++i) y[i] = std::exp(x[i]);
}

void libm_tanh(const float* x, float* y, std::size_t count) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < count; ++i) y[i] = std::tanh(x[i]);
}

void libm_gelu(const float* x, float* y, std::size_t count) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < count; ++i) y[i] = 0.5F * x[i] * (1.0F + std::erf(x[i] * 0.70710678F));
}

void libm_softmax(const float* x, float* y, std::size_t rows, std::size_t columns) {
#pragma omp parallel for schedule(static)
  for (std::size_t r = 0; r < rows; ++r) {
    const float* const from = x + r * columns;
    float* const to = y + r * columns;
    float greatest = from[0];
    for (std::size_t i = 1; i < columns; ++i) greatest = std::max(greatest, from[i]);
    float sum = 0;
    for (std::size_t i = 0; i < columns; ++i) sum += to[i] = std::exp(from[i] - greatest);
    for (std::size_t i = 0; i < columns; ++i) to[i] /= sum;
  }
}

}  // namespace heddle_bench::peers
