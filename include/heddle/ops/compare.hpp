// Comparisons, logic, and bits. A comparison gives bool and compares true values: int8 > 200 is false, -1 < 1u is true.
#pragma once

#include "heddle/core/compare.hpp"
#include "heddle/core/integer.hpp"
#include "heddle/ops/map.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

struct equal_function : to_bool {
  static constexpr const char* name = "==";
  template <class A, class B>
  HEDDLE_HOST_DEVICE bool operator()(A a, B b) const {
    return cmp_equal(a, b);
  }
};
struct not_equal_function : to_bool {
  static constexpr const char* name = "!=";
  template <class A, class B>
  HEDDLE_HOST_DEVICE bool operator()(A a, B b) const {
    return cmp_not_equal(a, b);
  }
};
struct less_function : to_bool {
  static constexpr const char* name = "<";
  template <class A, class B>
  HEDDLE_HOST_DEVICE bool operator()(A a, B b) const {
    return cmp_less(a, b);
  }
};
struct less_equal_function : to_bool {
  static constexpr const char* name = "<=";
  template <class A, class B>
  HEDDLE_HOST_DEVICE bool operator()(A a, B b) const {
    return cmp_less_equal(a, b);
  }
};
struct greater_function : to_bool {
  static constexpr const char* name = ">";
  template <class A, class B>
  HEDDLE_HOST_DEVICE bool operator()(A a, B b) const {
    return cmp_greater(a, b);
  }
};
struct greater_equal_function : to_bool {
  static constexpr const char* name = ">=";
  template <class A, class B>
  HEDDLE_HOST_DEVICE bool operator()(A a, B b) const {
    return cmp_greater_equal(a, b);
  }
};

/// The type that a number is compared in: the tensor's where both are floating, else its own.
template <class Tensors, class X>
struct compared_constant {
  using own = canonical_t<std::remove_cvref_t<X>>;
  using type = std::conditional_t<kind_of<Tensors> == kind::floating && kind_of<own> == kind::floating, Tensors, own>;
};

/// An operand of a comparison as a formula.
template <class Tensors, class X>
auto compared(X&& x) {
  if constexpr (Expression<X>) {
    return as_formula(std::forward<X>(x));
  } else {
    // Rounded to the tensor's type, although half and bfloat16 compute in float: half's 0.1 == 0.1.
    using T = typename compared_constant<Tensors, X>::type;
    return operand_formula<T>(cast_element<T>(static_cast<canonical_t<std::remove_cvref_t<X>>>(x)));
  }
}
template <class F, class A, class B>
auto comparison(F functor, A&& a, B&& b) {
  using Tensors = std::conditional_t<Expression<A>, tensor_element<A>, tensor_element<B>>;
  return map_formula(functor, compared<typename Tensors::type>(std::forward<A>(a)),
                     compared<typename Tensors::type>(std::forward<B>(b)));
}

