// Dropout: a map, so that it rides in whatever kernel stands around it, and needs no mask in memory.
#pragma once

#include "heddle/ops/random.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// x / (1 - p) where the element's random word is not below p, else 0, whatever x is there.
template <class T>
struct dropout_function : random_signature<T> {
  static constexpr const char* name = "dropout";
  compute_type<T> scale;
  std::uint64_t bound;
  RandomState state;
  template <class X>
  HEDDLE_HOST_DEVICE compute_type<T> operator()(X x, element_number i) const {
    const std::uint32_t word = philox_word(static_cast<std::uint64_t>(i.value), state.offset, state.seed);
    return word >= bound ? static_cast<compute_type<T>>(x) * scale : compute_type<T>(0);
  }
  /// As the CPU calls it, by bits, so that loops vectorise.
  template <class X>
  HEDDLE_ALWAYS_INLINE compute_type<T> on_word(X x, on_cpu::drawn_word word) const {
    using Bits = unsigned_integer_t<sizeof(compute_type<T>)>;
    const auto kept = static_cast<Bits>(Bits{0} - static_cast<Bits>(word.value >= bound));
    const compute_type<T> scaled = static_cast<compute_type<T>>(x) * scale;
    return __builtin_bit_cast(compute_type<T>, __builtin_bit_cast(Bits, scaled) & kept);
  }
  void fill_words(std::uint32_t* words, index_t first, index_t step, int count) const {
    on_cpu::fill_words(words, first, step, count, state.offset, state.seed);
  }
};

/// x with each element set to 0 with probability p and the others divided by 1 - p, as a map: it costs no kernel of its
/// own beside others. p = 0 gives x, p = 1 zeros. Which elements are dropped depends on the state and on an element's
/// number in C order: the same on Cpu and Cuda, and the same each time that the formula is used. Keep the state for the
/// gradient. Integers give float. Throws Error if p is not from 0 to 1.
/// Example: `const auto state = generator.next_state(); hd::Tensor y = hd::dropout(hd::relu(x), 0.1, state);`
template <Expression X>
auto dropout(X&& x, double p = 0.5, RandomState state = default_generator().next_state()) {
  using Node = formula_of_t<X&&>;
  using T = float_result_t<typename Node::value_type>;
  const std::uint64_t bound = probability_bound(p, "dropout");
  auto node = as_formula(std::forward<X>(x));
  const element_numbers<Node::rank, typename Node::device_type> numbers(node.shape(), node.device());
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  return map_formula(dropout_function<T>{{}, static_cast<compute_type<T>>(scale), bound, state}, std::move(node),
                     numbers);
}
template <Expression X>
auto dropout(Generator& generator, X&& x, double p = 0.5) {
  return dropout(std::forward<X>(x), p, generator.next_state());
}

/// The gradient of dropout with regard to x: dy where x was kept, by the state that the forward pass was given.
/// Example: `hd::Tensor dx = hd::dropout_grad(dy, 0.1, state);`
template <Expression G>
auto dropout_grad(G&& dy, double p, RandomState state) {
  return dropout(std::forward<G>(dy), p, state);
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
