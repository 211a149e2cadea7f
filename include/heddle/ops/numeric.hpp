// Maps that NumPy and PyTorch have beside those of ops/math.hpp: parts of numbers, logarithms of sums, angles, and
// common divisors. Types and special values as there.
#pragma once

#include "heddle/core/integer.hpp"
#include "heddle/ops/math.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

struct fmax_function : promoting {
  static constexpr const char* name = "fmax";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    return a >= b || b != b ? a : b;
  }
};
struct fmin_function : promoting {
  static constexpr const char* name = "fmin";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    return a <= b || b != b ? a : b;
  }
};
struct copysign_function : to_floating {
  static constexpr const char* name = "copysign";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T magnitude, T sign) const {
    return std::copysign(magnitude, sign);
  }
};
struct signbit_function : to_bool {
  static constexpr const char* name = "signbit";
  template <class T>
  HEDDLE_HOST_DEVICE bool operator()(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::copysign(T(1), x) < T(0);
    else if constexpr (std::is_signed_v<T>)
      return x < T(0);
    else
      return false;
  }
};
/// Sign: 1 or -1, that of the infinity.
template <int Sign>
struct is_infinity_function : to_bool {
  static constexpr const char* name = Sign > 0 ? "isposinf" : "isneginf";
  template <class T>
  HEDDLE_HOST_DEVICE bool operator()(T x) const {
    return isinf_function{}(x) && (x > T(0)) == (Sign > 0);
  }
};
struct frac_function : promoting {
  static constexpr const char* name = "frac";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return T(0);
    else
      return x - std::trunc(x);
  }
};
/// To a number of decimals: those of the scaled number are rounded, half to even.
struct round_decimals_function : promoting {
  static constexpr const char* name = "round";
  bool divide;  ///< by the scale first: digits in front of the point
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T scale) const {
    return divide ? std::rint(x / scale) * scale : std::rint(x * scale) / scale;
  }
};
struct heaviside_function : promoting {
  static constexpr const char* name = "heaviside";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T at_zero) const {
    return x == T(0) ? at_zero : (x != x ? x : static_cast<T>(x > T(0)));
  }
};
struct xlogy_function : to_floating {
  static constexpr const char* name = "xlogy";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T y) const {
    return x == T(0) && y == y ? T(0) : x * std::log(y);
  }
};
struct logaddexp_function : to_floating {
  static constexpr const char* name = "logaddexp";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    // Of two equal infinities the distance is NaN.
    const T distance = a == b ? T(0) : std::fabs(a - b);
    return maximum_function{}(a, b) + std::log1p(std::exp(-distance));
  }
};
struct logaddexp2_function : to_floating {
  static constexpr const char* name = "logaddexp2";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    const T distance = a == b ? T(0) : std::fabs(a - b);
    return maximum_function{}(a, b) + std::log1p(std::exp2(-distance)) * T(1.4426950408889634073599246810019);
  }
};
struct logit_function : to_floating {
  static constexpr const char* name = "logit";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T eps) const {
    const T inside = clamp_function{}(x, eps, T(1) - eps);
    return std::log(inside / (T(1) - inside));
  }
};
struct deg2rad_function : to_floating {
  static constexpr const char* name = "deg2rad";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return x * T(0.017453292519943295769236907684886);
  }
};
struct rad2deg_function : to_floating {
  static constexpr const char* name = "rad2deg";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return x * T(57.295779513082320876798154814105);
  }
};
struct gcd_function : promoting {
  static constexpr const char* name = "gcd";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>, "gcd and lcm take integers");
    while (b != T(0)) {
      const T rest = integer_remainder(a, b);
      a = b;
      b = rest;
    }
    return abs_function{}(a);
  }
};
struct lcm_function : promoting {
  static constexpr const char* name = "lcm";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    const T divisor = gcd_function{}(a, b);
    return divisor == T(0) ? T(0) : abs_function{}(wrapping_multiply(integer_divide(a, divisor), b));
  }
};

