// What normalisations reduce to a channel each: the distribution of its elements, and what the gradients are made of.
#pragma once

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/moments.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// One element of each of two operands.
template <class Real>
struct joined {
  Real first, second;
};

/// A channel's distribution. The mean is `shift` + `mean`: in two parts it is exact enough for elements whose mean is
/// far from 0, and elements that are all equal give exactly 0.
template <class Real>
struct channel_moments {
  Real shift, mean, squares;
  index_t count;

  HEDDLE_HOST_DEVICE Real variance() const { return squares / static_cast<Real>(count); }
};

/// The distribution of a channel's elements.
template <class Real>
struct moments_reduction {
  using input = Real;
  using state = shifted_moments<Real>;
  using result = channel_moments<Real>;
  static constexpr const char* name = "batch_norm";
  static HEDDLE_HOST_DEVICE state identity() { return {}; }
  static HEDDLE_HOST_DEVICE void accumulate(state& all, input x, index_t) { all.add(x); }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) { left.combine(right); }
  static HEDDLE_HOST_DEVICE result finish(const state& all, index_t count) {
    return {all.shift, all.sum / static_cast<Real>(count), all.spread(), count};
  }
};

/// The sums of g and of g y, for elements (g, y).
template <class Real>
struct gradient_sums_reduction {
  using input = joined<Real>;
  using state = joined<Real>;
  using result = joined<Real>;
  static constexpr const char* name = "norm_grad";
  static HEDDLE_HOST_DEVICE state identity() { return {}; }
  static HEDDLE_HOST_DEVICE void accumulate(state& all, const input& element, index_t) {
    all.first += element.first;
    all.second += element.first * element.second;
  }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) {
    left.first += right.first;
    left.second += right.second;
  }
  static HEDDLE_HOST_DEVICE result finish(const state& all, index_t) { return all; }
};

/// A channel's distribution, and the sums of its gradient and of that times the distances from the mean.
template <class Real>
struct channel_gradient : channel_moments<Real> {
  Real gradient, product;
};
/// All that the gradient of a batch normalisation needs to know of elements (g, x), in one pass. Products are of the
/// distances from the moments' shift until the end.
template <class Real>
struct batch_gradient_reduction {
  using input = joined<Real>;
  struct state {
    shifted_moments<Real> of_x;
    Real gradient, product;
  };
  using result = channel_gradient<Real>;
  static constexpr const char* name = "batch_norm_grad";
  static HEDDLE_HOST_DEVICE state identity() { return {}; }
  static HEDDLE_HOST_DEVICE void accumulate(state& all, const input& element, index_t) {
    all.of_x.add(element.second);
    all.gradient += element.first;
    all.product += element.first * (element.second - all.of_x.shift);
  }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) {
    if (right.of_x.count == Real{0}) return;
    const Real before = left.of_x.count == Real{0} ? right.of_x.shift : left.of_x.shift;
    left.of_x.combine(right.of_x);
    left.product += (before - left.of_x.shift) * left.gradient;
    left.product += right.product + (right.of_x.shift - left.of_x.shift) * right.gradient;
    left.gradient += right.gradient;
  }
  static HEDDLE_HOST_DEVICE result finish(const state& all, index_t count) {
    const channel_moments<Real> of_x = moments_reduction<Real>::finish(all.of_x, count);
    return {of_x, all.gradient, all.product - of_x.mean * all.gradient};
  }
};

}  // namespace HEDDLE_BUILD
}  // namespace heddle
