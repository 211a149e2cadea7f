// Mathematical functions by elements. Integers and bool give float where the function is a floating one; half and
// bfloat16 compute in float. Special values are C99's and NumPy's.
#pragma once

#include <cmath>
#include <concepts>
#include <limits>
#include <utility>

#include "heddle/kernels/cpu/fast_math.hpp"
#include "heddle/ops/map.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/fast_math.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

// Functors whose result has the operands' type.

struct abs_function : promoting {
  static constexpr const char* name = "abs";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_same_v<T, bool> || std::is_unsigned_v<T>)
      return x;
    else if constexpr (std::is_integral_v<T>)
      return wrapping_abs(x);
    else
      return std::fabs(x);
  }
};
struct sign_function : promoting {
  static constexpr const char* name = "sign";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_same_v<T, bool>)
      return x;
    else if constexpr (std::is_unsigned_v<T>)
      return static_cast<T>(x != 0);
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<int>(x > 0) - static_cast<int>(x < 0));
    else
      return x > T(0) ? T(1) : (x < T(0) ? T(-1) : x);
  }
};
struct square_function : promoting {
  static constexpr const char* name = "square";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_same_v<T, bool>)
      return x;
    else if constexpr (std::is_integral_v<T>)
      return wrapping_multiply(x, x);
    else
      return x * x;
  }
};
struct floor_function : promoting {
  static constexpr const char* name = "floor";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return x;
    else
      return std::floor(x);
  }
};
struct ceil_function : promoting {
  static constexpr const char* name = "ceil";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return x;
    else
      return std::ceil(x);
  }
};
struct round_function : promoting {
  static constexpr const char* name = "round";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return x;
    else
      return std::rint(x);
  }
};
struct trunc_function : promoting {
  static constexpr const char* name = "trunc";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return x;
    else
      return std::trunc(x);
  }
};
/// NaN wins over everything, as in NumPy's and PyTorch's maximum.
struct maximum_function : promoting {
  static constexpr const char* name = "maximum";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return a < b ? b : a;
    else
      return a > b || a != a ? a : b;
  }
};
struct minimum_function : promoting {
  static constexpr const char* name = "minimum";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return b < a ? b : a;
    else
      return a < b || a != a ? a : b;
  }
};
/// min(max(x, low), high): NaN stays, and high wins where the bounds cross.
struct clamp_function : promoting {
  static constexpr const char* name = "clamp";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T low, T high) const {
    return minimum_function{}(maximum_function{}(x, low), high);
  }
};

// Functors whose result is floating.

struct sqrt_function : to_floating {
  static constexpr const char* name = "sqrt";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::sqrt(x);
  }
};
struct rsqrt_function : to_floating {
  static constexpr const char* name = "rsqrt";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
#if defined(__CUDA_ARCH__)
    return ::rsqrt(x);
#else
    return T(1) / std::sqrt(x);
#endif
  }
};
struct reciprocal_function : to_floating {
  static constexpr const char* name = "reciprocal";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return T(1) / x;
  }
};
/// e^x as a result of 16 bits needs it, which is exact enough for a power of 2.
#if HEDDLE_CUDA_COMPILER
template <class Result>
__device__ __forceinline__ float narrow_exp(float x) {
  constexpr float log2_e = 0x1.715476p+0F;
  return std::is_same_v<Result, half> ? on_cuda::exp2_unit(x * log2_e) : on_cuda::exp2_subnormal(x * log2_e);
}
#endif

struct exp_function : to_floating {
  static constexpr const char* name = "exp";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::exp(x);
  }
#if HEDDLE_CUDA_COMPILER
  template <class Result>
  __device__ float narrow(float x) const {
    return narrow_exp<Result>(x);
  }
#endif
  HEDDLE_ALWAYS_INLINE float on_host(float x) const { return on_cpu::exp_f32(x); }
};
struct log_function : to_floating {
  static constexpr const char* name = "log";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::log(x);
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x) const { return on_cpu::log_f32(x); }
};
struct tanh_function : to_floating {
  static constexpr const char* name = "tanh";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::tanh(x);
  }
