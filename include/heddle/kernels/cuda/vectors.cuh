// Several neighbouring elements of a formula at once, as memory moves them: 16 bytes a thread and access.
#pragma once

#include "heddle/kernels/cuda/form.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

template <class T>
inline constexpr int bytes_in_memory = static_cast<int>(sizeof(T));
template <>
inline constexpr int bytes_in_memory<element_number> = 0;

template <class Form, class Slots>
struct leaf_sizes;
template <class Form, int... S>
struct leaf_sizes<Form, std::integer_sequence<int, S...>> {
  static constexpr bool any_double = (false || ... || std::is_same_v<typename leaf_type<S, Form>::type, double>);
  static constexpr int sum() { return (0 + ... + static_cast<int>(sizeof(typename leaf_type<S, Form>::type))); }
  /// The greatest, of leaves that lie in memory.
  static constexpr int greatest(int with) {
    ((with = bytes_in_memory<typename leaf_type<S, Form>::type> > with
                 ? bytes_in_memory<typename leaf_type<S, Form>::type>
                 : with),
     ...);
    return with;
  }
};

/// Elements a thread takes at once: 16 bytes of the greatest type, so that neighbouring threads read and write
/// neighbouring bytes of all of them.
template <class Form, class Out, int Leaves>
constexpr int vector_lanes() {
  return 16 / leaf_sizes<Form, std::make_integer_sequence<int, Leaves>>::greatest(static_cast<int>(sizeof(Out)));
}

/// double's functions call others, and what is in registers meanwhile is spilled soon.
template <class Form, int Leaves>
inline constexpr bool has_double = leaf_sizes<Form, std::make_integer_sequence<int, Leaves>>::any_double;

/// How many vectors of V elements a thread best has under way at once, `most` at most: what all leaves take of them
/// must fit in registers.
template <class Form, int Leaves, int V>
constexpr int vectors_under_way(int most) {
  constexpr int budget = 256;  // bytes
  const int bytes = leaf_sizes<Form, std::make_integer_sequence<int, Leaves>>::sum() * V;
  while (most > 1 && most * bytes > budget) most /= 2;
  return most;
}

/// V elements as memory moves them: in pieces of 16 bytes, or what there is.
template <class T, int V>
struct alignas((sizeof(T) * V < 16) ? sizeof(T) * V : 16) vector_of {
  T lane[V];
};

/// Of V neighbours those from `first` to before `valid` are there to be read; `single`: they lie in memory anyhow, but
/// not at a multiple of their size.
template <int V, class T>
__device__ __forceinline__ void load_vector(register_lanes<T, V>& to, const void* data, index_t offset,
                                            index_t inner_stride, int valid, int first = 0, bool single = false) {
  if constexpr (std::is_same_v<T, element_number>) {
    // Neighbours begin at a multiple of V, and said like this the compiler knows it: random maps then compute the
    // generator's words once for all of a group.
    const index_t number = number_at(data, offset);
#pragma unroll
    for (int j = 0; j < V; ++j) to.lane[j].value = inner_stride == 0 ? number : (number & ~index_t{V - 1}) | j;
    return;
  }
  const T* const from = static_cast<const T*>(data) + offset;
  if (inner_stride == 0) {
    const T value = *from;
#pragma unroll
    for (int j = 0; j < V; ++j) to.lane[j] = value;
  } else if (valid - first == V && !single) {
    const auto vector = *reinterpret_cast<const vector_of<T, V>*>(from);
#pragma unroll
    for (int j = 0; j < V; ++j) to.lane[j] = vector.lane[j];
  } else {
#pragma unroll
    for (int j = 0; j < V; ++j) to.lane[j] = from[j >= first && j < valid ? j : first];
  }
}

template <class T>
inline constexpr bool is_number_v = std::is_same_v<T, element_number>;

template <class Out, int V, class Form>
__device__ __forceinline__ vector_of<Out, V> vector_value(const Form& form, const auto& registers) {
  vector_of<Out, V> result;
#pragma unroll
  for (int j = 0; j < V; ++j) result.lane[j] = cast_element<Out>(lane_value<Form>::at(form, registers, 0, j));
  return result;
}
template <int V, class Form, class Out>
__device__ __forceinline__ void store_value(const Form& form, const auto& registers, Out* out) {
  *reinterpret_cast<vector_of<Out, V>*>(out) = vector_value<Out, V>(form, registers);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
