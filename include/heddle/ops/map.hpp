// How an elementwise function becomes a formula: element types, scalars, user functors. Every family of maps stands on
// it.
#pragma once

#include "heddle/expr/conversion.hpp"
#include "heddle/expr/evaluate.hpp"
#include "heddle/expr/formula.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// Something that an elementwise function takes: a tensor, a formula or a number.
template <class X>
concept Operand = Expression<X> || ScalarArgument<X>;

/// At least one of them is a tensor or a formula.
template <class... X>
concept AnyExpression = (Operand<X> && ...) && (Expression<X> || ...);

template <class... T>
struct joint_tensor_type {
  using type = void;
};
template <class T>
requires(!std::is_void_v<T>) struct joint_tensor_type<T> {
  using type = T;
};
template <class... Rest>
struct joint_tensor_type<void, Rest...> : joint_tensor_type<Rest...> {};
template <class A, class B, class... Rest>
requires(!std::is_void_v<A>) struct joint_tensor_type<A, B, Rest...>
    : joint_tensor_type<tensor_result_t<A, B>, Rest...> {
};
template <class A, class... Rest>
requires(!std::is_void_v<A>) struct joint_tensor_type<A, void, Rest...> : joint_tensor_type<A, Rest...> {
};

template <class X>
struct tensor_element {
  using type = void;
};
template <class X>
requires Expression<X>
struct tensor_element<X> {
  using type = typename std::remove_cvref_t<X>::value_type;
};

template <class T, class... X>
struct with_scalars {
  using type = T;
};
template <class T, class First, class... Rest>
struct with_scalars<T, First, Rest...> : with_scalars<T, Rest...> {};
template <class T, class First, class... Rest>
requires ScalarArgument<First>
struct with_scalars<T, First, Rest...> : with_scalars<scalar_result_t<T, std::remove_cvref_t<First>>, Rest...> {
};

/// The element type that operands have together: the tensors' first, then each scalar's say; scalars alone count as
/// beside a bool tensor.
template <class... X>
struct common_element {
  using tensors = typename joint_tensor_type<typename tensor_element<X>::type...>::type;
  using type = typename with_scalars<std::conditional_t<std::is_void_v<tensors>, bool, tensors>, X...>::type;
};
template <class... X>
using common_element_t = typename common_element<X...>::type;

/// An operand as a formula; a number becomes a constant of type T.
template <class T, class X>
auto operand_formula(X&& x) {
  if constexpr (Expression<X>)
    return as_formula(std::forward<X>(x));
  else
    return constant<T>(static_cast<compute_type<T>>(
        cast_element<compute_type<T>>(static_cast<canonical_t<std::remove_cvref_t<X>>>(x))));
}

/// A map whose numbers take the operands' common type.
template <class F, class... X>
auto promoted_map(F functor, X&&... x) {
  using T = common_element_t<X...>;
  return map_formula(functor, operand_formula<T>(std::forward<X>(x))...);
}

// What a functor's `signature` may be; see functor_signature.

/// Operands and outcome have the common type of all operands: + - * /, minimum, clamp.
struct promoting {
  template <class... T>
  struct signature {
    using result = typename joint_tensor_type<T...>::type;
    using argument = compute_type<result>;
  };
};
/// As promoting, but integers and bool become float: exp, sqrt, atan2.
struct to_floating {
  template <class... T>
  struct signature {
    using result = float_result_t<typename joint_tensor_type<T...>::type>;
    using argument = compute_type<result>;
  };
};
/// Operands have their common type, the outcome is bool.
struct to_bool {
  template <class... T>
  struct signature {
    using result = bool;
    using argument = void;
  };
};

template <int I, class Result, class C, class... P>
auto parameter_at(Result (C::*)(P...) const) -> std::remove_cvref_t<slot_type_t<I, pack<P...>>>;
/// What a number that a functor takes as its I-th operand becomes: the parameter's type, so that calling it converts
/// nothing; the number's own where the parameter is of a lower kind, or the call operator is a template or overloaded.
template <int I, class Own, class F>
struct number_parameter {
  using type = Own;
};
template <int I, class Own, class F>
requires requires { requires std::is_arithmetic_v<decltype(parameter_at<I>(&F::operator()))>; }
struct number_parameter<I, Own, F> {
  using parameter = canonical_t<decltype(parameter_at<I>(&F::operator()))>;
  static constexpr bool is_lower = (kind_of<parameter> < kind_of<Own>);
  using type = std::conditional_t<is_lower, Own, parameter>;
};

/// A user's functor on tensors, formulas and numbers, fused like everything else. The functor is a trivially copyable
/// struct at namespace scope whose `operator() const` is marked HEDDLE_HOST_DEVICE; lambdas and local structs serve on
/// Cpu only. half and bfloat16 elements come as float; the result has the type that the call returns. Example: `struct
/// Twice { HEDDLE_HOST_DEVICE float operator()(float x) const { return 2 * x; } }; y = hd::map(Twice{}, x);`
template <class F, class... X>
requires AnyExpression<X...>
auto map(F functor, X&&... x) {
  static_assert(std::is_trivially_copyable_v<F>, "a functor in a formula must be trivially copyable");
  auto formula_of = []<int I, class One>(std::integral_constant<int, I>, One&& one) {
    if constexpr (Expression<One>) {
      return as_formula(std::forward<One>(one));
    } else {
      using T = typename number_parameter<I, canonical_t<std::remove_cvref_t<One>>, F>::type;
      return constant<T>(static_cast<compute_type<T>>(one));
    }
  };
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return map_formula(functor, formula_of(std::integral_constant<int, I>{}, std::forward<X>(x))...);
  }
  (std::make_integer_sequence<int, static_cast<int>(sizeof...(X))>{});
}

/// Computes a formula into a new tensor; a tensor is given back as it is. Example: `auto h = hd::eval(hd::matmul(x, w)
/// + b);`
template <Expression X>
auto eval(X&& x) {
  if constexpr (is_tensor_v<X>)
    return tensor_base_t<X>(std::forward<X>(x));
  else
    return evaluation<this_build>::make(as_formula(std::forward<X>(x)));
}

/// The elements as U: floating to integer truncates and saturates (NaN gives 0), to bool is x != 0.
/// Example: `hd::Tensor<int, 1> i = hd::cast<int>(x);`
template <Element U, Expression X>
auto cast(X&& x) {
  return map_formula(conversion<U>{}, as_formula(std::forward<X>(x)));
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