#if HEDDLE_CUDA_COMPILER
  /// 1 - 2 / (e^2x + 1), and near 0, where that would cancel, x.
  template <class Result>
  __device__ float narrow(float x) const {
    constexpr float twice_log2_e = 0x1.715476p+1F;
    const float far = fmaf(-2.0F, on_cuda::reciprocal_unit(on_cuda::exp2_unit(x * twice_log2_e) + 1.0F), 1.0F);
    return fabsf(x) < 0x1p-6F ? x : far;
  }
#endif
  HEDDLE_ALWAYS_INLINE float on_host(float x) const { return on_cpu::tanh_f32(x); }
};
struct cbrt_function : to_floating {
  static constexpr const char* name = "cbrt";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::cbrt(x);
  }
  /// A step of Newton's, since C libraries are off by up to 4 units.
  double on_host(double x) const {
    const double y = std::cbrt(x);
    if (x == 0 || !(std::fabs(x) <= 1.7976931348623157e308)) return y;
    const double square = y * y;
    const double off = std::fma(square, y, -x) + std::fma(y, y, -square) * y;
    return y - off / (3 * square);
  }
};
struct exp2_function : to_floating {
  static constexpr const char* name = "exp2";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::exp2(x);
  }
};
struct expm1_function : to_floating {
  static constexpr const char* name = "expm1";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::expm1(x);
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x) const { return on_cpu::expm1_f32(x); }
};
struct log2_function : to_floating {
  static constexpr const char* name = "log2";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::log2(x);
  }
};
struct log10_function : to_floating {
  static constexpr const char* name = "log10";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::log10(x);
  }
};
struct log1p_function : to_floating {
  static constexpr const char* name = "log1p";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::log1p(x);
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x) const { return on_cpu::log1p_f32(x); }
};
struct sin_function : to_floating {
  static constexpr const char* name = "sin";
  static constexpr bool limited_on_host = true;
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::sin(x);
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x, on_cpu::beyond_served& beyond) const {
    return on_cpu::sin_f32(x, beyond.bits);
  }
};
struct cos_function : to_floating {
  static constexpr const char* name = "cos";
  static constexpr bool limited_on_host = true;
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::cos(x);
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x, on_cpu::beyond_served& beyond) const {
    return on_cpu::cos_f32(x, beyond.bits);
  }
};
struct tan_function : to_floating {
  static constexpr const char* name = "tan";
  static constexpr bool limited_on_host = true;
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::tan(x);
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x, on_cpu::beyond_served& beyond) const {
    return on_cpu::tan_f32(x, beyond.bits);
  }
};
struct asin_function : to_floating {
  static constexpr const char* name = "asin";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::asin(x);
  }
};
struct acos_function : to_floating {
  static constexpr const char* name = "acos";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::acos(x);
  }
};
struct atan_function : to_floating {
  static constexpr const char* name = "atan";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::atan(x);
  }
};
struct sinh_function : to_floating {
  static constexpr const char* name = "sinh";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::sinh(x);
  }
};
struct cosh_function : to_floating {
  static constexpr const char* name = "cosh";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::cosh(x);
  }
};
struct asinh_function : to_floating {
  static constexpr const char* name = "asinh";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::asinh(x);
  }
};
struct acosh_function : to_floating {
  static constexpr const char* name = "acosh";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::acosh(x);
  }
};
struct atanh_function : to_floating {
  static constexpr const char* name = "atanh";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::atanh(x);
  }
};
struct erf_function : to_floating {
  static constexpr const char* name = "erf";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::erf(x);
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x) const { return on_cpu::erf_f32(x); }
};
struct erfc_function : to_floating {
  static constexpr const char* name = "erfc";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return std::erfc(x);
  }
};
struct lgamma_function : to_floating {
  static constexpr const char* name = "lgamma";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
#if defined(__CUDA_ARCH__)
    // Near its zeros CUDA's function for float loses all digits.
    if constexpr (std::is_same_v<T, float>) {
      if (x < 0.0F) return static_cast<float>(::lgamma(static_cast<double>(x)));
    }
#endif
    return std::lgamma(x);
  }
};
struct atan2_function : to_floating {
  static constexpr const char* name = "atan2";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T y, T x) const {
    return std::atan2(y, x);
  }
};
struct hypot_function : to_floating {
  static constexpr const char* name = "hypot";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T y) const {
    return std::hypot(x, y);
  }
};
/// x to the power of y, in their common type; an integer power of an integer wraps, and negative exponents give 0 but
/// for bases 1 and -1.
struct pow_function : promoting {
  static constexpr const char* name = "pow";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T y) const {
    if constexpr (std::is_same_v<T, bool>) {
      return x || !y;
    } else if constexpr (std::is_integral_v<T>) {
      if (std::is_signed_v<T> && y < T(0)) {
        if (x == T(1)) return x;
        if (x == static_cast<T>(-1)) return (y & 1) != 0 ? x : T(1);
        return T(0);
      }
      T power = 1;
      for (; y > T(0); y = static_cast<T>(y >> 1)) {
        if ((y & 1) != 0) power = wrapping_multiply(power, x);
        x = wrapping_multiply(x, x);
      }
      return power;
    } else {
      return std::pow(x, y);
    }
  }
};
/// a + t (b - a), exact at t = 1 from the side of b.
struct lerp_function : to_floating {
  static constexpr const char* name = "lerp";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b, T t) const {
    return std::fabs(t) < T(0.5) ? a + t * (b - a) : b - (b - a) * (T(1) - t);
  }
};

