// Elementwise on CUDA: one launch and one pass over memory, whatever the formula. Adjacent axes are collapsed on the
// host. Where the innermost axis allows it, a thread reads and writes 16 bytes at a time; broadcast leaves have stride
// 0. Other layouts go element by element. Bytes moved: each leaf once, the output once; the floor is those bytes over
// the DRAM's rate.
#pragma once

#include "heddle/kernels/cuda/form.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

inline constexpr int map_block = 256;

/// What the map kernels receive. Row 0 of the strides is the output's.
template <class Form, class Out, int Leaves, int Rank>
struct map_arguments {
  static constexpr int rows = Leaves + 1;
  static constexpr int capacity = Rank > 0 ? Rank : 1;
  Form form;
  Out* out;
  const void* data[static_cast<std::size_t>(Leaves > 0 ? Leaves : 1)];
  index_t size = 1;
  int rank = 0;
  index_t extent[static_cast<std::size_t>(capacity)] = {};
  fast_divisor divisor[static_cast<std::size_t>(capacity)];  ///< of extents, the innermost in vectors
  index_t stride[static_cast<std::size_t>(rows)][static_cast<std::size_t>(capacity)] = {};
};

template <class Form, class Slots>
struct leaf_sizes;
template <class Form, int... S>
struct leaf_sizes<Form, std::integer_sequence<int, S...>> {
  static constexpr int smallest(int with) {
    ((with = static_cast<int>(sizeof(typename leaf_type<S, Form>::type)) < with
                 ? static_cast<int>(sizeof(typename leaf_type<S, Form>::type))
                 : with),
     ...);
    return with;
  }
  static constexpr int greatest(int with) {
    ((with = static_cast<int>(sizeof(typename leaf_type<S, Form>::type)) > with
                 ? static_cast<int>(sizeof(typename leaf_type<S, Form>::type))
                 : with),
     ...);
    return with;
  }
};

/// Elements a thread takes at once: 16 bytes of the smallest type, at most 64 of the greatest.
template <class Form, class Out, int Leaves>
constexpr int vector_lanes() {
  using sizes = leaf_sizes<Form, std::make_integer_sequence<int, Leaves>>;
  constexpr int most = 16 / sizes::smallest(sizeof(Out));
  constexpr int bound = 64 / sizes::greatest(sizeof(Out));
  return most < bound ? most : bound;
}

/// V elements as memory moves them: in pieces of 16 bytes, or what there is.
template <class T, int V>
struct alignas((sizeof(T) * V < 16) ? sizeof(T) * V : 16) vector_of {
  T lane[V];
};

template <int V, class T>
__device__ __forceinline__ void load_vector(register_lanes<T, V>& to, const void* data, index_t offset,
                                            index_t inner_stride, int valid) {
  if constexpr (std::is_same_v<T, element_number>) {
    // Neighbours begin at a multiple of V, and said like this the compiler knows it: random maps then compute the
    // generator's words once for all of a group.
    const index_t first = number_at(data, offset);
#pragma unroll
    for (int j = 0; j < V; ++j) to.lane[j].value = inner_stride == 0 ? first : (first & ~index_t{V - 1}) | j;
    return;
  }
  const T* const from = static_cast<const T*>(data) + offset;
  if (inner_stride == 0) {
    const T value = *from;
#pragma unroll
    for (int j = 0; j < V; ++j) to.lane[j] = value;
  } else if (valid == V) {
    const auto vector = *reinterpret_cast<const vector_of<T, V>*>(from);
#pragma unroll
    for (int j = 0; j < V; ++j) to.lane[j] = vector.lane[j];
  } else {
#pragma unroll
    for (int j = 0; j < V; ++j) to.lane[j] = from[j < valid ? j : 0];
  }
}

template <class Form, int V, class Registers, class Arguments, int... S>
__device__ __forceinline__ void load_vectors(Registers& registers, const Arguments& arguments, const index_t* offset,
                                             int valid, std::integer_sequence<int, S...>) {
  (load_vector<V>(slot<S>(registers), arguments.data[S], offset[S + 1],
                  arguments.rank > 0 ? arguments.stride[S + 1][arguments.rank - 1] : 0, valid),
   ...);
}

