// A tuple that kernels can read: std::tuple's functions are for the host only.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "heddle/config.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

template <int I, class T>
struct pack_slot {
  T value;
};

template <class Indices, class... T>
struct pack_slots;
template <int... I, class... T>
struct pack_slots<std::integer_sequence<int, I...>, T...> : pack_slot<I, T>... {
  static constexpr int size = static_cast<int>(sizeof...(T));
};

/// Values of several types, an aggregate: `pack<int, float>{{1}, {2.0f}}`. An alias, for nvcc's time over formulas:
/// each level of inheritance between nested packs would double it with every level of the formula.
template <class... T>
using pack = pack_slots<std::make_integer_sequence<int, static_cast<int>(sizeof...(T))>, T...>;

/// The I-th value. Example: `slot<1>(p)`.
template <int I, class T>
HEDDLE_HOST_DEVICE constexpr T& slot(pack_slot<I, T>& p) {
  return p.value;
}
template <int I, class T>
HEDDLE_HOST_DEVICE constexpr const T& slot(const pack_slot<I, T>& p) {
  return p.value;
}

/// The I-th of a list of types.
template <int I, class T>
std::type_identity<T> slot_type(const pack_slot<I, T>&);
template <int I, class Pack>
using slot_type_t = typename decltype(slot_type<I>(std::declval<const Pack&>()))::type;

}  // namespace HEDDLE_BUILD
}  // namespace heddle
