// + - * / % and unary minus, and their relatives. Integers wrap; x / 0 and x % 0 are 0 for integers.
#pragma once

#include <cmath>

#include "heddle/core/integer.hpp"
#include "heddle/ops/map.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

struct add_function : promoting {
  static constexpr const char* name = "+";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else if constexpr (std::is_integral_v<T>)
      return wrapping_add(a, b);
    else
      return a + b;
  }
};
struct subtract_function : promoting {
  static constexpr const char* name = "-";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    static_assert(!std::is_same_v<T, bool>, "bool - bool has no meaning: use ^, or cast<int> first");
    if constexpr (std::is_integral_v<T>)
      return wrapping_subtract(a, b);
    else
      return a - b;
  }
};
struct multiply_function : promoting {
  static constexpr const char* name = "*";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else if constexpr (std::is_integral_v<T>)
      return wrapping_multiply(a, b);
    else
      return a * b;
  }
};
struct divide_function : promoting {
  static constexpr const char* name = "/";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else if constexpr (std::is_integral_v<T>)
      return integer_divide(a, b);
    else
      return a / b;
  }
};
struct modulo_function : promoting {
  static constexpr const char* name = "%";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return false;
    else if constexpr (std::is_integral_v<T>)
      return integer_remainder(a, b);
    else
      return std::fmod(a, b);
  }
};
struct remainder_function : promoting {
  static constexpr const char* name = "remainder";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>) {
      return false;
    } else if constexpr (std::is_integral_v<T>) {
      return integer_floor_remainder(a, b);
    } else {
      const T rest = std::fmod(a, b);
      return rest != T(0) && ((rest < T(0)) != (b < T(0))) ? rest + b : rest;
    }
  }
};
struct floor_divide_function : promoting {
  static constexpr const char* name = "floor_divide";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else if constexpr (std::is_integral_v<T>)
      return integer_floor_divide(a, b);
    else
      return floored(a, b);
  }

 private:
  /// Python's and PyTorch's: by fmod, since a / b may round up to an integer; NaN of an infinity by anything.
  template <class T>
  static HEDDLE_HOST_DEVICE T floored(T a, T b) {
    if (b == T(0)) return a / b;
    const T rest = std::fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != T(0) && (b < T(0)) != (rest < T(0))) quotient -= T(1);
    if (quotient == T(0)) return std::copysign(T(0), a / b);
    const T whole = std::floor(quotient);
    return quotient - whole > T(0.5) ? whole + T(1) : whole;
  }
};
struct negate_function : promoting {
  static constexpr const char* name = "unary -";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a) const {
    static_assert(!std::is_same_v<T, bool>, "-x of bool has no meaning: use !x, or cast<int> first");
    if constexpr (std::is_integral_v<T>)
      return wrapping_negate(a);
    else
      return -a;
  }
};

/// a + b by elements, broadcast. bool + bool is or. Example: `y = a + 2.0f * b;`
template <class A, class B>
requires AnyExpression<A, B>
auto operator+(A&& a, B&& b) { return promoted_map(add_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// a - b by elements, broadcast. Example: `y = x - mean;`
template <class A, class B>
requires AnyExpression<A, B>
auto operator-(A&& a, B&& b) { return promoted_map(subtract_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// a * b by elements, broadcast (the matrix product is matmul). bool * bool is and. Example: `y = a * b;`
template <class A, class B>
requires AnyExpression<A, B>
auto operator*(A&& a, B&& b) { return promoted_map(multiply_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// a / b by elements, broadcast. Integers truncate as in C++; division by 0 gives 0. Example: `y = x / 255.0f;`
template <class A, class B>
requires AnyExpression<A, B>
auto operator/(A&& a, B&& b) { return promoted_map(divide_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// The rest of a / b with a's sign (fmod for floating types); x % 0 is 0 for integers. Example: `y = i % 2;`
template <class A, class B>
requires AnyExpression<A, B>
auto operator%(A&& a, B&& b) { return promoted_map(modulo_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// -x by elements.
template <Expression X>
auto operator-(X&& x) {
  return promoted_map(negate_function{}, std::forward<X>(x));
}
/// C's fmod, the same as %. Example: `y = hd::fmod(x, 360.0f);`
template <class A, class B>
requires AnyExpression<A, B>
auto fmod(A&& a, B&& b) { return promoted_map(modulo_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// The rest of a / b with b's sign, as PyTorch's and Python's. Example: `hd::remainder(i, 5)` of -1 is 4.
template <class A, class B>
requires AnyExpression<A, B>
auto remainder(A&& a, B&& b) { return promoted_map(remainder_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// a / b rounded down, as PyTorch's. Example: `hd::floor_divide(i, 5)` of -1 is -1.
template <class A, class B>
requires AnyExpression<A, B>
auto floor_divide(A&& a, B&& b) {
  return promoted_map(floor_divide_function{}, std::forward<A>(a), std::forward<B>(b));
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
