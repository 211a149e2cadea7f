// What the reductions of ops/reduce.hpp do with elements. A reduction is a trivially copyable struct: `input` is what
// it takes, `state` what it keeps, `result` what it gives (then rounded to `element`); identity() starts, accumulate()
// takes one element, combine() joins two states, finish() is told how many elements there were. Members may be static.
#pragma once

#include <cmath>
#include <limits>

#include "heddle/core/dtype.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cpu/fast_math.hpp"
#include "heddle/kernels/moments.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

// Variables, because device code may read a constant but not call numeric_limits' functions.
template <class T>
inline constexpr T lowest_value = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                                       : std::numeric_limits<T>::lowest();
template <class T>
inline constexpr T greatest_value = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                                         : std::numeric_limits<T>::max();
template <>
inline constexpr bool lowest_value<bool> = false;
template <>
inline constexpr bool greatest_value<bool> = true;

/// The sum. Integers and bool add up in int64, half and bfloat16 in float.
template <class T>
struct sum_reduction {
  using input = compute_type<T>;
  using state = accumulator_type<T>;
  using result = state;
  using element = sum_result_t<T>;
  static constexpr const char* name = "sum";
  static constexpr bool has_identity = true;
  static HEDDLE_HOST_DEVICE state identity() { return state{}; }
  static HEDDLE_HOST_DEVICE void accumulate(state& total, input value, index_t) {
    if constexpr (std::is_integral_v<state>)
      total = wrapping_add(total, static_cast<state>(value));
    else
      total += value;
  }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) {
    if constexpr (std::is_integral_v<state>)
      left = wrapping_add(left, right);
    else
      left += right;
  }
  static HEDDLE_HOST_DEVICE result finish(const state& total, index_t) { return total; }
};

/// The sum of a mean: integers of 64 bits add up in double, whose range their sum never leaves.
template <class T>
using sum_of_mean = sum_reduction<std::conditional_t<std::is_integral_v<T> && sizeof(T) == 8, double, T>>;

/// The sum over the count; float for integers; NaN of nothing.
template <class T>
struct mean_reduction : sum_of_mean<T> {
  using state = typename sum_of_mean<T>::state;
  using element = float_result_t<T>;
  using result = compute_type<element>;
  static constexpr const char* name = "mean";
  static HEDDLE_HOST_DEVICE result finish(const state& total, index_t count) {
    if constexpr (std::is_integral_v<state>)
      return static_cast<result>(static_cast<double>(total) / static_cast<double>(count));
    else
      return static_cast<result>(total / static_cast<state>(count));
  }
};

/// A product of floating numbers as mantissa · 2^exponent: in whatever order numbers are multiplied, none between is
/// out of range.
struct scaled_product {
  double mantissa;        ///< from 2^-500 to 2^500 in size, or 0, inf, NaN
  std::int64_t exponent;  ///< of 2
};

/// A number of any size as such a product.
HEDDLE_HOST_DEVICE inline scaled_product scaled(double value, std::int64_t exponent) {
  constexpr std::uint64_t field = 0x7ff;
  std::uint64_t bits = __builtin_bit_cast(std::uint64_t, value);
  if ((bits >> 52 & field) - (1023 - 500) <= 1000 || value == 0.0 || (bits >> 52 & field) == field)
    return {value, exponent};
  if ((bits >> 52 & field) == 0) {
    bits = __builtin_bit_cast(std::uint64_t, value * 0x1p64);
    exponent -= 64;
  }
  exponent += static_cast<std::int64_t>(bits >> 52 & field) - 1023;
  return {__builtin_bit_cast(double, (bits & ~(field << 52)) | std::uint64_t{1023} << 52), exponent};
}

/// The number that it is, rounded once or, among the subnormals, twice.
HEDDLE_HOST_DEVICE inline double unscaled(scaled_product product) {
  const std::int64_t exponent = product.exponent;
  return ::ldexp(product.mantissa, static_cast<int>(exponent < -4000 ? -4000 : exponent > 4000 ? 4000 : exponent));
}

