// Eigen's arrays know one thread: each takes a piece.
#include <omp.h>

#include <Eigen/Core>
#include <algorithm>

#include "peers.hpp"

namespace heddle_bench::peers {
namespace {

using Piece = Eigen::Map<const Eigen::ArrayXf>;
using WritablePiece = Eigen::Map<Eigen::ArrayXf>;

/// Calls f(first, count) on every thread with its piece.
template <class F>
void in_pieces(std::size_t count, F f) {
#pragma omp parallel
  {
    const auto threads = static_cast<std::size_t>(omp_get_num_threads());
    const std::size_t piece = (count + threads - 1) / threads / 16 * 16 + 16;
    const std::size_t first = std::min(count, static_cast<std::size_t>(omp_get_thread_num()) * piece);
    f(first, static_cast<Eigen::Index>(std::min(piece, count - first)));
  }
}

}  // namespace

void eigen_map(const float* a, const float* b, const float* c, float* y, std::size_t count) {
  in_pieces(count, [=](std::size_t first, Eigen::Index n) {
    WritablePiece(y + first, n) = (Piece(a + first, n) * Piece(b + first, n) + Piece(c + first, n)).max(0.0F);
  });
}

float eigen_sum(const float* x, std::size_t count) {
  float total = 0;
  in_pieces(count, [=, &total](std::size_t first, Eigen::Index n) {
    const float part = n > 0 ? Piece(x + first, n).sum() : 0.0F;
#pragma omp atomic
    total += part;
  });
  return total;
}

void eigen_exp(const float* x, float* y, std::size_t count) {
  in_pieces(count, [=](std::size_t first, Eigen::Index n) { WritablePiece(y + first, n) = Piece(x + first, n).exp(); });
}

void eigen_tanh(const float* x, float* y, std::size_t count) {
  in_pieces(count,
            [=](std::size_t first, Eigen::Index n) { WritablePiece(y + first, n) = Piece(x + first, n).tanh(); });
}

}  // namespace heddle_bench::peers
