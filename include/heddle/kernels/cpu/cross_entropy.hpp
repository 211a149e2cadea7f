// Cross entropy of rows of logits with integer labels on the CPU, the negative log-likelihood, and their gradients.
#pragma once

#include <cmath>

#include "heddle/core/error.hpp"
#include "heddle/kernels/cpu/rows.hpp"
#include "heddle/kernels/loss_terms.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cpu {

template <class Labels>
index_t label_at(const Labels& labels, index_t row) {
  return static_cast<index_t>(labels.load(labels.at(row), 0));
}

/// Throws IndexError for the first label that is neither a class nor passed over.
template <class Labels, class Real>
void check_labels(const Labels& labels, const class_rule<Real>& rule, index_t rows, const char* operation) {
  for (index_t row = 0; row < rows; ++row) {
    const index_t label = label_at(labels, row);
    if (!rule.is_ignored(label) && !rule.is_class(label))
      throw IndexError(Message{} << operation << ": label " << label << " of sample " << row << ", but there are "
                                 << rule.classes << " classes");
  }
}

/// The greatest element of a row and the sum of the exponentials of the distances from it.
template <class Source>
HEDDLE_ALWAYS_INLINE void find_exponentials(const row_reader<Source>& x, index_t columns,
                                            typename Source::value_type& greatest, typename Source::value_type& sum) {
  using T = typename Source::value_type;
  T values[chunk] = {}, lanes[chunk];
  for (int j = 0; j < chunk; ++j) lanes[j] = -static_cast<T>(__builtin_huge_valf());
  for (index_t column = 0; column < columns; column += chunk) {
    const int now = columns - column < chunk ? static_cast<int>(columns - column) : chunk;
    x.read(column, now, values);
    for (int j = now; j < chunk; ++j) values[j] = lanes[j];
    for (int j = 0; j < chunk; ++j) lanes[j] = values[j] > lanes[j] ? values[j] : lanes[j];
  }
  for (int half = chunk / 2; half > 0; half /= 2)
    for (int j = 0; j < half; ++j) lanes[j] = lanes[j + half] > lanes[j] ? lanes[j + half] : lanes[j];
  const T most = lanes[0];
  T sums[1];
  sum_row<1>(columns, sums, [&](index_t column, int now, T(&terms)[1][chunk]) {
    x.read(column, now, values);
    for (int j = 0; j < chunk; ++j) terms[0][j] = row_exp(values[j] - most);
  });
  greatest = most;
  sum = sums[0];
}

template <class Source, class Real>
struct cross_entropy_row {
  const Source& logits;
  const class_rule<Real>& rule;
  index_t row, label;
  Real* buffer;
  loss_term<Real>& term;

  HEDDLE_ALWAYS_INLINE void operator()() const {
    const row_reader<Source> x(logits, row, buffer);
    x.load(rule.classes);
    Real greatest, sum;
    find_exponentials(x, rule.classes, greatest, sum);
    const Real log_sum = std::log(sum);
    Real spread[1] = {Real{0}};
    if (rule.smoothing != Real{0}) {
      Real values[chunk] = {};
      sum_row<1>(rule.classes, spread, [&](index_t column, int now, Real(&terms)[1][chunk]) {
        x.read(column, now, values);
        for (int j = 0; j < chunk; ++j) terms[0][j] = (values[j] - greatest) - log_sum;
        if (rule.weight != nullptr)
          for (int j = 0; j < now; ++j) terms[0][j] *= rule.weight[column + j];
      });
    }
    const Real own = logits.load(logits.at(row), label);
    term = rule.term(label, log_sum - (own - greatest), spread[0]);
  }
};

/// put(row, term) for every row, threads sharing them. Labels have been checked.
template <class Source, class Labels, class Real, class Put>
void cross_entropy(const Source& logits, const Labels& labels, const class_rule<Real>& rule, index_t rows, Put put) {
  for_each_row<Real>(rows, rule.classes, 1, [&](index_t row, Real* buffer, index_t) {
    const index_t label = label_at(labels, row);
    loss_term<Real> term{Real{0}, Real{0}};
    if (!rule.is_ignored(label)) vectorised(cross_entropy_row<Source, Real>{logits, rule, row, label, buffer, term});
    put(row, term);
  });
}