/// The product. Integers and bool multiply in int64, others in double with an exponent apart.
template <class T>
struct prod_reduction {
  using input = compute_type<T>;
  static constexpr bool is_exact = kind_of<T> != kind::floating;
  using state = std::conditional_t<is_exact, std::int64_t, scaled_product>;
  using result = accumulator_type<T>;
  using element = sum_result_t<T>;
  static constexpr const char* name = "prod";
  static constexpr bool has_identity = true;
  static HEDDLE_HOST_DEVICE state identity() {
    if constexpr (is_exact)
      return 1;
    else
      return {1.0, 0};
  }
  static HEDDLE_HOST_DEVICE void accumulate(state& total, input value, index_t) {
    if constexpr (is_exact)
      combine(total, static_cast<state>(value));
    else if constexpr (sizeof(input) < sizeof(double))
      total = scaled(total.mantissa * static_cast<double>(value), total.exponent);
    else
      combine(total, scaled(value, 0));
  }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) {
    if constexpr (is_exact)
      left = wrapping_multiply(left, right);
    else
      left = scaled(left.mantissa * right.mantissa, left.exponent + right.exponent);
  }
  static HEDDLE_HOST_DEVICE result finish(const state& total, index_t) {
    if constexpr (is_exact)
      return total;
    else
      return static_cast<result>(unscaled(total));
  }
};

/// Bytes are compared as int: g++ 12 breaks down over masked minima of 64 bytes (AVX-512).
template <class T>
using wide_byte = std::conditional_t<sizeof(T) == 1 && !std::is_same_v<T, bool>, int, T>;

/// The greater (Sign 1) or smaller (Sign -1) of two numbers; NaN if one is.
template <int Sign, class T>
HEDDLE_HOST_DEVICE T extreme(T left, T right) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, float>) {
    float result;
    if constexpr (Sign > 0)
      asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(left), "f"(right));
    else
      asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(left), "f"(right));
    return result;
  }
#endif
  if constexpr (std::is_integral_v<T>)
    return (Sign > 0 ? left < right : right < left) ? right : left;
  else
    return (Sign > 0 ? left > right : left < right) || left != left ? left : right;
}

/// The greatest element; NaN if there is one.
template <class T>
struct max_reduction {
  using input = compute_type<T>;
  using state = wide_byte<input>;
  using result = input;
  using element = T;
  static constexpr const char* name = "max";
  static constexpr bool has_identity = false;
  static HEDDLE_HOST_DEVICE state identity() { return lowest_value<input>; }
  static HEDDLE_HOST_DEVICE void accumulate(state& greatest, input value, index_t) { combine(greatest, state{value}); }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) { left = extreme<1>(left, right); }
  static HEDDLE_HOST_DEVICE result finish(const state& greatest, index_t) { return static_cast<result>(greatest); }
};

/// The least element; NaN if there is one.
template <class T>
struct min_reduction {
  using input = compute_type<T>;
  using state = wide_byte<input>;
  using result = input;
  using element = T;
  static constexpr const char* name = "min";
  static constexpr bool has_identity = false;
  static HEDDLE_HOST_DEVICE state identity() { return greatest_value<input>; }
  static HEDDLE_HOST_DEVICE void accumulate(state& least, input value, index_t) { combine(least, state{value}); }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) { left = extreme<-1>(left, right); }
  static HEDDLE_HOST_DEVICE result finish(const state& least, index_t) { return static_cast<result>(least); }
};

/// Where the greatest (Sign 1) or least (Sign -1) element is: the first of equals, the first NaN.
template <class T, int Sign>
struct position_reduction {
  using input = compute_type<T>;
  struct state {
    input value;
    index_t position;
  };
  using result = std::int64_t;
  using element = std::int64_t;
  static constexpr const char* name = Sign > 0 ? "argmax" : "argmin";
  static constexpr bool has_identity = false;
  static HEDDLE_HOST_DEVICE state identity() {
    return {Sign > 0 ? lowest_value<input> : greatest_value<input>, INT64_MAX};
  }
  static HEDDLE_HOST_DEVICE void accumulate(state& best, input value, index_t position) {
    combine(best, state{value, position});
  }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) {
    const bool left_nan = left.value != left.value;
    const bool right_nan = right.value != right.value;
    const bool equal = left.value == right.value || (left_nan && right_nan);
    const bool greater = Sign > 0 ? right.value > left.value : right.value < left.value;
    const bool better = equal ? right.position < left.position : (right_nan || (!left_nan && greater));
    left.value = better ? right.value : left.value;
    left.position = better ? right.position : left.position;
  }
  /// Of no position (see run_state) only where all elements are equal.
  static HEDDLE_HOST_DEVICE result finish(const state& best, index_t) {
    return best.position == INT64_MAX ? 0 : best.position;
  }

  /// What a run of elements in the order of their places gives, which takes fewer instructions an element. An element
  /// that is no better than identity()'s value is not noticed.
  struct run_state {
    input value;
    std::uint32_t place;
  };
  static constexpr std::uint32_t nowhere = 0xffffffff;
  static HEDDLE_HOST_DEVICE run_state begin_run() { return {identity().value, nowhere}; }
  static HEDDLE_HOST_DEVICE void accumulate_run(run_state& best, input value, std::uint32_t place) {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<input, float>) {
      // Equal bits are equal numbers once -0 is 0, and after the first NaN all are that NaN.
      const float next = extreme<Sign>(best.value, value + 0.0F);
      best.place = __float_as_uint(next) != __float_as_uint(best.value) ? place : best.place;
      best.value = next;
      return;
    }
