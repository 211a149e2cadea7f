// Classification losses and their gradients: cross_entropy of logits, nll_loss of log-probabilities, with integer
// labels (or, for cross_entropy, a distribution over the classes).
//
// The classes are axis 1 of the first operand (axis 0 where that is its only one); labels have its shape without that
// axis. A label that is neither a class nor ignore_index is an error: on Cpu an IndexError that names it and the number
// of classes, thrown before anything is written; on Cuda, whose kernels can't throw, the sample counts as 0 and the
// next synchronisation with the device throws a DeviceError that says as much. Nothing outside of a row is ever read.
//
// reduction::mean, the default, divides the sum of the weighted losses by the sum of the weights of the labels that
// count: where all are ignored it is 0 / 0 = NaN, as in PyTorch, and its gradient is 0.
#pragma once

#include "heddle/kernels/cpu/cross_entropy.hpp"
#include "heddle/kernels/cpu/row_form.hpp"
#include "heddle/ops/index.hpp"
#include "heddle/ops/loss.hpp"
#include "heddle/ops/norm.hpp"
#include "heddle/ops/softmax.hpp"
#if HEDDLE_CUDA_COMPILER
#include "heddle/kernels/cuda/nll_loss.cuh"
#include "heddle/kernels/cuda/row_form.cuh"
#endif

namespace heddle {
inline namespace HEDDLE_BUILD {

/// The settings of cross_entropy; of nll_loss the first one.
struct cross_entropy_options {
  index_t ignore_index = -100;
  double label_smoothing = 0;
};

/// Rows, labels and weights of a classification loss, checked.
template <class Logits, class Labels>
class labelled_rows {
 public:
  using Real = compute_type<typename Logits::value_type>;
  using Device = typename Logits::device_type;
  static constexpr int class_axis = Logits::rank == 1 ? 0 : 1;

  template <class W>
  labelled_rows(const char* operation, Logits logits, Labels labels, W&& weight, const cross_entropy_options& options)
      : logits_(std::move(logits)), labels_(std::move(labels)), options_(options), operation_(operation) {
    static_assert(Logits::rank >= 1, "the first operand has an axis of classes");
    static_assert(Labels::rank == Logits::rank - 1,
                  "labels have the first operand's shape without the axis of classes");
    require_same_device(logits_.device(), labels_.device());
    const auto shape = logits_.shape();
    const auto own = labels_.shape();
    bool fits = true;
    if constexpr (Labels::rank > 0) {
      for (int i = 0; i < Labels::rank; ++i) fits = fits && own[i] == shape[i < class_axis ? i : i + 1];
    }
    if (!fits)
      throw ShapeError(Message{} << operation << ": labels of shape " << own << " for an operand of shape " << shape
                                 << ", whose axis " << class_axis << " is the classes");
    if (classes() == 0 && own.size() > 0)
      throw ShapeError(Message{} << operation << ": no classes: axis " << class_axis << " of shape " << shape);
    if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1))
      throw Error(Message{} << operation << ": label_smoothing is " << options.label_smoothing
                            << ", and must lie in [0, 1]");
    if constexpr (Expression<W>) {
      static_assert(std::remove_cvref_t<W>::rank == 1, "the classes' weights have rank 1");
      weight_ = as_tensor<Real>(as_formula(std::forward<W>(weight))).contiguous();
      require_same_device(logits_.device(), weight_.device());
      if (weight_.size() != classes())
        throw ShapeError(Message{} << operation << ": " << weight_.size() << " weights for " << classes()
                                   << " classes");
    }
  }