struct isnan_function : to_bool {
  static constexpr const char* name = "isnan";
  template <class T>
  HEDDLE_HOST_DEVICE bool operator()(T x) const {
    return x != x;
  }
};
struct isinf_function : to_bool {
  static constexpr const char* name = "isinf";
  template <class T>
  HEDDLE_HOST_DEVICE bool operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return false;
    else
      return x == x && (x - x) != T(0);
  }
};
struct isfinite_function : to_bool {
  static constexpr const char* name = "isfinite";
  template <class T>
  HEDDLE_HOST_DEVICE bool operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return true;
    else
      return (x - x) == T(0);
  }
};

/// NaN and infinities replaced by numbers; without them, NaN by 0 and infinities by the type's greatest numbers.
struct nan_to_num_function : promoting {
  static constexpr const char* name = "nan_to_num";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T nan, T positive, T negative) const {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      const bool finite = (x - x) == T(0);
      const T replaced = x != x ? nan : (x > T(0) ? positive : negative);
      return finite ? x : replaced;
    }
  }
};

/// |x|. The least integer stays (it wraps). Example: `hd::mean(hd::abs(x - y))`.
template <Expression X>
auto abs(X&& x) {
  return promoted_map(abs_function{}, std::forward<X>(x));
}
/// -1, 0 or 1 in x's type; NaN stays NaN, and -0.
template <Expression X>
auto sign(X&& x) {
  return promoted_map(sign_function{}, std::forward<X>(x));
}
/// x * x.
template <Expression X>
auto square(X&& x) {
  return promoted_map(square_function{}, std::forward<X>(x));
}
/// Rounded down.
template <Expression X>
auto floor(X&& x) {
  return promoted_map(floor_function{}, std::forward<X>(x));
}
/// Rounded up.
template <Expression X>
auto ceil(X&& x) {
  return promoted_map(ceil_function{}, std::forward<X>(x));
}
/// Rounded to the nearest integer, halves to even.
template <Expression X>
auto round(X&& x) {
  return promoted_map(round_function{}, std::forward<X>(x));
}
/// Rounded towards 0.
template <Expression X>
auto trunc(X&& x) {
  return promoted_map(trunc_function{}, std::forward<X>(x));
}
/// A limit as a formula. An integer beyond the range of T becomes T's nearest one: wrapped, it would limit elsewhere.
template <class T, class X>
auto limit_formula(X&& x) {
  if constexpr (std::integral<T> && std::integral<std::remove_cvref_t<X>> && !std::same_as<T, bool>) {
    constexpr T least = std::numeric_limits<T>::min();
    constexpr T greatest = std::numeric_limits<T>::max();
    const auto number = +x;
    const T below = std::cmp_less(number, least) ? least : static_cast<T>(number);
    return constant<T>(std::cmp_greater(number, greatest) ? greatest : below);
  } else {
    return operand_formula<T>(std::forward<X>(x));
  }
}
template <class F, class... X>
auto limiting_map(F functor, X&&... x) {
  using T = common_element_t<X...>;
  return map_formula(functor, limit_formula<T>(std::forward<X>(x))...);
}

