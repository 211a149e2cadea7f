// Cross entropy of rows of logits with integer labels: each row is read once, as softmax reads it, and the losses are
// summed up in the same launch by the block that is the last to finish, in a fixed order. And the gradients.
#pragma once

#include "heddle/kernels/cuda/elements.cuh"
#include "heddle/kernels/cuda/reduce.cuh"
#include "heddle/kernels/cuda/softmax.cuh"
#include "heddle/kernels/loss_terms.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {
namespace on_cuda {

/// Labels as rows ask for them.
template <class Source>
struct label_reader {
  Source source;
  index_check check;

  __device__ __forceinline__ index_t at(index_t row) const {
    return static_cast<index_t>(source.load(source.at(row), index_t{0}));
  }
  /// Whether a sample counts; a label that is no class is reported.
  template <class Real>
  __device__ __forceinline__ bool counts(index_t label, const class_rule<Real>& rule) const {
    if (rule.is_ignored(label)) return false;
    if (rule.is_class(label)) return true;
    check.report(label);
    return false;
  }
};

/// For operations whose results are not stored element by element.
struct no_sink {
  struct Position {};
  struct Cursor {};
  static constexpr int leaves = 0;
  static bool has_cursor() { return true; }
  template <int V>
  static bool in_vectors() {
    return true;
  }
};

/// The losses themselves, one a row.
template <class Sink, class Real>
struct loss_of_rows {
  Sink sink;
  __device__ __forceinline__ void put(index_t row, const loss_term<Real>& term) const {
    sink.store(sink.at(row), index_t{0}, index_t{0}, term.loss);
  }
  __device__ __forceinline__ void finish(index_t) const {}
};
/// The rows' terms, to be summed up by the block that is the last to count itself (`counter` is null: later).
template <class Sink, class Real>
struct loss_of_all {
  Sink sink;
  loss_term<Real>* terms;
  unsigned* counter;
  loss_reduction<Real> reduction;

  __device__ __forceinline__ void put(index_t row, const loss_term<Real>& term) const { terms[row] = term; }
  __device__ void finish(index_t rows) const {
    using State = typename loss_reduction<Real>::state;
    __shared__ State states[1024 / warp_size];
    __shared__ bool is_last;
    if (counter == nullptr) return;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(counter, 1U) == gridDim.x - 1;
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    const auto combine = [](State& left, const State& right) { loss_reduction<Real>::combine(left, right); };
    State state = loss_reduction<Real>::identity();
    for (index_t row = threadIdx.x; row < rows; row += blockDim.x)
      loss_reduction<Real>::accumulate(state, terms[row], row);
    for (int distance = warp_size / 2; distance > 0; distance /= 2) combine(state, shuffle_xor(state, distance));
    if (threadIdx.x % warp_size == 0) states[threadIdx.x / warp_size] = state;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (unsigned warp = 1; warp < blockDim.x / warp_size; ++warp) combine(state, states[warp]);
    sink.store(sink.at(0), index_t{0}, index_t{0}, reduction.finish(state, rows));
  }
};

template <class Labels, class Real, class Losses>
struct cross_entropy_rows {
  static constexpr bool light = true;
  Labels labels;
  class_rule<Real> rule;
  Losses losses;
  index_t rows;
  template <class Value>
  static __device__ Value beyond() {
    return minus_infinity<Value>();
  }

  template <class Row>
  __device__ __forceinline__ void operator()(Row& row, const no_sink&, const uint4*) const {
    const auto all = row_exponentials(row, [](Real&, Real) {});
    Real spread{0};
    if (rule.smoothing != Real{0}) {
      const Real log_sum = row_log(all.sum);
      spread = row.sum_by_column(
          [&](Real x, index_t column) { return rule.weight_of(column) * ((x - all.greatest) - log_sum); });
    }
    if (row.is_first_lane() && row.is_row()) {
      const index_t label = labels.at(row.index());
      loss_term<Real> term{Real{0}, Real{0}};
      if (labels.counts(label, rule))
        term = rule.term(label, row_log(all.sum) - (row.element(label) - all.greatest), spread);
      losses.put(row.index(), term);
    }
    losses.finish(rows);
  }
};

/// What a loss's gradient is multiplied by: the loss's own gradient for each row or for all, over the sum of weights
/// for a mean.
template <class Source, class Real>
struct loss_gradient_scale {
  Source source;
  bool by_row;
  const Real* divisor;  // null: 1
  __device__ __forceinline__ Real at(index_t row) const {
    const Real own = static_cast<Real>(source.load(source.at(by_row ? row : index_t{0}), index_t{0}));
    return divisor == nullptr ? own : own / *divisor;
  }
};

template <class Labels, class Real, class Scale>
struct cross_entropy_gradient_rows {
  static constexpr bool light = false;
  Labels labels;
  class_rule<Real> rule;
  Scale scale;
  const Real* weight_sum;  // of all classes; null: their number
  template <class Value>
  static __device__ Value beyond() {
    return minus_infinity<Value>();
  }

