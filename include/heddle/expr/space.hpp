// The index space of a kernel: axes ordered, merged and divided quickly.
#pragma once

#include "heddle/core/shape.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// Axes of extent 1 dropped, the others sorted by row 0's strides (greatest first, when `sort` is set) and neighbours
/// merged where every row steps through both as through one. Rows lie `pitch` apart. Returns the number of axes left.
[[gnu::noinline]] inline int collapse_axes(int rank, index_t* extent, index_t* stride, int rows, int pitch, bool sort) {
  auto at = [&](int row, int axis) -> index_t& { return stride[row * pitch + axis]; };
  int kept = 0;
  for (int i = 0; i < rank; ++i) {
    if (extent[i] == 1) continue;
    if (kept != i) {
      extent[kept] = extent[i];
      for (int r = 0; r < rows; ++r) at(r, kept) = at(r, i);
    }
    ++kept;
  }
  if (sort) {
    for (int i = 1; i < kept; ++i) {
      for (int j = i; j > 0; --j) {
        const index_t left = at(0, j - 1) < 0 ? -at(0, j - 1) : at(0, j - 1);
        const index_t here = at(0, j) < 0 ? -at(0, j) : at(0, j);
        if (left >= here) break;
        const index_t e = extent[j];
        extent[j] = extent[j - 1];
        extent[j - 1] = e;
        for (int r = 0; r < rows; ++r) {
          const index_t s = at(r, j);
          at(r, j) = at(r, j - 1);
          at(r, j - 1) = s;
        }
      }
    }
  }
  int merged = 0;
  for (int i = 1; i < kept; ++i) {
    bool one_run = true;
    for (int r = 0; r < rows && one_run; ++r) one_run = at(r, merged) == at(r, i) * extent[i];
    if (one_run) {
      extent[merged] *= extent[i];
    } else {
      ++merged;
      extent[merged] = extent[i];
    }
    for (int r = 0; r < rows; ++r) at(r, merged) = at(r, i);
  }
  return kept == 0 ? 0 : merged + 1;
}

/// Division of a 32-bit number below 2^31 by a constant that the host knows: a multiplication and a shift (Granlund and
/// Montgomery, "Division by Invariant Integers using Multiplication", 1994).
struct fast_divisor {
  std::uint32_t divisor = 1;
  std::uint32_t multiplier = 0;
  std::uint32_t shift = 0;

  fast_divisor() = default;
  /// An axis without elements is never walked: 0 counts as 1.
  explicit fast_divisor(std::uint32_t d) : divisor(d == 0 ? 1 : d) {
    d = divisor;
    while ((std::uint64_t{1} << shift) < d) ++shift;
    multiplier = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) * ((std::uint64_t{1} << shift) - d)) / d + 1);
  }
  HEDDLE_HOST_DEVICE std::uint32_t divide(std::uint32_t n) const {
#if defined(__CUDA_ARCH__)
    const std::uint32_t high = __umulhi(n, multiplier);
#else
    const std::uint32_t high = static_cast<std::uint32_t>((std::uint64_t{n} * multiplier) >> 32);
#endif
    return (high + n) >> shift;
  }
};

/// The largest count for which fast_divisor is right.
inline constexpr index_t fast_division_limit = INT64_C(0x7fffffff);

}  // namespace HEDDLE_BUILD
}  // namespace heddle