/// The greater of both; NaN if either is. A number beyond the range of an integer type counts as its nearest one.
/// Example: `hd::maximum(x, 0.0f)`.
template <class A, class B>
requires AnyExpression<A, B>
auto maximum(A&& a, B&& b) { return limiting_map(maximum_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// The lesser of both; NaN if either is. Numbers as for maximum.
template <class A, class B>
requires AnyExpression<A, B>
auto minimum(A&& a, B&& b) { return limiting_map(minimum_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// x bounded to [low, high]; NaN stays, high wins where the bounds cross. Numbers as for maximum. Example:
/// `hd::clamp(x, 0, 1)`.
template <class X, class L, class H>
requires AnyExpression<X, L, H>
auto clamp(X&& x, L&& low, H&& high) {
  return limiting_map(clamp_function{}, std::forward<X>(x), std::forward<L>(low), std::forward<H>(high));
}
/// The square root; NaN of negative numbers.
template <Expression X>
auto sqrt(X&& x) {
  return promoted_map(sqrt_function{}, std::forward<X>(x));
}
/// 1 / sqrt(x).
template <Expression X>
auto rsqrt(X&& x) {
  return promoted_map(rsqrt_function{}, std::forward<X>(x));
}
/// 1 / x, float for integers.
template <Expression X>
auto reciprocal(X&& x) {
  return promoted_map(reciprocal_function{}, std::forward<X>(x));
}
/// e^x.
template <Expression X>
auto exp(X&& x) {
  return promoted_map(exp_function{}, std::forward<X>(x));
}
/// The natural logarithm.
template <Expression X>
auto log(X&& x) {
  return promoted_map(log_function{}, std::forward<X>(x));
}
/// The hyperbolic tangent.
template <Expression X>
auto tanh(X&& x) {
  return promoted_map(tanh_function{}, std::forward<X>(x));
}
/// The cube root.
template <Expression X>
auto cbrt(X&& x) {
  return promoted_map(cbrt_function{}, std::forward<X>(x));
}
/// 2^x.
template <Expression X>
auto exp2(X&& x) {
  return promoted_map(exp2_function{}, std::forward<X>(x));
}
/// e^x - 1, exact near 0.
template <Expression X>
auto expm1(X&& x) {
  return promoted_map(expm1_function{}, std::forward<X>(x));
}
/// The logarithm to base 2.
template <Expression X>
auto log2(X&& x) {
  return promoted_map(log2_function{}, std::forward<X>(x));
}
/// The logarithm to base 10.
template <Expression X>
auto log10(X&& x) {
  return promoted_map(log10_function{}, std::forward<X>(x));
}
/// log(1 + x), exact near 0.
template <Expression X>
auto log1p(X&& x) {
  return promoted_map(log1p_function{}, std::forward<X>(x));
}
/// The sine of radians.
template <Expression X>
auto sin(X&& x) {
  return promoted_map(sin_function{}, std::forward<X>(x));
}
/// The cosine of radians.
template <Expression X>
auto cos(X&& x) {
  return promoted_map(cos_function{}, std::forward<X>(x));
}
/// The tangent of radians.
template <Expression X>
auto tan(X&& x) {
  return promoted_map(tan_function{}, std::forward<X>(x));
}
/// The arc sine.
template <Expression X>
auto asin(X&& x) {
  return promoted_map(asin_function{}, std::forward<X>(x));
}
/// The arc cosine.
template <Expression X>
auto acos(X&& x) {
  return promoted_map(acos_function{}, std::forward<X>(x));
}
/// The arc tangent.
template <Expression X>
auto atan(X&& x) {
  return promoted_map(atan_function{}, std::forward<X>(x));
}
/// The angle of the point (x, y) from the x axis.
template <class A, class B>
requires AnyExpression<A, B>
auto atan2(A&& y, B&& x) { return promoted_map(atan2_function{}, std::forward<A>(y), std::forward<B>(x)); }
/// The hyperbolic sine.
template <Expression X>
auto sinh(X&& x) {
  return promoted_map(sinh_function{}, std::forward<X>(x));
}
/// The hyperbolic cosine.
template <Expression X>
auto cosh(X&& x) {
  return promoted_map(cosh_function{}, std::forward<X>(x));
}
/// The inverse hyperbolic sine.
template <Expression X>
auto asinh(X&& x) {
  return promoted_map(asinh_function{}, std::forward<X>(x));
}
/// The inverse hyperbolic cosine.
template <Expression X>
auto acosh(X&& x) {
  return promoted_map(acosh_function{}, std::forward<X>(x));
}
/// The inverse hyperbolic tangent.
template <Expression X>
auto atanh(X&& x) {
  return promoted_map(atanh_function{}, std::forward<X>(x));
}
/// The error function.
template <Expression X>
auto erf(X&& x) {
  return promoted_map(erf_function{}, std::forward<X>(x));
}
/// 1 - erf(x), exact in the tail.
template <Expression X>
auto erfc(X&& x) {
  return promoted_map(erfc_function{}, std::forward<X>(x));
}
/// log |gamma(x)|.
template <Expression X>
auto lgamma(X&& x) {
  return promoted_map(lgamma_function{}, std::forward<X>(x));
}
/// sqrt(x² + y²) without overflow on the way.
template <class A, class B>
requires AnyExpression<A, B>
auto hypot(A&& x, B&& y) { return promoted_map(hypot_function{}, std::forward<A>(x), std::forward<B>(y)); }
/// x to the power of y, in their common type. Example: `hd::pow(x, 3)`.
template <class A, class B>
requires AnyExpression<A, B>
auto pow(A&& x, B&& y) { return promoted_map(pow_function{}, std::forward<A>(x), std::forward<B>(y)); }
/// a + t (b - a). Example: `hd::lerp(old, now, 0.1f)`.
template <class A, class B, class W>
requires AnyExpression<A, B, W>
auto lerp(A&& a, B&& b, W&& t) {
  return promoted_map(lerp_function{}, std::forward<A>(a), std::forward<B>(b), std::forward<W>(t));
}
/// x with NaN replaced by `nan` and infinities by the element type's greatest and least finite numbers, as NumPy's.
template <Expression X, ScalarArgument N = int>
auto nan_to_num(X&& x, N nan = 0) {
  using T = value_type_of_t<X>;
  return promoted_map(nan_to_num_function{}, std::forward<X>(x), nan,
                      static_cast<compute_type<T>>(std::numeric_limits<T>::max()),
                      static_cast<compute_type<T>>(std::numeric_limits<T>::lowest()));
}
/// As above with replacements for both infinities.
template <Expression X, ScalarArgument N, ScalarArgument P, ScalarArgument M>
auto nan_to_num(X&& x, N nan, P positive_infinity, M negative_infinity) {
  return promoted_map(nan_to_num_function{}, std::forward<X>(x), nan, positive_infinity, negative_infinity);
}
/// Whether x is NaN, as bool.
template <Expression X>
auto isnan(X&& x) {
  return promoted_map(isnan_function{}, std::forward<X>(x));
}
/// Whether x is infinite, as bool.
template <Expression X>
auto isinf(X&& x) {
  return promoted_map(isinf_function{}, std::forward<X>(x));
}
/// Whether x is neither infinite nor NaN, as bool.
template <Expression X>
auto isfinite(X&& x) {
  return promoted_map(isfinite_function{}, std::forward<X>(x));
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
