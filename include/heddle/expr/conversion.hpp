// The conversion of elements as a map.
#pragma once

#include "heddle/core/cast.hpp"
#include "heddle/expr/formula.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// x as U: to bool, x != 0; floating to integer truncates and saturates, NaN gives 0; half and bfloat16 are rounded
/// here, even if the formula goes on in float.
template <class U>
struct conversion {
  template <class T>
  struct signature {
    using result = U;
    using argument = void;
  };
  template <class T>
  HEDDLE_HOST_DEVICE compute_type<U> operator()(T x) const {
    return static_cast<compute_type<U>>(cast_element<U>(x));
  }
};

}  // namespace HEDDLE_BUILD
}  // namespace heddle
