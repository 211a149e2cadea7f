// Vectors of the length of a row, spread over the registers of the threads that take it.
#pragma once

#include "heddle/kernels/cuda/map.cuh"
#include "heddle/kernels/cuda/row_lanes.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// Which columns the registers of a thread stand for, where each row of a block is taken by the same threads.
template <int G, int V>
class row_places {
 public:
  __device__ __forceinline__ row_places(const row_plan& plan, int lane, int columns)
      : columns_(columns),
        whole_(plan.groups - 1),
        lanes_(plan.inner_mask + 1),
        first_(plan.vectors ? lane * V : lane),
        apart_(plan.vectors ? 1 : plan.inner_mask + 1),
        vectors_(plan.vectors) {}

  /// f(column, group, place) for every column that the thread holds.
  template <class F>
  __device__ __forceinline__ void each(F f) const {
#pragma unroll
    for (int i = 0; i < G; ++i) {
      if (i < G - 1 && i >= whole_) continue;
#pragma unroll
      for (int e = 0; e < V; ++e) {
        const int column = first_of(i) + e * apart_;
        if (i < G - 1 || column < columns_) f(column, i, e);
      }
    }
  }
  /// Dense elements, one a column; 0 for registers beyond the row's end.
  template <class T, class Real>
  __device__ __forceinline__ void load(const T* from, bool in_vectors, Real (&to)[G][V]) const {
#pragma unroll
    for (int i = 0; i < G; ++i) {
#pragma unroll
      for (int e = 0; e < V; ++e) to[i][e] = Real{0};
      if (!in_vectors || !holds(i)) continue;
      const auto vector = *reinterpret_cast<const vector_of<T, V>*>(from + first_of(i));
#pragma unroll
      for (int e = 0; e < V; ++e) to[i][e] = static_cast<Real>(vector.lane[e]);
    }
    if (!in_vectors) each([&](int column, int i, int e) { to[i][e] = static_cast<Real>(from[column]); });
  }
  /// Puts what the thread holds to dense elements, one a column, or adds it. Where rows are taken in vectors, these
  /// must fit `to`.
  template <class Real>
  __device__ __forceinline__ void store(Real* to, const Real (&from)[G][V], bool add) const {
    if (!vectors_) {
      each([&](int column, int i, int e) { to[column] = (add ? to[column] : Real{0}) + from[i][e]; });
      return;
    }
#pragma unroll
    for (int i = 0; i < G; ++i) {
      if (!holds(i)) continue;
      auto* const place = reinterpret_cast<vector_of<Real, V>*>(to + first_of(i));
      vector_of<Real, V> vector{};
      if (add) vector = *place;
#pragma unroll
      for (int e = 0; e < V; ++e) vector.lane[e] += from[i][e];
      *place = vector;
    }
  }

 private:
  __device__ __forceinline__ int first_of(int i) const { return (i < G - 1 ? i : whole_) * V * lanes_ + first_; }
  /// Whether a group's vector lies within the row.
  __device__ __forceinline__ bool holds(int i) const { return i < G - 1 ? i < whole_ : first_of(i) < columns_; }

  const int columns_, whole_, lanes_, first_, apart_;
  const bool vectors_;
};

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
