// Random orders.
#pragma once

#include "heddle/ops/random.hpp"
#include "heddle/ops/sort.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

struct permutation_key : random_signature<std::uint64_t> {
  RandomState state;
  HEDDLE_HOST_DEVICE std::uint64_t operator()(element_number i) const {
    return philox_draw(static_cast<std::uint64_t>(i.value), state.offset, state.seed);
  }
};

/// The integers below n in a random order, as int64: where the least of n random 64-bit keys stands, the next one, and
/// so on; the same on Cpu and Cuda. (Two keys are equal with a probability below n² / 2^65; they keep their order.)
/// Throws ShapeError if n is negative. Example: `hd::index_select<0>(x, hd::permutation(x.extent(0), device))`.
template <class Device = default_device>
Tensor<std::int64_t, 1, Device> permutation(Generator& generator, Extent n, Device device = {}) {
  const Extent extents[1] = {n};
  const Shape<1> shape = checked_shape(Shape<1>(extents));
  return argsort(map_formula(permutation_key{{}, generator.next_state()}, element_numbers<1, Device>(shape, device)));
}
template <class Device = default_device>
Tensor<std::int64_t, 1, Device> permutation(Extent n, Device device = {}) {
  return permutation(default_generator(), n, device);
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