  const Logits& logits() const { return logits_; }
  const Labels& labels() const { return labels_; }
  index_t classes() const { return logits_.shape()[class_axis]; }
  index_t rows() const { return labels_.shape().size(); }
  bool is_weighted() const { return static_cast<bool>(weight_.storage()); }
  const Tensor<const Real, 1, Device>& weight() const { return weight_; }
  const char* operation() const { return operation_; }
  bool is_smoothed() const { return options_.label_smoothing > 0; }
  class_rule<Real> rule() const {
    return {is_weighted() ? weight_.data() : nullptr, classes(), options_.ignore_index,
            static_cast<Real>(options_.label_smoothing)};
  }
  template <class Visit>
  void for_each_tensor(Visit&& visit) const {
    logits_.for_each_tensor(visit, true);
    labels_.for_each_tensor(visit, true);
    if (is_weighted()) visit(weight_, true);
  }
  /// Calls run(bound logits, bound labels, which axes of the logits are the classes, and of the labels).
  template <class Run>
  void with_sources(Run&& run) const {
    with_source(logits_, [&](const auto& logits) {
      with_source(labels_, [&](const auto& labels) {
        bool inner[static_cast<std::size_t>(Logits::rank)] = {};
        inner[class_axis] = true;
        const bool none[static_cast<std::size_t>(Labels::rank > 0 ? Labels::rank : 1)] = {};
        run(logits, labels, inner, none);
      });
    });
  }

 private:
  Logits logits_;
  Labels labels_;
  Tensor<const Real, 1, Device> weight_;
  cross_entropy_options options_;
  const char* operation_;
};

/// A classification loss, of logits (Soft) or of log-probabilities, summed up as R says.
template <bool Soft, class R, class Logits, class Labels>
class label_loss_formula : public producer<label_loss_formula<Soft, R, Logits, Labels>> {
  static constexpr bool by_row = std::is_same_v<R, reduction::none_t>;
  static constexpr bool is_mean = std::is_same_v<R, reduction::mean_t>;

 public:
  using value_type = typename Logits::value_type;
  using device_type = typename Logits::device_type;
  using Real = compute_type<value_type>;
  static constexpr int rank = by_row ? Labels::rank : 0;
  static constexpr producer_work work = producer_work::row_wise;

  explicit label_loss_formula(labelled_rows<Logits, Labels> rows) : rows_(std::move(rows)) {}
  Shape<rank> shape() const {
    if constexpr (by_row)
      return rows_.labels().shape();
    else
      return {};
  }
  device_type device() const { return rows_.logits().device(); }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool = false) const {
    rows_.for_each_tensor(visit);
  }

  template <class Bound>
  void run(const Bound& bound) const {
    rows_.with_sources([&](const auto& logits, const auto& labels, const auto& inner, const auto& none) {
      using From = std::remove_cvref_t<decltype(logits)>;
      using Given = std::remove_cvref_t<decltype(labels)>;
      const class_rule<Real> rule = rows_.rule();
      const index_t rows = rows_.rows();
      if constexpr (runs_here<device_type>() && std::is_same_v<device_type, Cpu>) {
        const on_cpu::source<From> x(logits, inner);
        const on_cpu::source<Given> y(labels, none);
        const on_cpu::sink<Bound> out(bound, -1, -1);
        run_on_host(x.values(), y.values(), rule, rows, out.template values<Real>());
      } else {
#if HEDDLE_CUDA_COMPILER
        const auto context = on_cuda::current_context(device().index, rows_.operation());
        using Reader = on_cuda::label_reader<on_cuda::source<Given>>;
        const Reader reader{on_cuda::source<Given>(labels, none),
                            on_cuda::index_check(labelled_rows<Logits, Labels>::class_axis, rule.classes, context)};
        const on_cuda::sink<Bound> out(bound, -1, -1);
        if constexpr (!Soft)
          on_cuda::nll_loss(on_cuda::source<From>(logits, inner), reader, rule, out, by_row, is_mean, rows, context);
        else if constexpr (by_row)
          on_cuda::cross_entropy_of_rows(on_cuda::row_source<From>(logits, inner), reader, rule, out, rows, context);
        else
          on_cuda::cross_entropy_of_all(on_cuda::row_source<From>(logits, inner), reader, rule, out, is_mean, rows,
                                        context);
#endif
      }
    });
  }

 private:
  template <class Source, class Given, class Sink>
  void run_on_host(const Source& logits, const Given& labels, const class_rule<Real>& rule, index_t rows,
                   const Sink& out) const {
    on_cpu::check_labels(labels, rule, rows, rows_.operation());
    const auto losses = [&](auto put) {
      if constexpr (Soft)
        on_cpu::cross_entropy(logits, labels, rule, rows, put);
      else
        on_cpu::nll_loss(logits, labels, rule, rows, put);
    };
    if constexpr (by_row) {
      losses([&](index_t row, const loss_term<Real>& term) { out.store(out.at(row), 0, 0, term.loss); });
    } else {
      const auto terms = allocate_tensor<Real>(Shape<2>(rows, 2), Strides<2>{{2, 1}}, cpu);
      Real* const numbers = terms.data();
      losses([&](index_t row, const loss_term<Real>& term) {
        numbers[2 * row] = term.loss;
        numbers[2 * row + 1] = term.weight;
      });
      const loss_reduction<Real> sum_up{is_mean};
      loss_term<double> all = sum_up.identity();
      for (index_t row = 0; row < rows; ++row) sum_up.accumulate(all, {numbers[2 * row], numbers[2 * row + 1]}, row);
      out.store(out.at(0), 0, 0, sum_up.finish(all, rows));
    }
  }

  labelled_rows<Logits, Labels> rows_;
};

