// An operand formula as reductions read it: element by element, or several neighbours at once.
#pragma once

#include "heddle/kernels/cuda/form.cuh"
#include "heddle/kernels/cuda/vectors.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// A source whose neighbours along the reduced axes come in 16 bytes, where every leaf lies so in memory.
template <class Bound>
class vector_source : public source<Bound> {
  using Base = source<Bound>;
  using Form = typename Base::Form;
  using Slots = std::make_integer_sequence<int, Bound::leaves>;

 public:
  using value_type = typename Base::value_type;
  using Position = typename Base::Position;
  /// Elements that a thread takes at once.
  static constexpr int vector_width = [] {
    constexpr int smallest = leaf_sizes<Form, Slots>::smallest(8);
    return smallest > 4 ? 2 : (smallest > 2 ? 4 : 8);
  }();

  vector_source(const Bound& bound, const bool* inner) : Base(bound, inner) {}

  bool in_vectors() const { return Bound::leaves > 0 && in_vectors(Slots{}); }
  /// V neighbours, the first of which has a multiple of V in front.
  template <int V>
  __device__ __forceinline__ void load_vector(const Position& position, index_t inner, value_type (&values)[V]) const {
    Position here = position;
    this->inner_.advance(inner, here.offset);
    registers_t<Form, Bound::leaves, V> registers;
    load_leaves<V>(registers, here, Slots{});
#pragma unroll
    for (int j = 0; j < V; ++j) values[j] = static_cast<value_type>(lane_value<Form>::at(this->form_, registers, 0, j));
  }

 private:
  template <int V, class Registers, int... S>
  __device__ __forceinline__ void load_leaves([[maybe_unused]] Registers& registers,
                                              [[maybe_unused]] const Position& position,
                                              std::integer_sequence<int, S...>) const {
    (on_cuda::load_vector<V>(slot<S>(registers), this->data_[S], position.offset[S], step(S), V), ...);
  }
  /// From one neighbour to the next.
  HEDDLE_HOST_DEVICE index_t step(int leaf) const { return this->inner_.stride[innermost()][leaf]; }
  HEDDLE_HOST_DEVICE int innermost() const { return this->inner_.rank > 0 ? this->inner_.rank - 1 : 0; }

  template <int... S>
  bool in_vectors(std::integer_sequence<int, S...>) const {
    if (this->inner_.rank == 0) return false;
    if (this->inner_.rank > 1 && this->inner_.extent[innermost()] % vector_width != 0) return false;
    return (leaf_in_vectors<typename leaf_type<S, Form>::type>(S) && ...);
  }
  template <class T>
  bool leaf_in_vectors(int leaf) const {
    if (step(leaf) == 0) return true;
    constexpr std::size_t bytes =
        std::is_same_v<T, element_number> ? sizeof(T) * vector_width : alignof(vector_of<T, vector_width>);
    constexpr auto alignment = static_cast<index_t>(bytes / sizeof(T));
    if (step(leaf) != 1 || reinterpret_cast<std::uintptr_t>(this->data_[leaf]) % bytes != 0) return false;
    for (int a = 0; a < innermost(); ++a)
      if (this->inner_.stride[a][leaf] % alignment != 0) return false;
    for (int a = 0; a < this->outer_.rank; ++a)
      if (this->outer_.stride[a][leaf] % alignment != 0) return false;
    return true;
  }
};

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