  template <class Row, class Sink>
  __device__ __forceinline__ void operator()(Row& row, const Sink& sink, const uint4* staged) const {
    const auto all = row_exponentials(row, [](Real& x, Real power) { x = power; });
    const index_t place = row.is_row() ? row.index() : 0;
    const index_t label = labels.at(place);
    const bool counts = row.is_row() && labels.counts(label, rule);
    const Real dy = counts ? scale.at(place) : Real{0};
    const Real share = rule.smoothing / static_cast<Real>(rule.classes);
    const Real own = counts ? (Real{1} - rule.smoothing) * rule.weight_of(label) : Real{0};
    const Real whole = weight_sum == nullptr ? static_cast<Real>(rule.classes) : *weight_sum;
    const Real each = (own + share * whole) / all.sum;
    const auto gradient = [&](Real power, index_t column) {
      if (!counts) return Real{0};
      Real value = power * each;
      if (share != Real{0}) value -= share * rule.weight_of(column);
      return dy * (column == label ? value - own : value);
    };
    if constexpr (Row::held) {
      // Powers are by each warp's own greatest element.
      const Real shift = row_exp(all.near - all.greatest);
      row.store(sink, staged,
                [&](Real& x, int i, int e) { return gradient(x * shift, static_cast<index_t>(row.column(i, e))); });
    } else {
      row.store_by_column(sink, [&](Real x, index_t column) { return gradient(row_exp(x - all.greatest), column); });
    }
  }
};

/// The losses of rows of logits, through a sink for each row.
template <class Source, class Labels, class Sink>
inline void cross_entropy_of_rows(const Source& logits, const Labels& labels,
                                  const class_rule<typename Source::value_type>& rule, const Sink& sink, index_t rows,
                                  const launch_context& context) {
  using Real = typename Source::value_type;
  using Losses = loss_of_rows<Sink, Real>;
  row_wise(cross_entropy_rows<Labels, Real, Losses>{labels, rule, Losses{sink}, rows}, logits, no_sink{}, rows,
           rule.classes, context);
}

/// Terms that were left in memory, as a reduction reads them.
template <class Real>
struct term_source {
  using value_type = loss_term<Real>;
  struct Position {};
  const loss_term<Real>* terms;
  __device__ Position at(index_t) const { return {}; }
  __device__ loss_term<Real> load(const Position&, index_t row) const { return terms[row]; }
};

/// Their sum or mean. One launch up to as many rows as a reduction takes in one.
template <class Source, class Labels, class Sink>
inline void cross_entropy_of_all(const Source& logits, const Labels& labels,
                                 const class_rule<typename Source::value_type>& rule, const Sink& sink, bool mean,
                                 index_t rows, const launch_context& context) {
  using Real = typename Source::value_type;
  using Losses = loss_of_all<Sink, Real>;
  using Term = loss_term<Real>;
  const loss_reduction<Real> reduction{mean};
  // The counter stands before the terms.
  const StorageHandle memory(cuda::allocate(static_cast<std::size_t>(rows) * sizeof(Term) + 16, Cuda{context.device}));
  unsigned* const counter = static_cast<unsigned*>(memory->data);
  Term* const terms = reinterpret_cast<Term*>(static_cast<char*>(memory->data) + 16);
  const bool at_once = rows > 0 && rows <= reduce_one_launch;
  if (at_once) {
    const cuda::DeviceGuard guard(Cuda{context.device});
    cuda::check(cudaMemsetAsync(counter, 0, sizeof(unsigned), context.stream), context.operation);
  }
  row_wise(cross_entropy_rows<Labels, Real, Losses>{labels, rule,
                                                    Losses{sink, terms, at_once ? counter : nullptr, reduction}, rows},
           logits, no_sink{}, rows, rule.classes, context);
  if (!at_once) reduce<loss_reduction<Real>>(term_source<Real>{terms}, sink, 1, rows, context, reduction);
}

/// sink = the gradient of the logits.
template <class Source, class Labels, class Scale, class Sink>
inline void cross_entropy_gradient(const Source& logits, const Labels& labels,
                                   const class_rule<typename Source::value_type>& rule, const Scale& scale,
                                   const typename Source::value_type* weight_sum, const Sink& sink, index_t rows,
                                   const launch_context& context) {
  row_wise(cross_entropy_gradient_rows<Labels, typename Source::value_type, Scale>{labels, rule, scale, weight_sum},
           logits, sink, rows, rule.classes, context);
}

}  // namespace on_cuda
}  // namespace HEDDLE_BUILD
}  // namespace heddle