/// The gradient of such a loss with respect to its first operand, given the loss's own.
template <bool Soft, class R, class Gradient, class Logits, class Labels>
class label_gradient_formula : public producer<label_gradient_formula<Soft, R, Gradient, Logits, Labels>> {
  static constexpr bool by_row = std::is_same_v<R, reduction::none_t>;

 public:
  using value_type = typename Logits::value_type;
  using device_type = typename Logits::device_type;
  using Real = compute_type<value_type>;
  static constexpr int rank = Logits::rank;
  static constexpr producer_work work = producer_work::row_wise;
  static_assert(Gradient::rank == (by_row ? Labels::rank : 0),
                "the loss's gradient is a number or of rank 0; for reduction::none it has the labels' shape");

  label_gradient_formula(Gradient gradient, labelled_rows<Logits, Labels> rows)
      : gradient_(std::move(gradient)), rows_(std::move(rows)) {
    if constexpr (by_row) {
      if (!(gradient_.shape() == rows_.labels().shape()))
        throw ShapeError(Message{} << rows_.operation() << ": a gradient of shape " << gradient_.shape()
                                   << " for losses of shape " << rows_.labels().shape());
    }
  }
  Shape<rank> shape() const { return rows_.logits().shape(); }
  device_type device() const { return rows_.logits().device(); }
  template <class Visit>
  void for_each_tensor(Visit&& visit, bool = false) const {
    gradient_.for_each_tensor(visit, true);
    rows_.for_each_tensor(visit);
  }

