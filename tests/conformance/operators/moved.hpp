// Operators that move elements without looking at them.
#pragma once

#include "conformance/dispatch.hpp"

namespace conformance {

/// Calls f(Type<T>{}) with a T that stands for the type: one of each width is enough.
template <class F>
Outputs with_moved_type(ElementType type, F f) {
  const ElementType standing[] = {ElementType::uint8, ElementType::int16, ElementType::float32, ElementType::int64};
  for (const ElementType one : standing)
    if (size_of(one) == size_of(type))
      return with_type(Types<std::uint8_t, std::int16_t, float, std::int64_t>{}, one, f);
  throw NotServed{"not for this element type"};
}

/// The same elements as ones of T.
template <class T>
Array moved_as(Array array) {
  array.type = element_type_v<T>;
  return array;
}

/// The outputs as arrays of that type.
inline Outputs typed(Outputs outputs, ElementType type) {
  for (Array& output : outputs) output.type = type;
  return outputs;
}

}  // namespace conformance