/// A thread computes V neighbours along the innermost axis, whose extent is a multiple of V unless it is the only axis.
template <class Form, class Out, int Leaves, int Rank, int V>
__global__ void __launch_bounds__(map_block)
    map_vectors(const __grid_constant__ map_arguments<Form, Out, Leaves, Rank> arguments, std::uint32_t vectors) {
  constexpr int rows = Leaves + 1;
  const std::uint32_t vector = blockIdx.x * static_cast<std::uint32_t>(map_block) + threadIdx.x;
  if (vector >= vectors) return;
  index_t offset[rows] = {};
  int valid = V;
  if (arguments.rank <= 1) {
    const index_t first = static_cast<index_t>(vector) * V;
#pragma unroll
    for (int r = 0; r < rows; ++r) offset[r] = arguments.stride[r][0] == 0 ? 0 : first;
    if (arguments.size - first < V) valid = static_cast<int>(arguments.size - first);
  } else {
    std::uint32_t rest = vector;
#pragma unroll
    for (int a = Rank - 1; a >= 0; --a) {
      if (a >= arguments.rank) continue;
      std::uint32_t coordinate = rest;
      if (a > 0) {
        const std::uint32_t quotient = arguments.divisor[a].divide(rest);
        coordinate = rest - quotient * arguments.divisor[a].divisor;
        rest = quotient;
      }
      const std::uint32_t steps = a == arguments.rank - 1 ? coordinate * V : coordinate;
#pragma unroll
      for (int r = 0; r < rows; ++r) offset[r] += static_cast<index_t>(steps) * arguments.stride[r][a];
    }
  }
  registers_t<Form, Leaves, V> registers;
  load_vectors<Form, V>(registers, arguments, offset, valid, std::make_integer_sequence<int, Leaves>{});
  vector_of<Out, V> result;
#pragma unroll
  for (int j = 0; j < V; ++j) result.lane[j] = cast_element<Out>(lane_value<Form>::at(arguments.form, registers, 0, j));
  Out* const to = arguments.out + offset[0];
  if (valid == V) {
    *reinterpret_cast<vector_of<Out, V>*>(to) = result;
  } else {
#pragma unroll
    for (int j = 0; j < V; ++j)
      if (j < valid) to[j] = result.lane[j];
  }
}

/// A thread computes one element, whatever the strides; Index is 32 bits wide where the size fits fast division. No
/// loop over elements: the compiler's time to reduce its addresses would double with every leaf.
template <class Form, class Out, int Leaves, int Rank, class Index>
__global__ void __launch_bounds__(map_block)
    map_elements(const __grid_constant__ map_arguments<Form, Out, Leaves, Rank> arguments) {
  constexpr int rows = Leaves + 1;
  const Index element = static_cast<Index>(blockIdx.x) * map_block + threadIdx.x;
  if (element >= static_cast<Index>(arguments.size)) return;
  index_t offset[rows] = {};
  Index rest = element;
#pragma unroll
  for (int a = Rank - 1; a >= 0; --a) {
    if (a >= arguments.rank) continue;
    Index coordinate = rest;
    if (a > 0) {
      Index quotient;
      if constexpr (sizeof(Index) == 4)
        quotient = arguments.divisor[a].divide(rest);
      else
        quotient = rest / static_cast<Index>(arguments.extent[a]);
      coordinate = rest - quotient * static_cast<Index>(arguments.extent[a]);
      rest = quotient;
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) offset[r] += static_cast<index_t>(coordinate) * arguments.stride[r][a];
  }
  registers_t<Form, Leaves, 1> registers;
  load_element<Form>(registers, arguments.data, offset + 1, std::make_integer_sequence<int, Leaves>{});
  arguments.out[offset[0]] = cast_element<Out>(lane_value<Form>::at(arguments.form, registers, 0, 0));
}