  template <class Bound>
  void run(const Bound& bound) const {
    with_source(gradient_, [&](const auto& gradient) {
      rows_.with_sources([&](const auto& logits, const auto& labels, const auto& inner, const auto& none) {
        using Dy = std::remove_cvref_t<decltype(gradient)>;
        using From = std::remove_cvref_t<decltype(logits)>;
        using Given = std::remove_cvref_t<decltype(labels)>;
        const class_rule<Real> rule = rows_.rule();
        const index_t rows = rows_.rows();
        const bool no_axis[static_cast<std::size_t>(Dy::rank > 0 ? Dy::rank : 1)] = {};
        if constexpr (runs_here<device_type>() && std::is_same_v<device_type, Cpu>) {
          const on_cpu::source<Dy> dy(gradient, no_axis);
          const on_cpu::source<From> x(logits, inner);
          const on_cpu::source<Given> y(labels, none);
          const on_cpu::row_sink<Bound> out(bound, inner);
          run_on_host(dy.values(), x.values(), y.values(), rule, rows, out.template values<Real>());
        } else {
#if HEDDLE_CUDA_COMPILER
          const auto context = on_cuda::current_context(device().index, rows_.operation());
          using Reader = on_cuda::label_reader<on_cuda::source<Given>>;
          using Scale = on_cuda::loss_gradient_scale<on_cuda::source<Dy>, Real>;
          const Reader reader{on_cuda::source<Given>(labels, none),
                              on_cuda::index_check(labelled_rows<Logits, Labels>::class_axis, rule.classes, context)};
          Tensor<Real, 0, device_type> divisor;
          if constexpr (std::is_same_v<R, reduction::mean_t>) {
            divisor = allocate_tensor<Real>(Shape<0>{}, Strides<0>{}, device());
            on_cuda::sum_label_weights(reader, rule, divisor.data(), rows, context);
          }
          const Scale scale{on_cuda::source<Dy>(gradient, no_axis), by_row,
                            divisor.storage() ? divisor.data() : nullptr};
          const on_cuda::row_sink<Bound> out(bound, inner);
          if constexpr (Soft) {
            Tensor<Real, 0, device_type> whole;
            if (rows_.is_weighted() && rows_.is_smoothed()) whole = sum(rows_.weight());
            on_cuda::cross_entropy_gradient(on_cuda::row_source<From>(logits, inner), reader, rule, scale,
                                            whole.storage() ? whole.data() : nullptr, out, rows, context);
          } else {
            on_cuda::nll_loss_gradient(reader, rule, scale, out, rows, context);
          }
#endif
        }
      });
    });
  }

 private:
  template <class Dy, class Source, class Given, class Sink>
  void run_on_host(const Dy& dy, const Source& logits, const Given& labels, const class_rule<Real>& rule, index_t rows,
                   const Sink& out) const {
    on_cpu::check_labels(labels, rule, rows, rows_.operation());
    double divisor = 1;
    if constexpr (std::is_same_v<R, reduction::mean_t>) {
      divisor = 0;
      for (index_t row = 0; row < rows; ++row) {
        const index_t label = on_cpu::label_at(labels, row);
        if (!rule.is_ignored(label)) divisor += static_cast<double>(rule.weight_of(label));
      }
    }
    const auto scale = [&](index_t row) {
      return static_cast<Real>(static_cast<double>(dy.load(dy.at(by_row ? row : 0), 0)) / divisor);
    };
    if constexpr (Soft) {
      double whole = static_cast<double>(rule.classes);
      if (rule.weight != nullptr) {
        whole = 0;
        for (index_t c = 0; c < rule.classes; ++c) whole += static_cast<double>(rule.weight[c]);
      }
      on_cpu::cross_entropy_gradient(logits, labels, rule, scale, static_cast<Real>(whole), out, rows);
    } else {
      on_cpu::nll_loss_gradient(labels, rule, scale, out, rows);
    }
  }

  Gradient gradient_;
  labelled_rows<Logits, Labels> rows_;
};

template <bool Soft, class R, class X, class Y, class W>
auto label_loss(const char* operation, X&& x, Y&& labels, W&& weight, const cross_entropy_options& options) {
  auto logits = floating_formula(std::forward<X>(x));
  auto given = as_formula(std::forward<Y>(labels));
  using Rows = labelled_rows<decltype(logits), decltype(given)>;
  return label_loss_formula<Soft, R, decltype(logits), decltype(given)>(
      Rows(operation, std::move(logits), std::move(given), std::forward<W>(weight), options));
}
template <bool Soft, class R, class G, class X, class Y, class W>
auto label_gradient(const char* operation, G&& dy, X&& x, Y&& labels, W&& weight,
                    const cross_entropy_options& options) {
  auto logits = floating_formula(std::forward<X>(x));
  auto given = as_formula(std::forward<Y>(labels));
  auto gradient = operand_formula<typename decltype(logits)::value_type>(std::forward<G>(dy));
  using Rows = labelled_rows<decltype(logits), decltype(given)>;
  return label_gradient_formula<Soft, R, decltype(gradient), decltype(logits), decltype(given)>(
      std::move(gradient), Rows(operation, std::move(logits), std::move(given), std::forward<W>(weight), options));
}

