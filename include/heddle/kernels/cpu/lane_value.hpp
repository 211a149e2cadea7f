// What a form is at one lane: the operands' values in local arrays, one functor upon the other.
#pragma once

#include <cstdint>
#include <type_traits>

#include "heddle/core/cast.hpp"
#include "heddle/expr/form.hpp"
#include "heddle/expr/numbers.hpp"
#include "heddle/kernels/cpu/isa.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// Lanes that the inner loop computes at once: a constant trip count, which vectorises at -O2.
inline constexpr int lane_block = 16;
static_assert(chunk % lane_block == 0);
/// One leaf's elements of a chunk, in the type that formulas compute in.
template <class T>
struct lane_array {
  compute_type<T> lane[chunk];
};
/// Where they are: in memory as they lie there, or in a lane_array.
template <class T>
struct lane_pointer {
  const compute_type<T>* lane;
};

/// Elements' numbers, and random words of them where a functor draws some.
template <>
struct lane_array<element_number> {
  element_number lane[chunk];
  std::uint32_t word[chunk];
};
template <>
struct lane_pointer<element_number> {
  const element_number* lane;
  const std::uint32_t* word = nullptr;
};

template <class Form, class Slots>
struct lanes_of;
template <class Form, int... S>
struct lanes_of<Form, std::integer_sequence<int, S...>> {
  using arrays = pack<lane_array<typename leaf_type<S, Form>::type>...>;
  using pointers = pack<lane_pointer<typename leaf_type<S, Form>::type>...>;
};
/// The lanes of all leaves of a form.
template <class Form, int Leaves>
using lane_arrays_t = typename lanes_of<Form, std::make_integer_sequence<int, Leaves>>::arrays;
template <class Form, int Leaves>
using lane_pointers_t = typename lanes_of<Form, std::make_integer_sequence<int, Leaves>>::pointers;

template <class Argument, class T>
HEDDLE_ALWAYS_INLINE auto as_argument(T value) {
  if constexpr (std::is_void_v<Argument> || std::is_same_v<Argument, T>)
    return value;
  else
    return cast_element<Argument>(value);
}

/// Functors may have a form of their own for the CPU's vector loops: `on_host(x…)`, next to operator().
template <class F, class... A>
HEDDLE_ALWAYS_INLINE auto call(const F& functor, A... arguments) {
  // Of the same type: a double would else be narrowed to the form for floats.
  if constexpr (requires {
                  requires std::is_same_v<decltype(functor.on_host(arguments...)), decltype(functor(arguments...))>;
                })
    return functor.on_host(arguments...);
  else
    return functor(arguments...);
}

/// Whether, in any bit, a number came that a functor's form for vector loops does not serve.
struct beyond_served {
  std::uint32_t bits = 0;
};
/// Functors whose form for vector loops serves only a part of all numbers say `limited_on_host`: on_host(x, beyond)
/// sets a bit of `beyond` elsewhere, and the block that it happened in is computed once more, by operator().
template <class F>
concept LimitedOnHost = requires {
  requires F::limited_on_host;
};
template <class Form>
inline constexpr bool is_limited = false;
template <class F, class Argument, class Result, class... Children>
inline constexpr bool is_limited<map_form<F, Argument, Result, Children...>> = LimitedOnHost<F> ||
                                                                               (is_limited<Children> || ...);
/// What such functors see beside the values of a producer.
template <class Hole>
struct limited_hole : Hole {
  beyond_served* beyond;
};

/// A random word in the place of its element's number.
struct drawn_word {
  std::uint32_t value;
};
/// Functors that draw one word an element say so by fill_words(words, first, step, count), which draws those of a whole
/// chunk: a counter gives four. They are called as on_word(x..., word).
template <class F>
concept DrawsWords = requires(const F& functor, std::uint32_t* words) {
  functor.fill_words(words, index_t{}, index_t{}, int{});
};

/// The slot of a leaf of elements' numbers, else -1.
template <class Form>
inline constexpr int number_slot = -1;
template <int Slot>
inline constexpr int number_slot<leaf_form<element_number, Slot>> = Slot;

/// Draws the words of a form's functors for the lanes of a chunk.
template <class Form>
struct form_words {
  static constexpr bool any = false;
};
template <class F, class Argument, class Result, class... Children>
struct form_words<map_form<F, Argument, Result, Children...>> {
  static constexpr bool any = DrawsWords<F> || (form_words<Children>::any || ...);
  template <class Lanes, class Held>
  static HEDDLE_ALWAYS_INLINE void fill(const map_form<F, Argument, Result, Children...>& form, Lanes& lanes,
                                        Held& held, const index_t* stride, int count) {
    fill(form, lanes, held, stride, count, std::make_integer_sequence<int, static_cast<int>(sizeof...(Children))>{});
  }

