// Random tensors from Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), which numbers
// its outputs: element i of a tensor depends on the seed, the generator's offset and i, never on the grid or the
// device.
#pragma once

#include <utility>

#include "heddle/core/capture.hpp"
#include "heddle/expr/numbers.hpp"
#include "heddle/kernels/cpu/random.hpp"
#include "heddle/ops/create.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/random.cuh"
#endif

namespace heddle {

/// Where a tensor's random numbers come from: the generator's seed and the number of the tensor. The same state gives
/// the same numbers again. Example: `const hd::RandomState state = generator.next_state();`
struct RandomState {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;
};

/// A stream of random numbers: a seed, and how far it has been used. Copies go on from the same place; the same seed
/// gives the same numbers on Cpu and Cuda (normal ones but for the rounding of log, sin and cos). Safe to share between
/// threads, which then get distinct numbers in the order in which they ask. Example: `hd::Generator g{42}; auto w =
/// hd::randn<float>(g, {784, 128});`
class Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) noexcept : seed_(seed) {}
  Generator(const Generator& other) noexcept : seed_(other.seed()), offset_(other.offset()) {}
  Generator& operator=(const Generator& other) noexcept {
    reset(other.seed(), other.offset());
    return *this;
  }
  /// Begins anew with that seed.
  void manual_seed(std::uint64_t seed) noexcept { reset(seed, 0); }
  std::uint64_t seed() const noexcept { return __atomic_load_n(&seed_, __ATOMIC_RELAXED); }
  /// How many tensors have been drawn.
  std::uint64_t offset() const noexcept { return __atomic_load_n(&offset_, __ATOMIC_RELAXED); }
  /// Takes the next number of a tensor. Throws UnsupportedError in the capture of a CUDA graph.
  std::uint64_t next_offset() {
    if (captures_under_way > 0) [[unlikely]] {
      throw UnsupportedError(
          "random numbers can't be drawn while a CUDA graph is captured: every replay would repeat them. Draw them "
          "into a tensor before each launch, or give the operation a RandomState, whose repetition is then meant");
    }
    return __atomic_fetch_add(&offset_, 1, __ATOMIC_RELAXED);
  }
  /// The state of the next tensor, which is taken. Throws as next_offset.
  RandomState next_state() { return {seed(), next_offset()}; }

 private:
  void reset(std::uint64_t seed, std::uint64_t offset) noexcept {
    __atomic_store_n(&seed_, seed, __ATOMIC_RELAXED);
    __atomic_store_n(&offset_, offset, __ATOMIC_RELAXED);
  }
  std::uint64_t seed_;
  std::uint64_t offset_ = 0;
};

/// The generator that functions take when none is named.
HEDDLE_SHARED inline Generator& default_generator() {
  static Generator generator;
  return generator;
}
/// Seeds the default generator. Example: `hd::manual_seed(42);`
inline void manual_seed(std::uint64_t seed) { default_generator().manual_seed(seed); }