/// The cross entropy of integer labels and logits: log(sum(exp(x))) - x[label] for each sample. Weights, one a class,
/// may stand third; .label_smoothing s takes (1 - s) of that plus s / classes of the sum over all classes. One kernel
/// that reads the logits once. Example: `hd::Tensor loss = hd::cross_entropy(logits, labels);`,
/// `hd::cross_entropy(logits, labels, weight, hd::reduction::sum, {.ignore_index = 0})`.
template <Expression X, IndexExpression Y, LossReduction R = reduction::mean_t>
auto cross_entropy(X&& logits, Y&& labels, R = {}, const cross_entropy_options& options = {}) {
  return label_loss<true, R>("cross_entropy", std::forward<X>(logits), std::forward<Y>(labels), nullptr, options);
}
template <Expression X, IndexExpression Y>
auto cross_entropy(X&& logits, Y&& labels, const cross_entropy_options& options) {
  return cross_entropy(std::forward<X>(logits), std::forward<Y>(labels), reduction::mean, options);
}
template <Expression X, IndexExpression Y, OptionalExpression W, LossReduction R = reduction::mean_t>
auto cross_entropy(X&& logits, Y&& labels, W&& weight, R = {}, const cross_entropy_options& options = {}) {
  return label_loss<true, R>("cross_entropy", std::forward<X>(logits), std::forward<Y>(labels), std::forward<W>(weight),
                             options);
}

/// The gradient of cross_entropy with respect to the logits, given the loss's own: a number or a rank-0 tensor, for
/// reduction::none a tensor of the labels' shape. One kernel that reads the logits once; with reduction::mean a small
/// one before it adds up the weights. Ignored samples give 0.
/// Example: `dx = hd::cross_entropy_grad(1.0f, logits, labels);`
template <Operand G, Expression X, IndexExpression Y, LossReduction R = reduction::mean_t>
auto cross_entropy_grad(G&& dy, X&& logits, Y&& labels, R = {}, const cross_entropy_options& options = {}) {
  return label_gradient<true, R>("cross_entropy_grad", std::forward<G>(dy), std::forward<X>(logits),
                                 std::forward<Y>(labels), nullptr, options);
}
template <Operand G, Expression X, IndexExpression Y>
auto cross_entropy_grad(G&& dy, X&& logits, Y&& labels, const cross_entropy_options& options) {
  return cross_entropy_grad(std::forward<G>(dy), std::forward<X>(logits), std::forward<Y>(labels), reduction::mean,
                            options);
}
template <Operand G, Expression X, IndexExpression Y, OptionalExpression W, LossReduction R = reduction::mean_t>
auto cross_entropy_grad(G&& dy, X&& logits, Y&& labels, W&& weight, R = {}, const cross_entropy_options& options = {}) {
  return label_gradient<true, R>("cross_entropy_grad", std::forward<G>(dy), std::forward<X>(logits),
                                 std::forward<Y>(labels), std::forward<W>(weight), options);
}

