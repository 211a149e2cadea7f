// Several numbers an element: two operands side by side, sums of several terms.
#pragma once

#include <type_traits>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// The number type that an element's values are of.
template <class Value>
struct real_of {
  using type = Value;
};
/// Two operands of an operation on rows, element by element.
template <class Real>
struct element_pair {
  Real first, second;
  __device__ __forceinline__ element_pair& operator+=(const element_pair& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
};
template <class Real>
struct real_of<element_pair<Real>> {
  using type = Real;
};

/// Several numbers that are summed together.
template <class Real, int N>
struct element_sums {
  Real sum[N];
  __device__ __forceinline__ element_sums& operator+=(const element_sums& other) {
#pragma unroll
    for (int n = 0; n < N; ++n) sum[n] += other.sum[n];
    return *this;
  }
};

/// Two sources read side by side.
template <class First, class Second>
struct source_pair {
  static_assert(std::is_same_v<typename First::value_type, typename Second::value_type>);
  using value_type = element_pair<typename First::value_type>;
  static constexpr int vector_width =
      First::vector_width < Second::vector_width ? First::vector_width : Second::vector_width;
  static constexpr int leaves = First::leaves + Second::leaves;
  struct Position {
    typename First::Position first;
    typename Second::Position second;
  };
  struct Cursor {
    typename First::Cursor first;
    typename Second::Cursor second;
  };
  First first;
  Second second;

  template <int V>
  bool in_vectors() const {
    return first.template in_vectors<V>() && second.template in_vectors<V>();
  }
  bool has_cursor() const { return first.has_cursor() && second.has_cursor(); }
  HEDDLE_HOST_DEVICE bool broadcasts() const { return first.broadcasts() || second.broadcasts(); }
  bool inner_is_contiguous() const { return first.inner_is_contiguous() && second.inner_is_contiguous(); }

  __device__ __forceinline__ Position at(index_t row) const { return {first.at(row), second.at(row)}; }
  __device__ __forceinline__ value_type load(const Position& position, index_t column) const {
    return {first.load(position.first, column), second.load(position.second, column)};
  }
  __device__ __forceinline__ Cursor cursor(const Position& position, int column, int columns) const {
    return {first.cursor(position.first, column, columns), second.cursor(position.second, column, columns)};
  }
  __device__ __forceinline__ Cursor ahead(const Position& position, const Cursor& cursor, int column, int columns,
                                          int steps) const {
    return {first.ahead(position.first, cursor.first, column, columns, steps),
            second.ahead(position.second, cursor.second, column, columns, steps)};
  }
  __device__ __forceinline__ void step(Cursor& cursor) const {
    first.step(cursor.first);
    second.step(cursor.second);
  }
  template <int V, bool Broadcasts>
  __device__ __forceinline__ void load(const Cursor& cursor, value_type (&values)[V]) const {
    typename First::value_type a[V], b[V];
    first.template load<V, Broadcasts>(cursor.first, a);
    second.template load<V, Broadcasts>(cursor.second, b);
#pragma unroll
    for (int j = 0; j < V; ++j) values[j] = {a[j], b[j]};
  }
};

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
