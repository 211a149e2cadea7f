// What classification losses are made of, for the kernels of every device.
#pragma once

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// One sample's share of a loss: its weighted loss, and the weight by which a mean divides.
template <class Real>
struct loss_term {
  Real loss, weight;
};

/// Classes, their weights and the label that is passed over.
template <class Real>
struct class_rule {
  const Real* weight;  ///< dense, one a class; null: all 1
  index_t classes;
  index_t ignored;
  Real smoothing;  ///< how much of a label is spread over all classes

  HEDDLE_HOST_DEVICE bool is_ignored(index_t label) const { return label == ignored; }
  HEDDLE_HOST_DEVICE bool is_class(index_t label) const { return label >= 0 && label < classes; }
  HEDDLE_HOST_DEVICE Real weight_of(index_t label) const { return weight == nullptr ? Real{1} : weight[label]; }
  /// Of the label's negative log-probability, and of the weighted sum of all log-probabilities.
  HEDDLE_HOST_DEVICE loss_term<Real> term(index_t label, Real negative, Real all) const {
    const Real own = weight_of(label);
    Real loss = own * negative;
    if (smoothing != Real{0}) loss = (Real{1} - smoothing) * loss - smoothing / static_cast<Real>(classes) * all;
    return {loss, own};
  }
};

/// The sum of losses, or their mean: divided by the sum of the weights. In double, since there are few.
template <class Real>
struct loss_reduction {
  using input = loss_term<Real>;
  using state = loss_term<double>;
  using result = Real;
  static constexpr const char* name = "cross_entropy";
  bool mean = false;
  static HEDDLE_HOST_DEVICE state identity() { return {}; }
  static HEDDLE_HOST_DEVICE void accumulate(state& all, const input& term, index_t) {
    all.loss += static_cast<double>(term.loss);
    all.weight += static_cast<double>(term.weight);
  }
  static HEDDLE_HOST_DEVICE void combine(state& left, const state& right) {
    left.loss += right.loss;
    left.weight += right.weight;
  }
  HEDDLE_HOST_DEVICE result finish(const state& all, index_t) const {
    return static_cast<Real>(mean ? all.loss / all.weight : all.loss);
  }
};

}  // namespace HEDDLE_BUILD
}  // namespace heddle
