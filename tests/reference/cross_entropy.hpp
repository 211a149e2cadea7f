// Classification losses, a sample at a time, from the definition.
#pragma once

#include "reference/array.hpp"

namespace reference {

/// What a sample's loss depends on besides its logits. No weights: all 1.
struct ClassRule {
  List weights;
  double ignored = -100;
  double smoothing = 0;

  double weight(std::int64_t c) const { return weights.empty() ? 1 : weights[static_cast<std::size_t>(c)]; }
};

/// The loss of one sample's logits: (1 - s) w[label] (-log p[label]) + s / classes * sum of w[c] (-log p[c]).
double cross_entropy(const List& logits, double label, const ClassRule& rule);
/// -w[label] x[label]
double nll_loss(const List& x, double label, const ClassRule& rule);
/// Its gradients by each logit.
List cross_entropy_gradient(const List& logits, double label, const ClassRule& rule);
List nll_loss_gradient(const List& x, double label, const ClassRule& rule);

/// f of every sample: the classes are axis 1 of x (or its only one), labels have the other axes.
Array over_samples(double (*f)(const List&, double, const ClassRule&), const Array& x, const Array& labels,
                   const ClassRule& rule);
Array over_samples(List (*f)(const List&, double, const ClassRule&), const Array& x, const Array& labels,
                   const ClassRule& rule);
/// The sum of the weights of the labels that count.
double weight_of_labels(const Array& labels, const ClassRule& rule);

}  // namespace reference