template <class Source, class Real, class Sink>
struct cross_entropy_gradient_row {
  const Source& logits;
  const class_rule<Real>& rule;
  const Sink& sink;
  index_t row, label;
  Real dy, whole;  // whole: the sum of all classes' weights
  Real* buffer;

  HEDDLE_ALWAYS_INLINE void operator()() const {
    const index_t columns = rule.classes;
    if (rule.is_ignored(label)) {
      store_row<Real>(sink, row, columns, [&](index_t, int, Real(&values)[chunk]) {
        for (int j = 0; j < chunk; ++j) values[j] = Real{0};
      });
      return;
    }
    const row_reader<Source> x(logits, row, buffer);
    x.load(columns);
    Real greatest, sum;
    find_exponentials(x, columns, greatest, sum);
    const Real share = rule.smoothing / static_cast<Real>(columns);
    const Real own = (Real{1} - rule.smoothing) * rule.weight_of(label);
    const Real each = (own + share * whole) / sum;
    store_row<Real>(sink, row, columns, [&](index_t column, int now, Real(&values)[chunk]) {
      x.read(column, now, values);
      for (int j = 0; j < chunk; ++j) values[j] = row_exp(values[j] - greatest) * each;
      if (share != Real{0})
        for (int j = 0; j < now; ++j) values[j] -= share * rule.weight_of(column + j);
      if (label >= column && label < column + now) values[label - column] -= own;
      for (int j = 0; j < chunk; ++j) values[j] *= dy;
    });
  }
};

/// sink = the gradient of the logits; scale(row) is what each row's gradient is multiplied by.
template <class Source, class Labels, class Real, class Scale, class Sink>
void cross_entropy_gradient(const Source& logits, const Labels& labels, const class_rule<Real>& rule, Scale scale,
                            Real whole, const Sink& sink, index_t rows) {
  for_each_row<Real>(rows, rule.classes, 1, [&](index_t row, Real* buffer, index_t) {
    vectorised(cross_entropy_gradient_row<Source, Real, Sink>{logits, rule, sink, row, label_at(labels, row),
                                                              scale(row), whole, buffer});
  });
}

/// As cross_entropy of log-probabilities.
template <class Source, class Labels, class Real, class Put>
void nll_loss(const Source& x, const Labels& labels, const class_rule<Real>& rule, index_t rows, Put put) {
  parallel_for(rows, row_serial, [&](index_t begin, index_t end) {
    for (index_t row = begin; row < end; ++row) {
      const index_t label = label_at(labels, row);
      loss_term<Real> term{Real{0}, Real{0}};
      if (!rule.is_ignored(label)) term = rule.term(label, -x.load(x.at(row), label), Real{0});
      put(row, term);
    }
  });
}
/// sink = -weight at each label, 0 elsewhere, times scale(row).
template <class Labels, class Real, class Scale, class Sink>
void nll_loss_gradient(const Labels& labels, const class_rule<Real>& rule, Scale scale, const Sink& sink,
                       index_t rows) {
  parallel_for(rows, row_serial / (rule.classes + 1) + 1, [&](index_t begin, index_t end) {
    for (index_t row = begin; row < end; ++row) {
      const index_t label = label_at(labels, row);
      const Real own = rule.is_ignored(label) ? Real{0} : -rule.weight_of(label) * scale(row);
      store_row<Real>(sink, row, rule.classes, [&](index_t column, int now, Real(&values)[chunk]) {
        for (int j = 0; j < chunk; ++j) values[j] = Real{0};
        if (label >= column && label < column + now) values[label - column] = own;
      });
    }
  });
}

}  // namespace on_cpu
}  // namespace HEDDLE_BUILD
}  // namespace heddle
