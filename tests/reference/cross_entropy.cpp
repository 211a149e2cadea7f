#include "reference/cross_entropy.hpp"

#include <algorithm>
#include <cmath>

namespace reference {
namespace {

List log_probabilities(const List& x) {
  const double greatest = *std::max_element(x.begin(), x.end());
  double total = 0;
  for (const double value : x) total += std::exp(value - greatest);
  List result;
  for (const double value : x) result.push_back(value - greatest - std::log(total));
  return result;
}

/// Calls body(first element's place in x, step along the classes, label's place) for every sample.
template <class Body>
void each_sample(const Array& x, Body body) {
  const bool single = x.rank() == 1;
  const std::int64_t images = single ? 1 : x.shape[0];
  const std::int64_t classes = x.shape[single ? 0 : 1];
  const std::int64_t inner = images * classes == 0 ? 0 : x.size() / (images * classes);
  for (std::int64_t n = 0; n < images; ++n)
    for (std::int64_t i = 0; i < inner; ++i) body(n * classes * inner + i, inner, n * inner + i);
}
List line(const Array& x, std::int64_t first, std::int64_t step) {
  List result;
  const std::int64_t classes = x.shape[x.rank() == 1 ? 0 : 1];
  for (std::int64_t c = 0; c < classes; ++c) result.push_back(x[first + c * step]);
  return result;
}

}  // namespace

double cross_entropy(const List& logits, double label, const ClassRule& rule) {
  if (label == rule.ignored) return 0;
  const List logs = log_probabilities(logits);
  const auto y = static_cast<std::size_t>(label);
  double loss = -(1 - rule.smoothing) * rule.weight(static_cast<std::int64_t>(y)) * logs[y];
  if (rule.smoothing == 0) return loss;
  for (std::size_t c = 0; c < logs.size(); ++c)
    loss -= rule.smoothing / static_cast<double>(logs.size()) * rule.weight(static_cast<std::int64_t>(c)) * logs[c];
  return loss;
}

double nll_loss(const List& x, double label, const ClassRule& rule) {
  if (label == rule.ignored) return 0;
  return -rule.weight(static_cast<std::int64_t>(label)) * x[static_cast<std::size_t>(label)];
}

List cross_entropy_gradient(const List& logits, double label, const ClassRule& rule) {
  List result(logits.size(), 0.0);
  if (label == rule.ignored) return result;
  const List logs = log_probabilities(logits);
  // The loss is sum over c of -t[c] log p[c]; its slope by x[j] is p[j] sum(t) - t[j].
  List t(logits.size());
  double total = 0;
  for (std::size_t c = 0; c < t.size(); ++c) {
    const double w = rule.weight(static_cast<std::int64_t>(c));
    t[c] = rule.smoothing / static_cast<double>(t.size()) * w;
    if (static_cast<double>(c) == label) t[c] += (1 - rule.smoothing) * w;
    total += t[c];
  }
  for (std::size_t c = 0; c < t.size(); ++c) result[c] = std::exp(logs[c]) * total - t[c];
  return result;
}

List nll_loss_gradient(const List& x, double label, const ClassRule& rule) {
  List result(x.size(), 0.0);
  if (label != rule.ignored) result[static_cast<std::size_t>(label)] = -rule.weight(static_cast<std::int64_t>(label));
  return result;
}

Array over_samples(double (*f)(const List&, double, const ClassRule&), const Array& x, const Array& labels,
                   const ClassRule& rule) {
  Array result(labels.shape);
  each_sample(x, [&](std::int64_t first, std::int64_t step, std::int64_t sample) {
    result[sample] = f(line(x, first, step), labels[sample], rule);
  });
  return result;
}

Array over_samples(List (*f)(const List&, double, const ClassRule&), const Array& x, const Array& labels,
                   const ClassRule& rule) {
  Array result(x.shape);
  each_sample(x, [&](std::int64_t first, std::int64_t step, std::int64_t sample) {
    const List slopes = f(line(x, first, step), labels[sample], rule);
    for (std::size_t c = 0; c < slopes.size(); ++c) result[first + static_cast<std::int64_t>(c) * step] = slopes[c];
  });
  return result;
}

double weight_of_labels(const Array& labels, const ClassRule& rule) {
  double total = 0;
  for (const double label : labels.values)
    if (label != rule.ignored) total += rule.weight(static_cast<std::int64_t>(label));
  return total;
}

}  // namespace reference