#endif
    const bool as_good = Sign > 0 ? value <= best.value : value >= best.value;
    const bool better = !as_good && best.value == best.value;
    best.value = better ? value : best.value;
    best.place = better ? place : best.place;
  }
  /// `first`: the position of place 0.
  static HEDDLE_HOST_DEVICE state end_run(const run_state& best, index_t first) {
    return {best.value, best.place == nowhere ? INT64_MAX : first + static_cast<index_t>(best.place)};
  }
};
template <class T>
using argmax_reduction = position_reduction<T, 1>;
template <class T>
using argmin_reduction = position_reduction<T, -1>;

/// Whether any element is not 0.
template <class T>
struct any_reduction {
  using input = compute_type<T>;
  using state = bool;
  using result = bool;
  using element = bool;
  static constexpr const char* name = "any";
  static constexpr bool has_identity = true;
  static HEDDLE_HOST_DEVICE state identity() { return false; }
  static HEDDLE_HOST_DEVICE void accumulate(state& found, input value, index_t) { found = found || value != input(0); }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) { left = left || right; }
  static HEDDLE_HOST_DEVICE result finish(const state& found, index_t) { return found; }
};

/// Whether all elements are not 0.
template <class T>
struct all_reduction {
  using input = compute_type<T>;
  using state = bool;
  using result = bool;
  using element = bool;
  static constexpr const char* name = "all";
  static constexpr bool has_identity = true;
  static HEDDLE_HOST_DEVICE state identity() { return true; }
  static HEDDLE_HOST_DEVICE void accumulate(state& every, input value, index_t) { every = every && value != input(0); }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) { left = left && right; }
  static HEDDLE_HOST_DEVICE result finish(const state& every, index_t) { return every; }
};

/// How many elements are not 0.
template <class T>
struct count_reduction {
  using input = compute_type<T>;
  using state = std::int64_t;
  using result = std::int64_t;
  using element = std::int64_t;
  static constexpr const char* name = "count_nonzero";
  static constexpr bool has_identity = true;
  static HEDDLE_HOST_DEVICE state identity() { return 0; }
  static HEDDLE_HOST_DEVICE void accumulate(state& count, input value, index_t) { count += value != input(0) ? 1 : 0; }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) { left += right; }
  static HEDDLE_HOST_DEVICE result finish(const state& count, index_t) { return count; }
};

/// The sum of the squared distances from the mean, in one pass and without cancellation. Integers are taken in double.
template <class T>
struct squares_reduction {
  using input = compute_type<T>;
  using real =
      std::conditional_t<(kind_of<T> != kind::floating && sizeof(T) > 2), double, accumulator_type<float_result_t<T>>>;
  using state = shifted_moments<real>;
  using result = real;
  using element = real;
  static constexpr const char* name = "var";
  static constexpr bool has_identity = true;
  static HEDDLE_HOST_DEVICE state identity() { return {}; }
  static HEDDLE_HOST_DEVICE void accumulate(state& all, input value, index_t) { all.add(static_cast<real>(value)); }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) { left.combine(right); }
  static HEDDLE_HOST_DEVICE result finish(const state& all, index_t) { return all.spread(); }
};

