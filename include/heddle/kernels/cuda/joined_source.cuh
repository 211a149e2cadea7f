// Two operands that a reduction on CUDA reads side by side.
#pragma once

#include "heddle/kernels/channel_sums.hpp"
#include "heddle/kernels/cuda/vector_source.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// Elements (first, second) of two operands of one shape.
template <class First, class Second>
struct joined_source {
  static_assert(std::is_same_v<typename First::value_type, typename Second::value_type>);
  using value_type = joined<typename First::value_type>;
  static constexpr int vector_width =
      First::vector_width < Second::vector_width ? First::vector_width : Second::vector_width;
  static constexpr int vectors_at_once = (First::vectors_at_once + 1) / 2;
  struct Position {
    typename First::Position first;
    typename Second::Position second;
  };
  First first;
  Second second;

  __device__ __forceinline__ Position at(index_t outer) const { return {first.at(outer), second.at(outer)}; }
  __device__ __forceinline__ value_type load(const Position& position, index_t inner) const {
    return {first.load(position.first, inner), second.load(position.second, inner)};
  }
  HEDDLE_HOST_DEVICE bool is_linear() const { return first.is_linear() && second.is_linear(); }
  template <bool Small = false>
  __device__ __forceinline__ Position ahead(const Position& position, index_t inner) const {
    return {first.template ahead<Small>(position.first, inner), second.template ahead<Small>(position.second, inner)};
  }
  __device__ __forceinline__ Position steps_ahead(const Position& position, int inner) const {
    return {first.steps_ahead(position.first, inner), second.steps_ahead(position.second, inner)};
  }
  template <int V>
  __device__ __forceinline__ void load_vector(const Position& position, bool along_results,
                                              value_type (&values)[V]) const {
    typename First::value_type left[V], right[V];
    first.template load_vector<V>(position.first, along_results, left);
    second.template load_vector<V>(position.second, along_results, right);
#pragma unroll
    for (int j = 0; j < V; ++j) values[j] = {left[j], right[j]};
  }
  bool in_vectors() const { return first.in_vectors() && second.in_vectors(); }
  bool results_in_vectors() const { return first.results_in_vectors() && second.results_in_vectors(); }
  bool inner_is_contiguous() const { return second.inner_is_contiguous(); }
  bool outer_is_contiguous() const { return second.outer_is_contiguous(); }
};

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