 private:
  template <class Lanes, class Held, int... I>
  static HEDDLE_ALWAYS_INLINE void fill(const map_form<F, Argument, Result, Children...>& form, Lanes& lanes,
                                        Held& held, const index_t* stride, int count,
                                        std::integer_sequence<int, I...>) {
    (fill_child<Children>(form.functor, slot<I>(form.children), lanes, held, stride, count), ...);
  }
  template <class Child, class Lanes, class Held>
  static HEDDLE_ALWAYS_INLINE void fill_child(const F& functor, const Child& child, Lanes& lanes, Held& held,
                                              const index_t* stride, int count) {
    constexpr int number = number_slot<Child>;
    if constexpr (DrawsWords<F> && number >= 0) {
      functor.fill_words(slot<number>(held).word, slot<number>(lanes).lane[0].value, stride[number], count);
      slot<number>(lanes).word = slot<number>(held).word;
    } else if constexpr (form_words<Child>::any) {
      form_words<Child>::fill(child, lanes, held, stride, count);
    }
  }
};

/// The value of a form at lane j.
template <class Form>
struct lane_value;
template <class T, int Slot>
struct lane_value<leaf_form<T, Slot>> {
  template <class Lanes, class Hole>
  static HEDDLE_ALWAYS_INLINE compute_type<T> at(const leaf_form<T, Slot>&, const Lanes& lanes, const Hole&,
                                                 index_t j) {
    return slot<Slot>(lanes).lane[j];
  }
  /// All of them.
  template <class Lanes, class Hole>
  static HEDDLE_ALWAYS_INLINE const compute_type<T>* lanes(const Lanes& lanes, const Hole&) {
    return slot<Slot>(lanes).lane;
  }
};
template <class T>
struct lane_value<constant_form<T>> {
  template <class Lanes, class Hole>
  static HEDDLE_ALWAYS_INLINE T at(const constant_form<T>& form, const Lanes&, const Hole&, index_t) {
    return form.value;
  }
};
template <>
struct lane_value<hole_form> {
  template <class Lanes, class Hole>
  static HEDDLE_ALWAYS_INLINE auto at(const hole_form&, const Lanes&, const Hole& hole, index_t j) {
    return hole.lane[j];
  }
  template <class Lanes, class Hole>
  static HEDDLE_ALWAYS_INLINE auto lanes(const Lanes&, const Hole& hole) {
    return hole.lane;
  }
};
template <class F, class Argument, class Result, class... Children>
struct lane_value<map_form<F, Argument, Result, Children...>> {
  template <class Lanes, class Hole>
  static HEDDLE_ALWAYS_INLINE compute_type<Result> at(const map_form<F, Argument, Result, Children...>& form,
                                                      const Lanes& lanes, const Hole& hole, index_t j) {
    return at(form, lanes, hole, j, std::make_integer_sequence<int, static_cast<int>(sizeof...(Children))>{});
  }

 private:
  template <class Lanes, class Hole, int... I>
  static HEDDLE_ALWAYS_INLINE compute_type<Result> at(const map_form<F, Argument, Result, Children...>& form,
                                                      const Lanes& lanes, const Hole& hole, index_t j,
                                                      std::integer_sequence<int, I...>) {
    if constexpr (DrawsWords<F> && (has_word<Children, Lanes>() || ...))
      return cast_element<compute_type<Result>>(
          form.functor.on_word(word_or_value<Children>(slot<I>(form.children), lanes, hole, j)...));
    else
      return cast_element<compute_type<Result>>(
          call_within(form.functor, hole,
                      as_argument<Argument>(lane_value<Children>::at(slot<I>(form.children), lanes, hole, j))...));
  }
  template <class Hole, class... A>
  static HEDDLE_ALWAYS_INLINE auto call_within(const F& functor, const Hole& hole, A... arguments) {
    if constexpr (LimitedOnHost<F> && (std::is_same_v<A, float> && ...) && requires { hole.beyond; })
      return functor.on_host(arguments..., *hole.beyond);
    else
      return call(functor, arguments...);
  }
  template <class Child, class Lanes>
  static constexpr bool has_word() {
    if constexpr (number_slot<Child> >= 0) return requires(const Lanes& lanes) {
        slot<number_slot<Child>>(lanes).word;
      };
    else
      return false;
  }
  template <class Child, class Lanes, class Hole>
  static HEDDLE_ALWAYS_INLINE auto word_or_value(const Child& child, const Lanes& lanes, const Hole& hole, index_t j) {
    if constexpr (number_slot<Child> >= 0)
      return drawn_word{slot<number_slot<Child>>(lanes).word[j]};
    else
      return as_argument<Argument>(lane_value<Child>::at(child, lanes, hole, j));
  }
};

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
