// Shapes of formulas and of tensors of any layout.
#pragma once

#include "heddle/ops/map.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// x's elements in row-major order under another shape, whatever x's layout; one extent may be -1. Part of a formula: a
/// new tensor when evaluated. (The member reshape is a view, or throws.) Example: `hd::Tensor y =
/// hd::reshape(x.transpose(), {-1, 4});`
template <Expression X, int N>
auto reshape(X&& x, const Shape<N>& shape) {
  const auto whole = eval(std::forward<X>(x));
  using T = typename std::remove_cvref_t<X>::value_type;
  using Device = typename std::remove_cvref_t<X>::device_type;
  const Shape<N> wanted = resolved_reshape(whole.shape(), shape);
  Strides<N> strides;
  const bool viewable = reshaped_strides(whole.shape(), whole.strides(), wanted, strides);
  const Tensor<const T, decltype(whole)::rank, Device> source = viewable ? whole : whole.contiguous();
  return operand<T, N, Device>(source.reshape(wanted));
}
template <Expression X, std::size_t N>
auto reshape(X&& x, const Extent (&shape)[N]) {
  return reshape(std::forward<X>(x), Shape<static_cast<int>(N)>(shape));
}
template <Expression X>
auto reshape(X&& x, Shape<0> shape) {
  return reshape<X, 0>(std::forward<X>(x), shape);
}
/// x's elements in one axis, in row-major order, whatever x's layout.
template <Expression X>
auto flatten(X&& x) {
  return reshape(std::forward<X>(x), Shape<1>{-1});
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
