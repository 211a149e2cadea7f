// An operand formula as reductions read it: element by element, or several neighbours at once.
#pragma once

#include "heddle/kernels/cuda/form.cuh"
#include "heddle/kernels/cuda/vectors.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// A source whose neighbours come in 16 bytes, where every leaf lies so in memory: neighbours along the reduced axes,
/// or along those that are kept.
template <class Bound>
class vector_source : public source<Bound> {
  using Base = source<Bound>;
  using Form = typename Base::Form;
  using Slots = std::make_integer_sequence<int, Bound::leaves>;
  using Group = axis_group<Base::rows, Bound::rank>;
  /// If all of an operand were one element repeated, vectors would be no gain.
  static constexpr bool may_broadcast = Bound::leaves > 1;

 public:
  using value_type = typename Base::value_type;
  using Position = typename Base::Position;
  /// Elements that a thread takes at once.
  static constexpr int vector_width = [] {
    constexpr int greatest = leaf_sizes<Form, Slots>::greatest(2);
    return greatest > 8 ? 1 : 16 / greatest;
  }();
  /// How many such vectors a thread should have under way.
  static constexpr int vectors_at_once = vectors_under_way<Form, Bound::leaves, vector_width>(4);

  vector_source(const Bound& bound, const bool* inner) : Base(bound, inner) {}

  /// Whether neighbours along the reduced axes may be read at once, from every multiple of their number on.
  bool in_vectors() const { return may_step() && in_vectors(this->inner_, this->outer_, false); }
  /// Whether neighbours along the kept axes may be.
  bool results_in_vectors() const { return may_step() && in_vectors(this->outer_, this->inner_, true); }
  /// Whether the reduced axes are walked in steps of one length.
  HEDDLE_HOST_DEVICE bool is_linear() const { return this->inner_.rank <= 1; }
  /// So many reduced elements on; Small: there are fewer than 2^31.
  template <bool Small = false>
  __device__ __forceinline__ Position ahead(const Position& position, index_t inner) const {
    Position moved = position;
    this->inner_.template advance<Small>(inner, moved.offset);
    return moved;
  }
  /// As ahead, where is_linear().
  __device__ __forceinline__ Position steps_ahead(const Position& position, int inner) const {
    Position moved;
#pragma unroll
    for (int r = 0; r < Base::rows; ++r)
      moved.offset[r] = position.offset[r] + this->inner_.stride[0][r] * static_cast<std::uint32_t>(inner);
    return moved;
  }
  /// V neighbours along the reduced axes (the first of which has a multiple of V in front), or along the kept ones.
  template <int V>
  __device__ __forceinline__ void load_vector(const Position& position, bool along_results,
                                              value_type (&values)[V]) const {
    registers_t<Form, Bound::leaves, V> registers;
    load_leaves<V>(registers, position, along_results ? this->outer_ : this->inner_, Slots{});
#pragma unroll
    for (int j = 0; j < V; ++j) values[j] = static_cast<value_type>(lane_value<Form>::at(this->form_, registers, 0, j));
  }

 private:
  template <int V, class Registers, int... S>
  __device__ __forceinline__ void load_leaves([[maybe_unused]] Registers& registers,
                                              [[maybe_unused]] const Position& position,
                                              [[maybe_unused]] const Group& along,
                                              std::integer_sequence<int, S...>) const {
    (on_cuda::load_vector<V>(slot<S>(registers), this->data_[S], position.offset[S],
                             V == 1 || (may_broadcast && step(along, S) == 0) ? 0 : 1, V),
     ...);
  }
  /// From one neighbour to the next.
  static HEDDLE_HOST_DEVICE index_t step(const Group& along, int leaf) { return along.stride[innermost(along)][leaf]; }
  static HEDDLE_HOST_DEVICE int innermost(const Group& along) { return along.rank > 0 ? along.rank - 1 : 0; }

  bool may_step() const { return is_linear() || this->inner_.small; }
  /// `whole`: a single axis must be a multiple of the width too.
  bool in_vectors(const Group& along, const Group& across, bool whole) const {
    if (Bound::leaves == 0 || along.rank == 0) return false;
    if ((whole || along.rank > 1) && along.extent[innermost(along)] % vector_width != 0) return false;
    return in_vectors(along, across, Slots{});
  }
  template <int... S>
  bool in_vectors(const Group& along, const Group& across, std::integer_sequence<int, S...>) const {
    return (leaf_in_vectors<typename leaf_type<S, Form>::type>(along, across, S) && ...);
  }
  template <class T>
  bool leaf_in_vectors(const Group& along, const Group& across, int leaf) const {
    if (step(along, leaf) == 0) return may_broadcast;
    constexpr std::size_t bytes =
        std::is_same_v<T, element_number> ? sizeof(T) * vector_width : alignof(vector_of<T, vector_width>);
    constexpr auto alignment = static_cast<index_t>(bytes / sizeof(T));
    if (step(along, leaf) != 1 || reinterpret_cast<std::uintptr_t>(this->data_[leaf]) % bytes != 0) return false;
    for (int a = 0; a < innermost(along); ++a)
      if (along.stride[a][leaf] % alignment != 0) return false;
    for (int a = 0; a < across.rank; ++a)
      if (across.stride[a][leaf] % alignment != 0) return false;
    return true;
  }
};

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
