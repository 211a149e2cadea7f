// Operators that move elements without looking at them.
#pragma once

#include <initializer_list>

#include "conformance/dispatch.hpp"

namespace conformance {

/// Calls f(Type<T>{}) with a T that stands for the type: one of each width (1, 4 and 8 bytes) is enough.
template <class F>
Outputs with_moved_type(ElementType type, F f) {
  for (const ElementType one : {ElementType::uint8, ElementType::float32, ElementType::int64})
    if (size_of(one) == size_of(type)) return with_type(Types<std::uint8_t, float, std::int64_t>{}, one, f);
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
