// Packing for the matrix product: a panel of A or B is laid out in the order in which the innermost loop reads it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cpu/gemm_micro.hpp"
#include "heddle/kernels/cpu/isa.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// What the products are computed in: the accumulator's type, unsigned for integers, whose sums wrap.
template <class Acc>
using gemm_element = std::conditional_t<std::integral<Acc>, std::uint64_t, Acc>;

template <class E, class T>
HEDDLE_ALWAYS_INLINE E to_element(T value) {
  if constexpr (std::same_as<E, std::uint64_t>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<E>(value);
  }
}

/// Packs `lanes` rows of A (or columns of B) over `depth` values of k: panel[k * width + lane], zeros in the lanes from
/// there to `padded`. The width is even.
template <class E, class T>
struct pack_panel {
  E* panel;
  int width;
  const T* data;  // element (lane 0, k 0)
  index_t lane_stride;
  index_t depth_stride;
  int lanes;
  int padded;
  index_t depth;

  HEDDLE_ALWAYS_INLINE void operator()() const {
    if (lane_stride == 1 && lanes == width) {
      along_lanes();
    } else if (depth_stride == 1) {
      transposed();
    } else {
      one_by_one(0, lanes, 0, depth);
    }
    if (lanes == padded) return;
    for (index_t k = 0; k < depth; ++k)
      for (int lane = lanes; lane < padded; ++lane) panel[k * width + lane] = E{0};
  }

 private:
  HEDDLE_ALWAYS_INLINE void along_lanes() const {
    for (index_t k = 0; k < depth; ++k) {
      const T* const from = data + k * depth_stride;
      E* const to = panel + k * width;
      int lane = 0;
      for (; lane + 16 <= width; lane += 16) copy<16>(from + lane, to + lane);
      for (; lane + 4 <= width; lane += 4) copy<4>(from + lane, to + lane);
      for (; lane < width; lane += 2) copy<2>(from + lane, to + lane);
    }
  }

  template <std::size_t Count>
  static HEDDLE_ALWAYS_INLINE void copy(const T* from, E* to) {
    E values[Count];
    for (std::size_t i = 0; i < Count; ++i) values[i] = to_element<E>(from[i]);
    __builtin_memcpy(to, values, sizeof(values));
  }

  /// Each lane's values lie one after another: blocks of 4 lanes by 16 values of k are turned.
  HEDDLE_ALWAYS_INLINE void transposed() const {
    constexpr int block = 16;
    int lane = 0;
    for (; lane + 4 <= lanes; lane += 4) {
      const T* const from = data + lane * lane_stride;
      E* const to = panel + lane;
      index_t k = 0;
      for (; k + block <= depth; k += block) {
        if constexpr (std::same_as<E, T>) {
          for (index_t j = k; j < k + block; j += 4) transpose_4x4(from + j, lane_stride, to + j * width, width);
        } else {
          E values[4 * block];
          for (int i = 0; i < 4; ++i) copy<block>(from + i * lane_stride + k, values + i * block);
          for (int j = 0; j < block; j += 4) transpose_4x4(values + j, block, to + (k + j) * width, width);
        }
      }
      one_by_one(lane, lane + 4, k, depth);
    }
    one_by_one(lane, lanes, 0, depth);
  }

  HEDDLE_ALWAYS_INLINE void one_by_one(int first, int last, index_t begin, index_t end) const {
    for (index_t k = begin; k < end; ++k)
      for (int lane = first; lane < last; ++lane)
        panel[k * width + lane] = to_element<E>(data[lane * lane_stride + k * depth_stride]);
  }
};

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
