// What Heddle's CPU kernels are measured beside: the machine's limits and other libraries, on the same memory and on as
// many threads. Compiled for this very machine, as Heddle is not.
#pragma once

#include <cstddef>

namespace heddle_bench::peers {

/// The threads that all of these use.
void use_threads(int count);

/// STREAM's triad, y = a + s b: 12 bytes an element. The limit of what memory gives.
void triad(const float* a, const float* b, float* y, std::size_t count);

/// Loops over the C library's scalar functions.
void libm_exp(const float* x, float* y, std::size_t count);
void libm_tanh(const float* x, float* y, std::size_t count);
void libm_gelu(const float* x, float* y, std::size_t count);
void libm_softmax(const float* x, float* y, std::size_t rows, std::size_t columns);

#if HEDDLE_BENCH_EIGEN
void eigen_map(const float* a, const float* b, const float* c, float* y, std::size_t count);
float eigen_sum(const float* x, std::size_t count);
void eigen_exp(const float* x, float* y, std::size_t count);
void eigen_tanh(const float* x, float* y, std::size_t count);
#endif

}  // namespace heddle_bench::peers
