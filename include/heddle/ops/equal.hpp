// Whole tensors compared: one bool on the host.
#pragma once

#include "heddle/ops/compare.hpp"
#include "heddle/ops/math.hpp"
#include "heddle/ops/reduce.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// Whether shapes and all elements are equal; a NaN equals nothing. Waits for the device.
/// Example: `if (hd::array_equal(a, b)) …`
template <Expression A, Expression B>
bool array_equal(A&& a, B&& b) {
  if constexpr (std::remove_cvref_t<A>::rank != std::remove_cvref_t<B>::rank) {
    return false;
  } else {
    if (!(a.shape() == b.shape())) return false;
    return all(std::forward<A>(a) == std::forward<B>(b)).item();
  }
}

/// |a - b| <= absolute + relative * |b|, equal infinities counting as close.
template <class T>
struct close_function : to_bool {
  T relative;
  T absolute;
  template <class A, class B>
  HEDDLE_HOST_DEVICE bool operator()(A a, B b) const {
    const T x = static_cast<T>(a);
    const T y = static_cast<T>(b);
    return x == y || (y - y == T(0) && std::fabs(x - y) <= absolute + relative * std::fabs(y));
  }
};

/// Whether shapes agree and |a - b| <= atol + rtol * |b| for all elements, as NumPy's; a NaN is close to nothing. Waits
/// for the device. Example: `hd::allclose(y, expected, 1e-4)`.
template <Expression A, Expression B>
bool allclose(A&& a, B&& b, double rtol = 1e-5, double atol = 1e-8) {
  if constexpr (std::remove_cvref_t<A>::rank != std::remove_cvref_t<B>::rank) {
    return false;
  } else {
    if (!(a.shape() == b.shape())) return false;
    using T = std::conditional_t<std::is_same_v<float_result_t<value_type_of_t<A>>, double> ||
                                     std::is_same_v<float_result_t<value_type_of_t<B>>, double>,
                                 double, float>;
    const close_function<T> close{{}, static_cast<T>(rtol), static_cast<T>(atol)};
    return all(map_formula(close, as_formula(std::forward<A>(a)), as_formula(std::forward<B>(b)))).item();
  }
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
