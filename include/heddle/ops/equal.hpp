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

/// |a - b| <= absolute + relative * |b|, equal infinities counting as close, and two NaN if so told.
template <class T>
struct close_function : to_bool {
  static constexpr const char* name = "isclose";
  T relative;
  T absolute;
  bool equal_nan;
  template <class A, class B>
  HEDDLE_HOST_DEVICE bool operator()(A a, B b) const {
    const T x = static_cast<T>(a);
    const T y = static_cast<T>(b);
    return x == y || (y - y == T(0) && std::fabs(x - y) <= absolute + relative * std::fabs(y)) ||
           (equal_nan && x != x && y != y);
  }
};

/// Whether |a - b| <= atol + rtol * |b|, by elements, broadcast. Infinities are close to their equals only, a NaN to
/// nothing, or with `equal_nan` to a NaN. Throws Error for a negative tolerance.
/// Example: `hd::count_nonzero(!hd::isclose(a, b))`.
template <Expression A, Expression B>
auto isclose(A&& a, B&& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) {
  if (!(rtol >= 0 && atol >= 0))
    throw Error(Message{} << "isclose: the tolerances " << rtol << " and " << atol << " may not be negative");
  using T = std::conditional_t<std::is_same_v<float_result_t<value_type_of_t<A>>, double> ||
                                   std::is_same_v<float_result_t<value_type_of_t<B>>, double>,
                               double, float>;
  const close_function<T> close{{}, static_cast<T>(rtol), static_cast<T>(atol), equal_nan};
  return map_formula(close, as_formula(std::forward<A>(a)), as_formula(std::forward<B>(b)));
}

/// Whether shapes agree and |a - b| <= atol + rtol * |b| for all elements, as NumPy's; a NaN is close to nothing. Waits
/// for the device. Example: `hd::allclose(y, expected, 1e-4)`.
template <Expression A, Expression B>
bool allclose(A&& a, B&& b, double rtol = 1e-5, double atol = 1e-8) {
  if constexpr (std::remove_cvref_t<A>::rank != std::remove_cvref_t<B>::rank) {
    return false;
  } else {
    if (!(a.shape() == b.shape())) return false;
    return all(isclose(std::forward<A>(a), std::forward<B>(b), rtol, atol)).item();
  }
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