/// The greater of two; of a number and a NaN the number (maximum gives the NaN). Example: `hd::fmax(a, b)`.
template <class A, class B>
requires AnyExpression<A, B>
auto fmax(A&& a, B&& b) { return limiting_map(fmax_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// The lesser of two; of a number and a NaN the number.
template <class A, class B>
requires AnyExpression<A, B>
auto fmin(A&& a, B&& b) { return limiting_map(fmin_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// |a| with the sign of b, that of -0 and of a NaN too. Example: `hd::copysign(x, -1)`.
template <class A, class B>
requires AnyExpression<A, B>
auto copysign(A&& a, B&& b) { return promoted_map(copysign_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// Whether the sign is a minus, that of -0 and of a NaN too.
template <Expression X>
auto signbit(X&& x) {
  return promoted_map(signbit_function{}, std::forward<X>(x));
}
/// Whether x is -inf.
template <Expression X>
auto isneginf(X&& x) {
  return promoted_map(is_infinity_function<-1>{}, std::forward<X>(x));
}
/// Whether x is +inf.
template <Expression X>
auto isposinf(X&& x) {
  return promoted_map(is_infinity_function<1>{}, std::forward<X>(x));
}
/// What is behind the point, with x's sign: x - trunc(x); NaN of infinities, 0 of integers.
template <Expression X>
auto frac(X&& x) {
  return promoted_map(frac_function{}, std::forward<X>(x));
}
/// Rounded to that many decimals, half to even; a negative number rounds to tens, hundreds, …; integers stay as they
/// are. What rounding gives is itself rounded to the type. Example: `hd::round(x, 2)`.
template <Expression X>
auto round(X&& x, int decimals) {
  if constexpr (kind_of<value_type_of_t<X>> != kind::floating) {
    return promoted_map(round_function{}, std::forward<X>(x));
  } else {
    const double scale = std::pow(10.0, decimals < 0 ? -decimals : decimals);
    return promoted_map(round_decimals_function{{}, decimals < 0}, std::forward<X>(x), scale);
  }
}
/// 0 below 0, 1 above, `at_zero` at 0; NaN stays. Example: `hd::heaviside(x, 0.5)`.
template <class A, class B>
requires AnyExpression<A, B>
auto heaviside(A&& x, B&& at_zero) {
  return promoted_map(heaviside_function{}, std::forward<A>(x), std::forward<B>(at_zero));
}
/// x log(y), and 0 where x is 0 and y no NaN. Example: `hd::xlogy(p, q)`.
template <class A, class B>
requires AnyExpression<A, B>
auto xlogy(A&& x, B&& y) { return promoted_map(xlogy_function{}, std::forward<A>(x), std::forward<B>(y)); }
/// log(exp(a) + exp(b)) without overflow. Example: `hd::logaddexp(a, b)`.
template <class A, class B>
requires AnyExpression<A, B>
auto logaddexp(A&& a, B&& b) { return promoted_map(logaddexp_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// log2(2^a + 2^b) without overflow.
template <class A, class B>
requires AnyExpression<A, B>
auto logaddexp2(A&& a, B&& b) { return promoted_map(logaddexp2_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// log(x / (1 - x)), the inverse of sigmoid, of x brought to [eps, 1 - eps] first; with eps 0, the default, NaN outside
/// of [0, 1] and infinite at its ends. Example: `hd::logit(p, 1e-6)`.
template <Expression X>
auto logit(X&& x) {
  auto node = as_formula(std::forward<X>(x));
  using T = float_result_t<typename decltype(node)::value_type>;
  constexpr double unbounded = -std::numeric_limits<double>::infinity();
  return map_formula(logit_function{}, std::move(node), constant<T>(static_cast<compute_type<T>>(unbounded)));
}
template <Expression X, ScalarArgument E>
auto logit(X&& x, E eps) {
  return promoted_map(logit_function{}, std::forward<X>(x), static_cast<double>(eps));
}
/// x pi / 180.
template <Expression X>
auto deg2rad(X&& x) {
  return promoted_map(deg2rad_function{}, std::forward<X>(x));
}
/// x 180 / pi.
template <Expression X>
auto rad2deg(X&& x) {
  return promoted_map(rad2deg_function{}, std::forward<X>(x));
}
/// The greatest common divisor of integers, not negative; of 0 and 0: 0. Example: `hd::gcd(a, 12)`.
template <class A, class B>
requires AnyExpression<A, B>
auto gcd(A&& a, B&& b) { return promoted_map(gcd_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// The least common multiple of integers, not negative; of 0 and anything: 0. What is too large wraps.
template <class A, class B>
requires AnyExpression<A, B>
auto lcm(A&& a, B&& b) { return promoted_map(lcm_function{}, std::forward<A>(a), std::forward<B>(b)); }

}  // namespace HEDDLE_BUILD
}  // namespace heddle