/// log(sum(exp(x))), the greatest element kept apart so that nothing overflows.
template <class T>
struct logsumexp_reduction {
  using input = compute_type<T>;
  using real = accumulator_type<float_result_t<T>>;
  struct state {
    real greatest, sum;
  };
  using result = real;
  using element = float_result_t<T>;
  static constexpr const char* name = "logsumexp";
  static constexpr bool has_identity = true;
  static HEDDLE_HOST_DEVICE state identity() { return {lowest_value<real>, real{0}}; }
  static HEDDLE_HOST_DEVICE void accumulate(state& all, input value, index_t) {
    const real x = static_cast<real>(value);
    const real distance = x - all.greatest;
    // Of two equal infinities the distance is NaN.
    const real smaller = x == all.greatest ? real{1} : power(distance > real{0} ? -distance : distance);
    all.sum = distance > real{0} ? all.sum * smaller + real{1} : all.sum + smaller;
    all.greatest = distance > real{0} ? x : all.greatest;
  }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) {
    const real distance = right.greatest - left.greatest;
    const real smaller = right.greatest == left.greatest ? real{1} : power(distance > real{0} ? -distance : distance);
    left.sum = distance > real{0} ? left.sum * smaller + right.sum : left.sum + right.sum * smaller;
    left.greatest = distance > real{0} ? right.greatest : left.greatest;
  }
  static HEDDLE_HOST_DEVICE result finish(const state& all, index_t) { return all.greatest + std::log(all.sum); }

 private:
  static HEDDLE_HOST_DEVICE real power(real x) {
#if !defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<real, float>) return on_cpu::exp_f32(x);
#endif
    return std::exp(x);
  }
};

/// The square root of the sum of squares.
template <class T>
struct norm2_reduction {
  using input = compute_type<T>;
  using real = accumulator_type<float_result_t<T>>;
  using state = real;
  using result = real;
  using element = float_result_t<T>;
  static constexpr const char* name = "norm";
  static constexpr bool has_identity = true;
  static HEDDLE_HOST_DEVICE state identity() { return real{0}; }
  static HEDDLE_HOST_DEVICE void accumulate(state& total, input value, index_t) {
    total += static_cast<real>(value) * static_cast<real>(value);
  }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) { left += right; }
  static HEDDLE_HOST_DEVICE result finish(const state& total, index_t) { return std::sqrt(total); }
};

/// The norm of an order that is known at run time.
template <class T>
struct norm_reduction {
  using input = compute_type<T>;
  using real = accumulator_type<float_result_t<T>>;
  using state = real;
  using result = real;
  using element = float_result_t<T>;
  static constexpr const char* name = "norm";
  static constexpr bool has_identity = true;
  enum class term { not_zero, magnitude, square, power, greatest, least };

  term kind = term::square;
  real order = 2;

  norm_reduction() = default;
  explicit norm_reduction(double p)
      : kind(p == 0                         ? term::not_zero
             : p == 1                       ? term::magnitude
             : p == 2                       ? term::square
             : p == greatest_value<double>  ? term::greatest
             : p == -greatest_value<double> ? term::least
                                            : term::power),
        order(static_cast<real>(p)) {}
  /// Whether the norm of nothing is a number.
  bool takes_nothing() const { return order >= 0 && kind != term::greatest; }

  HEDDLE_HOST_DEVICE state identity() const { return kind == term::least ? greatest_value<real> : real{0}; }
  HEDDLE_HOST_DEVICE void accumulate(state& total, input value, index_t) const {
    const real size = std::fabs(static_cast<real>(value));
    switch (kind) {
      case term::not_zero:
        total += size == real{0} ? real{0} : real{1};
        break;
      case term::square:
        total += size * size;
        break;
      case term::power:
        total += std::pow(size, order);
        break;
      default:
        combine(total, size);
    }
  }
  HEDDLE_HOST_DEVICE void combine(state& left, const state& right) const {
    if (kind == term::greatest)
      left = left > right || left != left ? left : right;
    else if (kind == term::least)
      left = left < right || left != left ? left : right;
    else
      left += right;
  }
  HEDDLE_HOST_DEVICE result finish(const state& total, index_t) const {
    if (kind == term::square) return std::sqrt(total);
    return kind == term::power ? std::pow(total, real{1} / order) : total;
  }
};

}  // namespace HEDDLE_BUILD
}  // namespace heddle
