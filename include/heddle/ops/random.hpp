// Random tensors from Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), which numbers
// its outputs: element i of a tensor depends on the seed, the generator's offset and i, never on the grid or the
// device.
#pragma once

#include "heddle/kernels/cpu/random.hpp"
#include "heddle/ops/create.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/random.cuh"
#endif

namespace heddle {

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
  /// Takes the next number of a tensor.
  std::uint64_t next_offset() noexcept { return __atomic_fetch_add(&offset_, 1, __ATOMIC_RELAXED); }

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

}  // namespace HEDDLE_BUILD
}  // namespace heddle
