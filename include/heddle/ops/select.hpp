// where: one of two values by a condition.
#pragma once

#include "heddle/ops/map.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

struct where_function {
  static constexpr const char* name = "where";
  template <class C, class A, class B>
  struct signature {
    using result = typename joint_tensor_type<A, B>::type;
    using argument = void;
  };
  template <class C, class A, class B>
  HEDDLE_HOST_DEVICE auto operator()(C condition, A a, B b) const {
    using Result = compute_type<typename joint_tensor_type<A, B>::type>;
    return condition != C(0) ? static_cast<Result>(a) : static_cast<Result>(b);
  }
};

/// a where the condition is true (not 0), else b, broadcast together. Of two numbers the result is float, int64 or
/// bool. Example: `y = hd::where(x > 0, x, 0.01f * x);`
template <class C, class A, class B>
requires(Expression<C>&& Operand<A>&& Operand<B>) auto where(C&& condition, A&& a, B&& b) {
  using T = common_element_t<A, B>;
  return map_formula(where_function{}, as_formula(std::forward<C>(condition)), operand_formula<T>(std::forward<A>(a)),
                     operand_formula<T>(std::forward<B>(b)));
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
