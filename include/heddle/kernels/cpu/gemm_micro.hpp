// The innermost loops of the matrix product: a tile of C held in vector registers while k runs. The only file that uses
// vector types; they never leave a function.
//
// A tile is up to `rows` x `columns`; smaller tiles at the edges have kernels of their own, in steps of 4 rows and of
// one vector. A is packed: `rows` values for each k. Of B each k has a row of `columns` values, packed or where it
// lies.
#pragma once

#include <cstdint>
#include <utility>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cpu/isa.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// C tile = (add ? C tile : 0) + A panel * B panel.
template <class E>
using micro_kernel = void (*)(index_t k, const E* a, const E* b, index_t b_stride, E* c, index_t c_stride, bool add);

/// The kernels of one instruction set. kernel[i][j] makes 4 (i + 1) rows and j + 1 vectors of columns.
template <class E>
struct micro_kernels {
  int rows;
  int columns;
  int vector;
  micro_kernel<E> kernel[3][3];
};

#if !defined(__CUDA_ARCH__)

// E is named in each specialisation: g++ ignores vector_size on a dependent type.
template <class E, std::size_t Bytes>
struct vector_of;
template <>
struct vector_of<float, 16> {
  typedef float type __attribute__((vector_size(16)));
};
template <>
struct vector_of<float, 32> {
  typedef float type __attribute__((vector_size(32)));
};
template <>
struct vector_of<float, 64> {
  typedef float type __attribute__((vector_size(64)));
};
template <>
struct vector_of<double, 16> {
  typedef double type __attribute__((vector_size(16)));
};
template <>
struct vector_of<double, 32> {
  typedef double type __attribute__((vector_size(32)));
};
template <>
struct vector_of<double, 64> {
  typedef double type __attribute__((vector_size(64)));
};
template <>
struct vector_of<std::uint64_t, 16> {
  typedef std::uint64_t type __attribute__((vector_size(16)));
};
template <>
struct vector_of<std::uint64_t, 32> {
  typedef std::uint64_t type __attribute__((vector_size(32)));
};
template <>
struct vector_of<std::uint64_t, 64> {
  typedef std::uint64_t type __attribute__((vector_size(64)));
};

template <std::size_t Bytes, class E, class Vector, std::size_t... V>
HEDDLE_ALWAYS_INLINE void load_row(const E* b, Vector* row, std::index_sequence<V...>) {
  (__builtin_memcpy(&row[V], b + V * (Bytes / sizeof(E)), Bytes), ...);
}

// All indices are constants after expansion, so that the sums become registers.
template <std::size_t Vectors, class E, class Vector, std::size_t... I>
HEDDLE_ALWAYS_INLINE void multiply_add(Vector* sum, const E* a, const Vector* b, std::index_sequence<I...>) {
  ((sum[I] += a[I / Vectors] * b[I % Vectors]), ...);
}

template <std::size_t Bytes, std::size_t Vectors, class E, class Vector, std::size_t... I>
HEDDLE_ALWAYS_INLINE void store_tile(const Vector* sum, E* c, index_t c_stride, bool add, std::index_sequence<I...>) {
  constexpr std::size_t lanes = Bytes / sizeof(E);
  const auto at = [c, c_stride](std::size_t i) {
    return c + static_cast<index_t>(i / Vectors) * c_stride + i % Vectors * lanes;
  };
  if (add) {
    Vector before[sizeof...(I)];
    (__builtin_memcpy(&before[I], at(I), Bytes), ...);
    ((before[I] += sum[I]), ...);
    (__builtin_memcpy(at(I), &before[I], Bytes), ...);
  } else {
    (__builtin_memcpy(at(I), &sum[I], Bytes), ...);
  }
}