/// The negative log-likelihood of integer labels: -x[label] for each sample of log-probabilities x. Weights, one a
/// class, may stand third. Example: `hd::nll_loss(hd::log_softmax(logits, hd::axis<1>), labels)`.
template <Expression X, IndexExpression Y, LossReduction R = reduction::mean_t>
auto nll_loss(X&& x, Y&& labels, R = {}, const cross_entropy_options& options = {}) {
  return label_loss<false, R>("nll_loss", std::forward<X>(x), std::forward<Y>(labels), nullptr, options);
}
template <Expression X, IndexExpression Y>
auto nll_loss(X&& x, Y&& labels, const cross_entropy_options& options) {
  return nll_loss(std::forward<X>(x), std::forward<Y>(labels), reduction::mean, options);
}
template <Expression X, IndexExpression Y, OptionalExpression W, LossReduction R = reduction::mean_t>
auto nll_loss(X&& x, Y&& labels, W&& weight, R = {}, const cross_entropy_options& options = {}) {
  return label_loss<false, R>("nll_loss", std::forward<X>(x), std::forward<Y>(labels), std::forward<W>(weight),
                              options);
}
/// The gradient of nll_loss with respect to x: -weight dy at each label, 0 elsewhere.
template <Operand G, Expression X, IndexExpression Y, LossReduction R = reduction::mean_t>
auto nll_loss_grad(G&& dy, X&& x, Y&& labels, R = {}, const cross_entropy_options& options = {}) {
  return label_gradient<false, R>("nll_loss_grad", std::forward<G>(dy), std::forward<X>(x), std::forward<Y>(labels),
                                  nullptr, options);
}
template <Operand G, Expression X, IndexExpression Y>
auto nll_loss_grad(G&& dy, X&& x, Y&& labels, const cross_entropy_options& options) {
  return nll_loss_grad(std::forward<G>(dy), std::forward<X>(x), std::forward<Y>(labels), reduction::mean, options);
}
template <Operand G, Expression X, IndexExpression Y, OptionalExpression W, LossReduction R = reduction::mean_t>
auto nll_loss_grad(G&& dy, X&& x, Y&& labels, W&& weight, R = {}, const cross_entropy_options& options = {}) {
  return label_gradient<false, R>("nll_loss_grad", std::forward<G>(dy), std::forward<X>(x), std::forward<Y>(labels),
                                  std::forward<W>(weight), options);
}

// ---- distributions as targets ----

template <class X>
concept DistributionExpression = Expression<X> && kind_of<value_type_of_t<X>>
== kind::floating;

/// log(sum(exp(x))) weighed by a target distribution t: -sum(t log_softmax(x)) over the classes; .label_smoothing s
/// mixes 1 / classes into t. reduction::mean divides by the number of samples.
/// Example: `hd::cross_entropy(logits, probabilities)`.
template <Expression X, DistributionExpression T, LossReduction R = reduction::mean_t>
auto cross_entropy(X&& logits, T&& target, R = {}, const cross_entropy_options& options = {}) {
  constexpr int class_axis = std::remove_cvref_t<X>::rank == 1 ? 0 : 1;
  static_assert(std::remove_cvref_t<T>::rank == std::remove_cvref_t<X>::rank,
                "a distribution over the classes has the logits' shape");
  const auto shape = logits.shape();
  if (!(shape == target.shape()))
    throw ShapeError(Message{} << "cross_entropy: targets of shape " << target.shape() << " for logits of shape "
                               << shape);
  const double smoothing = options.label_smoothing;
  const double classes = static_cast<double>(shape[class_axis]);
  auto terms = log_softmax(std::forward<X>(logits), axis<class_axis>) *
               (std::forward<T>(target) * -(1 - smoothing) - smoothing / classes);
  if constexpr (std::is_same_v<R, reduction::none_t>) {
    return sum(std::move(terms), axis<class_axis>);
  } else {
    const double samples = std::is_same_v<R, reduction::mean_t> ? static_cast<double>(shape.size()) / classes : 1.0;
    return sum(std::move(terms)) * (1 / samples);
  }
}
template <Expression X, DistributionExpression T>
auto cross_entropy(X&& logits, T&& target, const cross_entropy_options& options) {
  return cross_entropy(std::forward<X>(logits), std::forward<T>(target), reduction::mean, options);
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