/// Whether a row can be read V elements at a time: one step along the innermost axis (or none), all else a multiple of
/// V.
template <int V, class T>
bool reads_vectors(const void* data, const index_t* stride, int rank) {
  constexpr std::uintptr_t alignment = std::is_same_v<T, element_number> ? sizeof(T) * V : alignof(vector_of<T, V>);
  if (rank == 0) return true;
  if (stride[rank - 1] == 0) return true;
  if (stride[rank - 1] != 1 || reinterpret_cast<std::uintptr_t>(data) % alignment != 0) return false;
  for (int a = 0; a < rank - 1; ++a)
    if (stride[a] * static_cast<index_t>(sizeof(T)) % static_cast<index_t>(alignment) != 0) return false;
  return true;
}

template <class Form, int V, class Arguments, int... S>
bool all_read_vectors(const Arguments& arguments, std::integer_sequence<int, S...>) {
  return (
      reads_vectors<V, typename leaf_type<S, Form>::type>(arguments.data[S], arguments.stride[S + 1], arguments.rank) &&
      ...);
}

/// Computes a bound formula of maps into its output: one launch. AnyLayout: only the slower kernel that takes every
/// layout and size is compiled.
template <bool AnyLayout = false, class Form, class Out, int Leaves, int Rank>
void map(const bound_formula<Form, Out, Leaves, Rank>& bound, const launch_context& context) {
  using Arguments = map_arguments<Form, Out, Leaves, Rank>;
  static_assert(std::is_trivially_copyable_v<Arguments>, "a functor in a formula must be trivially copyable");
  static_assert(sizeof(Arguments) <= max_parameter_bytes, "this formula is too large for one kernel");
  constexpr int V = vector_lanes<Form, Out, Leaves>();

  Arguments arguments{.form = bound.form, .out = bound.out};
  for (int r = 0; r < Leaves; ++r) arguments.data[r] = bound.table.data[r];
  if constexpr (Rank > 0) {
    for (int i = 0; i < Rank; ++i) {
      arguments.extent[i] = bound.shape[i];
      arguments.size *= bound.shape[i];
      arguments.stride[0][i] = bound.out_stride[i];
      for (int r = 0; r < Leaves; ++r) arguments.stride[r + 1][i] = bound.table.stride[r][i];
    }
    arguments.rank =
        collapse_axes(Rank, arguments.extent, &arguments.stride[0][0], Leaves + 1, Arguments::capacity, true);
  }
  if (arguments.size == 0) return;

  const int rank = arguments.rank;
  if constexpr (!AnyLayout) {
    const index_t vectors = (arguments.size + V - 1) / V;
    const bool by_vectors = (rank == 0 || arguments.stride[0][rank - 1] == 1) &&
                            (rank <= 1 || arguments.extent[rank - 1] % V == 0) && vectors <= fast_division_limit &&
                            reads_vectors<V, Out>(arguments.out, arguments.stride[0], rank) &&
                            all_read_vectors<Form, V>(arguments, std::make_integer_sequence<int, Leaves>{});
    if (by_vectors || arguments.size <= fast_division_limit) {
      for (int a = 1; a < rank; ++a) {
        const index_t extent = by_vectors && a == rank - 1 ? arguments.extent[a] / V : arguments.extent[a];
        arguments.divisor[a] = fast_divisor(static_cast<std::uint32_t>(extent));
      }
    }
    if (by_vectors)
      return launch(map_vectors<Form, Out, Leaves, Rank, V>, grid_for(vectors, map_block), map_block, 0, context,
                    arguments, static_cast<std::uint32_t>(vectors));
    if (arguments.size <= fast_division_limit)
      return launch(map_elements<Form, Out, Leaves, Rank, std::uint32_t>, grid_for(arguments.size, map_block),
                    map_block, 0, context, arguments);
  }
  launch(map_elements<Form, Out, Leaves, Rank, std::uint64_t>, grid_for(arguments.size, map_block), map_block, 0,
         context, arguments);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