/// PanelRows: the rows that A is packed for.
template <class E, std::size_t Bytes, int PanelRows, std::size_t Rows, std::size_t Vectors>
HEDDLE_ALWAYS_INLINE void multiply_panels(index_t k, const E* a, const E* b, index_t b_stride, E* c, index_t c_stride,
                                          bool add) {
  using Vector = typename vector_of<E, Bytes>::type;
  constexpr auto tile = std::make_index_sequence<static_cast<std::size_t>(Rows * Vectors)>();
  Vector sum[Rows * Vectors] = {};
  for (; k > 0; --k) {
    Vector row[Vectors];
    load_row<Bytes>(b, row, std::make_index_sequence<Vectors>());
    multiply_add<Vectors>(sum, a, row, tile);
    a += PanelRows;
    b += b_stride;
  }
  store_tile<Bytes, Vectors>(sum, c, c_stride, add, tile);
}

#if HEDDLE_X86
template <class E, std::size_t Rows, std::size_t Vectors>
HEDDLE_TARGET_AVX512 void micro_avx512(index_t k, const E* a, const E* b, index_t b_stride, E* c, index_t c_stride,
                                       bool add) {
  multiply_panels<E, 64, 8, Rows, Vectors>(k, a, b, b_stride, c, c_stride, add);
}
template <class E, std::size_t Rows, std::size_t Vectors>
HEDDLE_TARGET_AVX2 void micro_avx2(index_t k, const E* a, const E* b, index_t b_stride, E* c, index_t c_stride,
                                   bool add) {
  multiply_panels<E, 32, 4, Rows, Vectors>(k, a, b, b_stride, c, c_stride, add);
}
#endif
template <class E, std::size_t Rows, std::size_t Vectors>
void micro_plain(index_t k, const E* a, const E* b, index_t b_stride, E* c, index_t c_stride, bool add) {
  multiply_panels<E, 16, 4, Rows, Vectors>(k, a, b, b_stride, c, c_stride, add);
}

/// to(j, i) = from(i, j) for a block of 4 by 4; rows are the strides apart.
template <class E>
HEDDLE_ALWAYS_INLINE void transpose_4x4(const E* from, index_t from_stride, E* to, index_t to_stride) {
  using Vector = typename vector_of<E, 4 * sizeof(E)>::type;
  Vector a, b, c, d;
  __builtin_memcpy(&a, from, sizeof(Vector));
  __builtin_memcpy(&b, from + from_stride, sizeof(Vector));
  __builtin_memcpy(&c, from + 2 * from_stride, sizeof(Vector));
  __builtin_memcpy(&d, from + 3 * from_stride, sizeof(Vector));
  const Vector low_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), high_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Vector low_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), high_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5);
  b = __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7);
  c = __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5);
  d = __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7);
  __builtin_memcpy(to, &a, sizeof(Vector));
  __builtin_memcpy(to + to_stride, &b, sizeof(Vector));
  __builtin_memcpy(to + 2 * to_stride, &c, sizeof(Vector));
  __builtin_memcpy(to + 3 * to_stride, &d, sizeof(Vector));
}

/// The kernels for this machine.
template <class E>
const micro_kernels<E>& micro_kernels_for() {
  constexpr int size = static_cast<int>(sizeof(E));
#if HEDDLE_X86
  static constexpr micro_kernels<E> avx512 = {8,
                                              3 * 64 / size,
                                              64 / size,
                                              {{micro_avx512<E, 4, 1>, micro_avx512<E, 4, 2>, micro_avx512<E, 4, 3>},
                                               {micro_avx512<E, 8, 1>, micro_avx512<E, 8, 2>, micro_avx512<E, 8, 3>}}};
  static constexpr micro_kernels<E> avx2 = {
      4, 3 * 32 / size, 32 / size, {{micro_avx2<E, 4, 1>, micro_avx2<E, 4, 2>, micro_avx2<E, 4, 3>}}};
  if (cpu_isa() == Isa::avx512) return avx512;
  if (cpu_isa() == Isa::avx2) return avx2;
#endif
  static constexpr micro_kernels<E> plain = {
      4, 3 * 16 / size, 16 / size, {{micro_plain<E, 4, 1>, micro_plain<E, 4, 2>, micro_plain<E, 4, 3>}}};
  return plain;
}

#else
// The device's compilation only needs the names.
template <class E>
void transpose_4x4(const E* from, index_t from_stride, E* to, index_t to_stride);
template <class E>
const micro_kernels<E>& micro_kernels_for();
#endif

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
