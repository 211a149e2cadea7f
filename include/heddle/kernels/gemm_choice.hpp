// Which of several kernels serves a matrix product: a table of what each costs, and the cheapest one.
#pragma once

#include "heddle/config.hpp"
#include "heddle/kernels/gemm_shape.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// One kernel for matrix products: its tile of C, and what it costs in clocks of a multiprocessor.
struct gemm_row {
  const char* name = "";
  int rows = 0, columns = 0, depth = 0;  ///< the tile, and how far it goes along k at a time
  bool guarded = false;                  ///< serves problems that are smaller than a tile
  int thin = 0;                          ///< if not 0: the most rows or columns of C; `rows` is along the fewer
  int resident = 0;                      ///< blocks that a multiprocessor holds at a time
  int clocks = 0;                        ///< a block takes for each `depth` along k, where the others fill its waits
  int clocks_alone = 0;                  ///< the same without others
  int fixed = 0;                         ///< clocks before and after
};

/// Whether a kernel can serve a problem. Those that are not guarded count along k in 32 bits.
inline bool is_served(const gemm_row& row, const gemm_shape& shape) {
  if (row.thin > 0 && shape.m > row.thin && shape.n > row.thin) return false;
  return row.guarded || (shape.m >= row.rows && shape.n >= row.columns && shape.k >> 33 == 0);
}

/// An estimate of the time of the multiprocessor with most blocks, in clocks.
inline double gemm_cost(const gemm_row& row, const gemm_shape& shape, int multiprocessors) {
  const auto ceil_div = [](index_t a, index_t b) { return a / b + (a % b != 0); };
  const bool turned = row.thin > 0 && shape.m > shape.n;
  const index_t m = turned ? shape.n : shape.m, n = turned ? shape.m : shape.n;
  const index_t blocks = ceil_div(m, row.rows) * ceil_div(n, row.columns) * shape.batches;
  const index_t held = ceil_div(blocks, multiprocessors);
  const double rounds = static_cast<double>(ceil_div(held, row.resident));
  const double busy = static_cast<double>(held) * row.clocks, waiting = rounds * row.clocks_alone;
  return static_cast<double>(ceil_div(shape.k, row.depth)) * (busy > waiting ? busy : waiting) + rounds * row.fixed;
}

/// The number of the cheapest row that serves; at least one must. Example: `select_gemm(rows, 2, shape, 132)`.
inline int select_gemm(const gemm_row* rows, int count, const gemm_shape& shape, int multiprocessors) {
  int best = -1;
  double least = 0;
  for (int i = 0; i < count; ++i) {
    if (!is_served(rows[i], shape)) continue;
    const double cost = gemm_cost(rows[i], shape, multiprocessors);
    if (best >= 0 && cost >= least) continue;
    best = i;
    least = cost;
  }
  return best;
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
