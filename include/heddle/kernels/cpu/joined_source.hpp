// Two operands that a reduction on the CPU reads side by side.
#pragma once

#include "heddle/kernels/channel_sums.hpp"
#include "heddle/kernels/cpu/form.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

/// Elements (first, second) of two operands of one shape.
template <class Real>
class joined_source {
 public:
  using value_type = joined<Real>;
  struct Position {
    index_t outer;
  };

  joined_source(const value_source<Real>& first, const value_source<Real>& second) : first_(first), second_(second) {}

  Position at(index_t outer) const { return {outer}; }
  void load_chunk(const Position& position, index_t inner, value_type (&values)[chunk], int count) const {
    Real left[chunk], right[chunk];
    first_.load_chunk(first_.at(position.outer), inner, left, count);
    second_.load_chunk(second_.at(position.outer), inner, right, count);
    for (int j = 0; j < count; ++j) values[j] = {left[j], right[j]};
  }
  void load_outer_chunk(const Position& position, index_t inner, value_type (&values)[chunk], int count) const {
    Real left[chunk], right[chunk];
    first_.load_outer_chunk(first_.at(position.outer), inner, left, count);
    second_.load_outer_chunk(second_.at(position.outer), inner, right, count);
    for (int j = 0; j < count; ++j) values[j] = {left[j], right[j]};
  }
  bool inner_is_contiguous() const { return first_.inner_is_contiguous() && second_.inner_is_contiguous(); }
  bool outer_is_contiguous() const { return first_.outer_is_contiguous() && second_.outer_is_contiguous(); }

 private:
  value_source<Real> first_, second_;
};

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
