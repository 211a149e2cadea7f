// What losses share: the combinations of element type and reduction that their cases have.
#pragma once

#include "conformance/broadcast.hpp"
#include "conformance/dispatch.hpp"
#include "heddle/ops/loss.hpp"

namespace conformance {

using Mean = hd::reduction::mean_t;
using Sum = hd::reduction::sum_t;
using None = hd::reduction::none_t;
template <class R>
inline constexpr bool is_none_v = std::is_same_v<R, None>;

template <class R>
constexpr const char* reduction_name() {
  return std::is_same_v<R, Mean> ? "mean" : std::is_same_v<R, Sum> ? "sum" : "none";
}

/// An element type with reductions.
template <class T, class... R>
struct On {};
template <class... On>
struct Combinations {};

template <class F, class T, class... R>
bool with_reduction(On<T, R...>, [[maybe_unused]] const Call& call, [[maybe_unused]] Outputs& outputs,
                    [[maybe_unused]] F& f) {
  [[maybe_unused]] const auto asked = [&](const char* name) {
    return call.has("reduction") ? call.text_is("reduction", name) : *name == 'm';
  };
  return ((asked(reduction_name<R>()) && (outputs = f(Type<T>{}, R{}), true)) || ...);
}

template <class T, class... R>
constexpr ElementType element_type_on(On<T, R...>) {
  return element_type_v<T>;
}

/// f(Type<T>{}, reduction) for the combination that the call asks for, by the type of its first operand.
template <class... On, class F>
Outputs with_combination(Combinations<On...>, const Call& call, F f) {
  Outputs outputs;
  const ElementType type = call.input(0).type;
  const bool found = ((element_type_on(On{}) == type && with_reduction(On{}, call, outputs, f)) || ...);
  if (!found) throw NotServed{"not for this element type and reduction"};
  return outputs;
}

}  // namespace conformance