/// a == b by elements, as bool; NaN equals nothing. Whole tensors are compared by array_equal. Example: `hd::sum(a ==
/// b)`.
template <class A, class B>
requires AnyExpression<A, B>
auto operator==(A&& a, B&& b) { return comparison(equal_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// a != b by elements, as bool.
template <class A, class B>
requires AnyExpression<A, B>
auto operator!=(A&& a, B&& b) { return comparison(not_equal_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// a < b by elements, as bool.
template <class A, class B>
requires AnyExpression<A, B>
auto operator<(A&& a, B&& b) { return comparison(less_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// a <= b by elements, as bool.
template <class A, class B>
requires AnyExpression<A, B>
auto operator<=(A&& a, B&& b) { return comparison(less_equal_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// a > b by elements, as bool. Example: `mask = x > 0.5f;`
template <class A, class B>
requires AnyExpression<A, B>
auto operator>(A&& a, B&& b) { return comparison(greater_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// a >= b by elements, as bool.
template <class A, class B>
requires AnyExpression<A, B>
auto operator>=(A&& a, B&& b) { return comparison(greater_equal_function{}, std::forward<A>(a), std::forward<B>(b)); }

struct logical_and_function : to_bool {
  static constexpr const char* name = "&&";
  template <class A, class B>
  HEDDLE_HOST_DEVICE bool operator()(A a, B b) const {
    return static_cast<bool>(static_cast<int>(a != A(0)) & static_cast<int>(b != B(0)));
  }
};
struct logical_or_function : to_bool {
  static constexpr const char* name = "||";
  template <class A, class B>
  HEDDLE_HOST_DEVICE bool operator()(A a, B b) const {
    return static_cast<bool>(static_cast<int>(a != A(0)) | static_cast<int>(b != B(0)));
  }
};
struct logical_not_function : to_bool {
  static constexpr const char* name = "!";
  template <class A>
  HEDDLE_HOST_DEVICE bool operator()(A a) const {
    return !(a != A(0));
  }
};

/// a != 0 and b != 0 by elements; both sides are computed.
template <class A, class B>
requires AnyExpression<A, B>
auto operator&&(A&& a, B&& b) { return comparison(logical_and_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// a != 0 or b != 0 by elements; both sides are computed.
template <class A, class B>
requires AnyExpression<A, B>
auto operator||(A&& a, B&& b) { return comparison(logical_or_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// x == 0 by elements.
template <Expression X>
auto operator!(X&& x) {
  return map_formula(logical_not_function{}, as_formula(std::forward<X>(x)));
}

template <class T>
inline constexpr bool has_bits_v = std::is_integral_v<T>;

struct bit_and_function : promoting {
  static constexpr const char* name = "&";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    static_assert(has_bits_v<T>, "& takes integers and bool");
    return static_cast<T>(a & b);
  }
};
struct bit_or_function : promoting {
  static constexpr const char* name = "|";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    static_assert(has_bits_v<T>, "| takes integers and bool");
    return static_cast<T>(a | b);
  }
};
struct bit_xor_function : promoting {
  static constexpr const char* name = "^";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    static_assert(has_bits_v<T>, "^ takes integers and bool");
    return static_cast<T>(a ^ b);
  }
};
struct bit_not_function : promoting {
  static constexpr const char* name = "~";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a) const {
    static_assert(has_bits_v<T>, "~ takes integers and bool");
    if constexpr (std::is_same_v<T, bool>)
      return !a;
    else
      return static_cast<T>(~a);
  }
};
/// A shift keeps the left side's type; see core/integer.hpp for counts beyond the width.
struct shifting {
  template <class T, class Count>
  struct signature {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool> && std::is_integral_v<Count>,
                  "<< and >> take integers");
    using result = T;
    using argument = void;
  };
};
struct shift_left_function : shifting {
  static constexpr const char* name = "<<";
  template <class T, class Count>
  HEDDLE_HOST_DEVICE T operator()(T a, Count count) const {
    return shift_left(a, count);
  }
};
struct shift_right_function : shifting {
  static constexpr const char* name = ">>";
  template <class T, class Count>
  HEDDLE_HOST_DEVICE T operator()(T a, Count count) const {
    return shift_right(a, count);
  }
};

/// Bitwise and of integers, and of bool.
template <class A, class B>
requires AnyExpression<A, B>
auto operator&(A&& a, B&& b) { return promoted_map(bit_and_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// Bitwise or of integers, or of bool.
template <class A, class B>
requires AnyExpression<A, B>
auto operator|(A&& a, B&& b) { return promoted_map(bit_or_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// Bitwise exclusive or.
template <class A, class B>
requires AnyExpression<A, B>
auto operator^(A&& a, B&& b) { return promoted_map(bit_xor_function{}, std::forward<A>(a), std::forward<B>(b)); }
/// Bitwise complement; of bool: not.
template <Expression X>
auto operator~(X&& x) {
  return promoted_map(bit_not_function{}, std::forward<X>(x));
}
/// a << b; a count below 0 or beyond the width gives 0. The count is an integer tensor or a number.
template <Expression A, Operand B>
auto operator<<(A&& a, B&& b) {
  return map_formula(shift_left_function{}, as_formula(std::forward<A>(a)),
                     compared<value_type_of_t<A>>(std::forward<B>(b)));
}
/// a >> b; arithmetic for signed types; a count below 0 or beyond the width gives 0, or -1 for negative a.
template <Expression A, Operand B>
auto operator>>(A&& a, B&& b) {
  return map_formula(shift_right_function{}, as_formula(std::forward<A>(a)),
                     compared<value_type_of_t<A>>(std::forward<B>(b)));
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