inline namespace HEDDLE_BUILD {

/// Numbers i of stream `offset` into a new tensor.
template <class T, bool Normal, int Rank, class Device>
Tensor<T, Rank, Device> draw(Generator& generator, const Shape<Rank>& shape, Device device) {
  static_assert(kind_of<T> == kind::floating, "rand and randn give floating elements; randint gives integers");
  auto result = empty<T>(shape, device);
  const std::uint64_t seed = generator.seed();
  const std::uint64_t offset = generator.next_offset();
  if constexpr (runs_here<Device>() && std::is_same_v<Device, Cpu>) {
    if constexpr (Normal)
      on_cpu::fill_normal(result.data(), result.size(), seed, offset);
    else
      on_cpu::fill_uniform(result.data(), result.size(), seed, offset);
  } else {
#if HEDDLE_CUDA_COMPILER
    const auto context = on_cuda::current_context(device.index, Normal ? "randn" : "rand");
    if constexpr (Normal)
      on_cuda::fill_normal(result.data(), result.size(), seed, offset, context);
    else
      on_cuda::fill_uniform(result.data(), result.size(), seed, offset, context);
#endif
  }
  return result;
}

/// Uniform numbers in [0, 1), the same bits on Cpu and Cuda. Example: `hd::rand<float>({64, 784}, device)`.
template <Element T, int Rank, class Device = default_device>
Tensor<T, Rank, Device> rand(Generator& generator, const Shape<Rank>& shape, Device device = {}) {
  return draw<T, false>(generator, shape, device);
}
template <Element T, std::size_t N, class Device = default_device>
Tensor<T, static_cast<int>(N), Device> rand(Generator& generator, const Extent (&shape)[N], Device device = {}) {
  return draw<T, false>(generator, Shape<static_cast<int>(N)>(shape), device);
}
template <Element T, class Device = default_device>
Tensor<T, 0, Device> rand(Generator& generator, Shape<0> shape, Device device = {}) {
  return draw<T, false, 0>(generator, shape, device);
}
template <Element T, int Rank, class Device = default_device>
Tensor<T, Rank, Device> rand(const Shape<Rank>& shape, Device device = {}) {
  return draw<T, false>(default_generator(), shape, device);
}
template <Element T, std::size_t N, class Device = default_device>
Tensor<T, static_cast<int>(N), Device> rand(const Extent (&shape)[N], Device device = {}) {
  return draw<T, false>(default_generator(), Shape<static_cast<int>(N)>(shape), device);
}
template <Element T, class Device = default_device>
Tensor<T, 0, Device> rand(Shape<0> shape, Device device = {}) {
  return draw<T, false, 0>(default_generator(), shape, device);
}

/// Normal numbers with mean 0 and variance 1. Example: `hd::randn<float>(generator, {784, 128}, device)`.
template <Element T, int Rank, class Device = default_device>
Tensor<T, Rank, Device> randn(Generator& generator, const Shape<Rank>& shape, Device device = {}) {
  return draw<T, true>(generator, shape, device);
}
template <Element T, std::size_t N, class Device = default_device>
Tensor<T, static_cast<int>(N), Device> randn(Generator& generator, const Extent (&shape)[N], Device device = {}) {
  return draw<T, true>(generator, Shape<static_cast<int>(N)>(shape), device);
}
template <Element T, class Device = default_device>
Tensor<T, 0, Device> randn(Generator& generator, Shape<0> shape, Device device = {}) {
  return draw<T, true, 0>(generator, shape, device);
}
template <Element T, int Rank, class Device = default_device>
Tensor<T, Rank, Device> randn(const Shape<Rank>& shape, Device device = {}) {
  return draw<T, true>(default_generator(), shape, device);
}
template <Element T, std::size_t N, class Device = default_device>
Tensor<T, static_cast<int>(N), Device> randn(const Extent (&shape)[N], Device device = {}) {
  return draw<T, true>(default_generator(), Shape<static_cast<int>(N)>(shape), device);
}
template <Element T, class Device = default_device>
Tensor<T, 0, Device> randn(Shape<0> shape, Device device = {}) {
  return draw<T, true, 0>(default_generator(), shape, device);
}

/// Uniform numbers in x's shape, element type and device (in C order).
template <Expression X>
auto rand_like(const X& x) {
  return draw<typename X::value_type, false>(default_generator(), x.shape(), typename X::device_type(x.device()));
}
/// Normal numbers in x's shape, element type and device (in C order).
template <Expression X>
auto randn_like(const X& x) {
  return draw<typename X::value_type, true>(default_generator(), x.shape(), typename X::device_type(x.device()));
}

// Maps of the elements' numbers: no kernels of their own.

/// Takes the element's number, and before it what `map` was given, each as it comes.
template <class Result>
struct random_signature {
  template <class... T>
  struct signature {
    using result = Result;
    using argument = void;
  };
};

/// A new tensor of what a functor makes of the elements' numbers.
template <class T, class F, int Rank, class Device>
Tensor<T, Rank, Device> draw_map(F functor, const Shape<Rank>& shape, Device device) {
  static_assert(runs_here<Device>());
  auto result = empty<T>(shape, device);
  evaluate(map_formula(functor, element_numbers<Rank, Device>(shape, device)), result);
  return result;
}

template <class T>
struct randint_function : random_signature<T> {
  static constexpr const char* name = "randint";
  std::uint64_t low, range, refused;
  RandomState state;
  HEDDLE_HOST_DEVICE compute_type<T> operator()(element_number i) const {
    const std::uint64_t drawn =
        low + philox_below(range, refused, static_cast<std::uint64_t>(i.value), state.offset, state.seed);
    return static_cast<compute_type<T>>(static_cast<std::int64_t>(drawn));
  }
};
template <>
struct randint_function<std::uint64_t> : random_signature<std::uint64_t> {
  static constexpr const char* name = "randint";
  std::uint64_t low, range, refused;
  RandomState state;
  HEDDLE_HOST_DEVICE std::uint64_t operator()(element_number i) const {
    return low + philox_below(range, refused, static_cast<std::uint64_t>(i.value), state.offset, state.seed);
  }
};

/// Whether an integer is among the numbers that T represents one by one.
template <Element T, Integer I>
constexpr bool represents(I value) {
  if constexpr (std::is_same_v<T, bool>)
    return value == 0 || value == 1;
  else if constexpr (std::is_integral_v<T>)
    return std::in_range<T>(value);
  else {
    constexpr int digits = std::is_same_v<T, half> ? 11 : std::is_same_v<T, bfloat16> ? 8 : sizeof(T) == 4 ? 24 : 53;
    constexpr std::int64_t most = std::int64_t{1} << digits;
    return std::cmp_less_equal(value, most) && std::cmp_greater_equal(value, -most);
  }
}

template <Element T, class L, class H>
randint_function<T> randint_of(L low_value, H high_value) {
  const canonical_t<L> low = low_value;
  const canonical_t<H> high = high_value;
  if (!std::cmp_less(low, high))
    throw Error(Message{} << "randint: there is no integer from " << low << " on that is below " << high);
  if (!represents<T>(low) || !represents<T>(static_cast<canonical_t<H>>(high - 1)))
    throw Error(Message{} << "randint: " << name_of<T> << " does not hold all integers from " << low << " to below "
                          << high);
  const auto first = static_cast<std::uint64_t>(low);
  const std::uint64_t range = static_cast<std::uint64_t>(high) - first;
  return {{}, first, range, philox_refused(range), {}};
}

/// Integers of [low, high), each exactly equally likely whatever the range, the same on Cpu and Cuda. T may be floating
/// or bool too. Throws Error if the range is empty or T does not hold all of it.
/// Example: `hd::randint<int>(0, 10, {64}, device)`.
template <Element T, Integer L, Integer H, int Rank, class Device = default_device>
Tensor<T, Rank, Device> randint(Generator& generator, L low, H high, const Shape<Rank>& shape, Device device = {}) {
  checked_shape(shape);
  auto functor = randint_of<T>(low, high);
  functor.state = generator.next_state();
  return draw_map<T>(functor, shape, device);
}
template <Element T, Integer L, Integer H, std::size_t N, class Device = default_device>
Tensor<T, static_cast<int>(N), Device> randint(Generator& generator, L low, H high, const Extent (&shape)[N],
                                               Device device = {}) {
  return randint<T>(generator, low, high, Shape<static_cast<int>(N)>(shape), device);
}
template <Element T, Integer L, Integer H, class Device = default_device>
Tensor<T, 0, Device> randint(Generator& generator, L low, H high, Shape<0> shape, Device device = {}) {
  return randint<T, L, H, 0>(generator, low, high, shape, device);
}
template <Element T, Integer L, Integer H, int Rank, class Device = default_device>
Tensor<T, Rank, Device> randint(L low, H high, const Shape<Rank>& shape, Device device = {}) {
  return randint<T>(default_generator(), low, high, shape, device);
}
template <Element T, Integer L, Integer H, std::size_t N, class Device = default_device>
Tensor<T, static_cast<int>(N), Device> randint(L low, H high, const Extent (&shape)[N], Device device = {}) {
  return randint<T>(default_generator(), low, high, Shape<static_cast<int>(N)>(shape), device);
}
template <Element T, Integer L, Integer H, class Device = default_device>
Tensor<T, 0, Device> randint(L low, H high, Shape<0> shape, Device device = {}) {
  return randint<T, L, H, 0>(default_generator(), low, high, shape, device);
}

/// How many of 2^32 words are below a probability; one too many than 32 bits hold for 1.
inline std::uint64_t probability_bound(double p, const char* operation) {
  if (!(p >= 0 && p <= 1)) throw Error(Message{} << operation << ": the probability is " << p << ", not from 0 to 1");
  return static_cast<std::uint64_t>(p * 0x1p32);
}

template <class T>
struct bernoulli_function : random_signature<T> {
  static constexpr const char* name = "bernoulli";
  std::uint64_t bound;
  RandomState state;
  HEDDLE_HOST_DEVICE compute_type<T> operator()(element_number i) const {
    return static_cast<compute_type<T>>(philox_word(static_cast<std::uint64_t>(i.value), state.offset, state.seed) <
                                        bound);
  }
  HEDDLE_ALWAYS_INLINE compute_type<T> on_word(on_cpu::drawn_word word) const {
    return static_cast<compute_type<T>>(word.value < bound);
  }
  void fill_words(std::uint32_t* words, index_t first, index_t step, int count) const {
    on_cpu::fill_words(words, first, step, count, state.offset, state.seed);
  }
};

/// 1 with probability p, else 0, in any element type: the same on Cpu and Cuda. p counts to 2^-32. Throws Error if p is
/// not from 0 to 1. Example: `hd::bernoulli<bool>(0.3, {64, 128}, device)`.
template <Element T, int Rank, class Device = default_device>
Tensor<T, Rank, Device> bernoulli(Generator& generator, double p, const Shape<Rank>& shape, Device device = {}) {
  checked_shape(shape);
  const std::uint64_t bound = probability_bound(p, "bernoulli");
  return draw_map<T>(bernoulli_function<T>{{}, bound, generator.next_state()}, shape, device);
}
template <Element T, std::size_t N, class Device = default_device>
Tensor<T, static_cast<int>(N), Device> bernoulli(Generator& generator, double p, const Extent (&shape)[N],
                                                 Device device = {}) {
  return bernoulli<T>(generator, p, Shape<static_cast<int>(N)>(shape), device);
}
template <Element T, class Device = default_device>
Tensor<T, 0, Device> bernoulli(Generator& generator, double p, Shape<0> shape, Device device = {}) {
  return bernoulli<T, 0>(generator, p, shape, device);
}
template <Element T, int Rank, class Device = default_device>
Tensor<T, Rank, Device> bernoulli(double p, const Shape<Rank>& shape, Device device = {}) {
  return bernoulli<T>(default_generator(), p, shape, device);
}
template <Element T, std::size_t N, class Device = default_device>
Tensor<T, static_cast<int>(N), Device> bernoulli(double p, const Extent (&shape)[N], Device device = {}) {
  return bernoulli<T>(default_generator(), p, Shape<static_cast<int>(N)>(shape), device);
}
template <Element T, class Device = default_device>
Tensor<T, 0, Device> bernoulli(double p, Shape<0> shape, Device device = {}) {
  return bernoulli<T, 0>(default_generator(), p, shape, device);
}

template <class T>
struct bernoulli_of_function : random_signature<T> {
  static constexpr const char* name = "bernoulli";
  RandomState state;
  HEDDLE_HOST_DEVICE compute_type<T> operator()(compute_type<T> p, element_number i) const {
    const std::uint32_t word = philox_word(static_cast<std::uint64_t>(i.value), state.offset, state.seed);
    const compute_type<T> scaled = p * compute_type<T>(0x1p32);  // exact
    const bool in_range = p > compute_type<T>(0) && p < compute_type<T>(1);
    const bool below = word < static_cast<std::uint32_t>(in_range ? scaled : compute_type<T>(0));
    return static_cast<compute_type<T>>(below || p >= compute_type<T>(1));
  }
};

/// 1 with the probability that each element of p is, else 0, in p's type, as a map: the same on Cpu and Cuda. Where p
/// is below 0 or NaN it is 0, above 1 it is 1. The state is in the formula, so that one which is used twice gives the
/// same numbers twice. Example: `hd::Tensor spikes = hd::bernoulli(hd::sigmoid(rate));`
template <Expression P>
auto bernoulli(P&& p, RandomState state = default_generator().next_state()) {
  using Node = formula_of_t<P&&>;
  using T = typename Node::value_type;
  static_assert(kind_of<T> == kind::floating, "probabilities are floating: bernoulli<T>(p, shape) takes a number");
  auto node = as_formula(std::forward<P>(p));
  const element_numbers<Node::rank, typename Node::device_type> numbers(node.shape(), node.device());
  return map_formula(bernoulli_of_function<T>{{}, state}, std::move(node), numbers);
}
template <Expression P>
auto bernoulli(Generator& generator, P&& p) {
  return bernoulli(std::forward<P>(p), generator.next_state());
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
