// What kernels and other libraries receive: pointer, shape, strides.
#pragma once

#include "heddle/core/layout.hpp"

namespace heddle {

/// A trivially copyable look at a tensor's elements; owns nothing, so the tensor must outlive it.
/// Example: `hd::TensorView<float, 2> v = x.view(); v(i, j) = 1;` (unchecked, for code on the memory's own device).
template <class T, int Rank>
struct TensorView {
  using element_type = T;
  using value_type = std::remove_const_t<T>;
  static constexpr int rank = Rank;

  T* data = nullptr;
  Shape<Rank> shape;
  Strides<Rank> strides;

  HEDDLE_HOST_DEVICE constexpr index_t extent(int i) const { return shape[i]; }
  HEDDLE_HOST_DEVICE constexpr index_t size() const { return shape.size(); }

  /// The element at that index; no check.
  template <std::integral... I>
  requires(sizeof...(I) == Rank) HEDDLE_HOST_DEVICE constexpr T& operator()(I... index) const {
    index_t offset = 0;
    int axis = 0;
    ((offset += static_cast<index_t>(index) * strides[axis], ++axis), ...);
    return data[offset];
  }
};

}  // namespace heddle
