// The negative log-likelihood of labels, its gradient, and the sum of labels' weights.
#pragma once

#include "heddle/kernels/cuda/cross_entropy.cuh"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// Each row's term as a reduction reads it: the rows after one another, from `outer` on.
template <class Source, class Labels, class Real>
struct picked_source {
  using value_type = loss_term<Real>;
  struct Position {
    index_t first;
  };
  Source x;
  Labels labels;
  class_rule<Real> rule;

  __device__ Position at(index_t outer) const { return {outer}; }
  __device__ loss_term<Real> load(const Position& position, index_t inner) const {
    const index_t row = position.first + inner;
    const index_t label = labels.at(row);
    if (!labels.counts(label, rule)) return {Real{0}, Real{0}};
    return rule.term(label, -x.load(x.at(row), label), Real{0});
  }
};
template <class Source, class Labels, class Sink>
inline void nll_loss(const Source& x, const Labels& labels, const class_rule<typename Source::value_type>& rule,
                     const Sink& sink, bool by_row, bool mean, index_t rows, const launch_context& context) {
  using Real = typename Source::value_type;
  const picked_source<Source, Labels, Real> picked{x, labels, rule};
  reduce<loss_reduction<Real>>(picked, sink, by_row ? rows : 1, by_row ? 1 : rows, context, loss_reduction<Real>{mean});
}

/// The weights of the labels that count.
template <class Labels, class Real>
struct label_weight_source {
  using value_type = loss_term<Real>;
  struct Position {};
  Labels labels;
  class_rule<Real> rule;
  __device__ Position at(index_t) const { return {}; }
  __device__ loss_term<Real> load(const Position&, index_t row) const {
    const index_t label = labels.at(row);
    return {!rule.is_ignored(label) && rule.is_class(label) ? rule.weight_of(label) : Real{0}, Real{0}};
  }
};
template <class Real>
struct number_sink {
  struct Position {};
  Real* to;
  __device__ Position at(index_t) const { return {}; }
  __device__ void store(const Position&, index_t, index_t, Real value) const { *to = value; }
};
template <class Labels, class Real>
inline void sum_label_weights(const Labels& labels, const class_rule<Real>& rule, Real* sum, index_t rows,
                              const launch_context& context) {
  reduce<loss_reduction<Real>>(label_weight_source<Labels, Real>{labels, rule}, number_sink<Real>{sum}, 1, rows,
                               context);
}

/// One thread an element: -weight at the label, 0 elsewhere.
template <class Labels, class Real, class Scale, class Sink>
__global__ void __launch_bounds__(256)
    nll_loss_gradient_kernel(const __grid_constant__ Labels labels, const __grid_constant__ class_rule<Real> rule,
                             const __grid_constant__ Scale scale, const __grid_constant__ Sink sink, index_t rows,
                             bool columns_are_near) {
  const index_t element = static_cast<index_t>(blockIdx.x) * 256 + threadIdx.x;
  if (element >= rows * rule.classes) return;
  const index_t row = columns_are_near ? element / rule.classes : element % rows;
  const index_t column = columns_are_near ? element % rule.classes : element / rows;
  const index_t label = labels.at(row);
  Real value{0};
  // A label that is no class is reported by the thread of the first column.
  if (column == label || (column == 0 && !rule.is_class(label))) {
    if (labels.counts(label, rule)) value = -rule.weight_of(label) * scale.at(row);
  }
  sink.store(sink.at(row), index_t{0}, column, value);
}
template <class Labels, class Real, class Scale, class Sink>
inline void nll_loss_gradient(const Labels& labels, const class_rule<Real>& rule, const Scale& scale, const Sink& sink,
                              index_t rows, const launch_context& context) {
  launch(nll_loss_gradient_kernel<Labels, Real, Scale, Sink>, dim3(blocks_for(rows * rule.classes, 256)), dim3(256), 0,
         context, labels, rule, scale, sink, rows, sink.inner_is_contiguous());
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
