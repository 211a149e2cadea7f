// Losses of two operands, element by element and then summed up, and their gradients. Each is a map and a reduction:
// one kernel, or two where a reduction takes two. Which sum: `reduction::mean` (the default), `reduction::sum` or
// `reduction::none`. The mean of no elements is NaN. Classification losses are in ops/cross_entropy.hpp.
//
// The functions named …_grad give the gradient with respect to the first operand as a formula, given the loss's own
// gradient dy: a number or a rank-0 tensor, for reduction::none one of the operands' shape.
#pragma once

#include "heddle/ops/activation.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/reduce.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// How a loss sums up.
namespace reduction {
struct mean_t {};
struct sum_t {};
struct none_t {};
struct batch_mean_t {};
/// The mean over all elements (of cross_entropy: weighted, over those that are not ignored).
inline constexpr mean_t mean{};
/// The sum.
inline constexpr sum_t sum{};
/// None: a loss an element.
inline constexpr none_t none{};
/// The sum divided by the extent of axis 0; for kl_div.
inline constexpr batch_mean_t batch_mean{};
}  // namespace reduction

template <class R>
concept LossReduction =
    std::is_same_v<R, reduction::mean_t> || std::is_same_v<R, reduction::sum_t> || std::is_same_v<R, reduction::none_t>;

template <class R, class Node>
auto reduced_loss(Node&& node) {
  if constexpr (std::is_same_v<R, reduction::none_t>)
    return std::forward<Node>(node);
  else if constexpr (std::is_same_v<R, reduction::sum_t>)
    return sum(std::forward<Node>(node));
  else
    return mean(std::forward<Node>(node));
}

/// What one element's gradient is multiplied by. Throws ShapeError where the operands' shapes differ: the gradient of
/// one that was broadcast would have to be summed.
template <class R, class X, class Y>
double loss_factor(const char* operation, const X& x, const Y& y) {
  static_assert(X::rank == Y::rank, "the operands of a loss's gradient have one shape");
  if (!(x.shape() == y.shape()))
    throw ShapeError(Message{} << operation << ": the operands' shapes " << x.shape() << " and " << y.shape()
                               << " differ");
  return std::is_same_v<R, reduction::mean_t> ? 1 / static_cast<double>(x.shape().size()) : 1.0;
}

// ---- squared and absolute errors ----

struct squared_error : to_floating {
  static constexpr const char* name = "mse_loss";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T y) const {
    return (x - y) * (x - y);
  }
};
struct squared_error_gradient : to_floating {
  static constexpr const char* name = "mse_loss_grad";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T dy, T x, T y, T factor) const {
    return dy * factor * (x - y);
  }
};
struct absolute_error : to_floating {
  static constexpr const char* name = "l1_loss";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T y) const {
    return std::fabs(x - y);
  }
};
struct absolute_error_gradient : to_floating {
  static constexpr const char* name = "l1_loss_grad";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T dy, T x, T y, T factor) const {
    return dy * factor * sign_function{}(x - y);
  }
};
/// d^2 / (2 beta) below beta, |d| - beta / 2 above, all times `scale`.
struct smooth_error : to_floating {
  static constexpr const char* name = "smooth_l1_loss";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T y, T beta, T scale) const {
    const T distance = std::fabs(x - y);
    return scale * (distance < beta ? T(0.5) * distance * distance / beta : distance - T(0.5) * beta);
  }
};
struct smooth_error_gradient : to_floating {
  static constexpr const char* name = "smooth_l1_loss_grad";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T dy, T x, T y, T beta, T factor) const {
    const T distance = x - y;
    return dy * factor * (std::fabs(distance) < beta ? distance / beta : sign_function{}(distance));
  }
};

/// (x - y)^2. Example: `hd::Tensor loss = hd::mse_loss(prediction, target);`
template <Expression X, Expression Y, LossReduction R = reduction::mean_t>
auto mse_loss(X&& x, Y&& y, R = {}) {
  return reduced_loss<R>(promoted_map(squared_error{}, std::forward<X>(x), std::forward<Y>(y)));
}
/// 2 (x - y) dy. Throws ShapeError where the shapes differ. Example: `dx = hd::mse_loss_grad(1.0f, x, y);`
template <Operand G, Expression X, Expression Y, LossReduction R = reduction::mean_t>
auto mse_loss_grad(G&& dy, X&& x, Y&& y, R = {}) {
  const double factor = 2 * loss_factor<R>("mse_loss_grad", x, y);
  return promoted_map(squared_error_gradient{}, std::forward<G>(dy), std::forward<X>(x), std::forward<Y>(y), factor);
}
/// |x - y|.
template <Expression X, Expression Y, LossReduction R = reduction::mean_t>
auto l1_loss(X&& x, Y&& y, R = {}) {
  return reduced_loss<R>(promoted_map(absolute_error{}, std::forward<X>(x), std::forward<Y>(y)));
}
/// sign(x - y) dy; 0 where they are equal.
template <Operand G, Expression X, Expression Y, LossReduction R = reduction::mean_t>
auto l1_loss_grad(G&& dy, X&& x, Y&& y, R = {}) {
  const double factor = loss_factor<R>("l1_loss_grad", x, y);
  return promoted_map(absolute_error_gradient{}, std::forward<G>(dy), std::forward<X>(x), std::forward<Y>(y), factor);
}

/// Where smooth_l1_loss turns from a parabola to a line.
struct smooth_l1_options {
  double beta = 1;
};
/// Throws Error for a negative one.
inline double checked_beta(const char* operation, double beta) {
  if (!(beta >= 0)) throw Error(Message{} << operation << ": beta or delta is " << beta << ", and may not be negative");
  return beta;
}

/// (x - y)^2 / (2 beta) where |x - y| < beta, else |x - y| - beta / 2; with beta 0 the same as l1_loss. Throws Error
/// for a negative beta. Example: `hd::smooth_l1_loss(x, y, hd::reduction::sum, {.beta = 0.5})`.
template <Expression X, Expression Y, LossReduction R = reduction::mean_t>
auto smooth_l1_loss(X&& x, Y&& y, R = {}, const smooth_l1_options& options = {}) {
  const double beta = checked_beta("smooth_l1_loss", options.beta);
  return reduced_loss<R>(promoted_map(smooth_error{}, std::forward<X>(x), std::forward<Y>(y), beta, 1));
}
template <Expression X, Expression Y>
auto smooth_l1_loss(X&& x, Y&& y, const smooth_l1_options& options) {
  return smooth_l1_loss(std::forward<X>(x), std::forward<Y>(y), reduction::mean, options);
}
/// The gradient of smooth_l1_loss with respect to x: (x - y) / beta dy, or sign(x - y) dy.
template <Operand G, Expression X, Expression Y, LossReduction R = reduction::mean_t>
auto smooth_l1_loss_grad(G&& dy, X&& x, Y&& y, R = {}, const smooth_l1_options& options = {}) {
  const double beta = checked_beta("smooth_l1_loss_grad", options.beta);
  const double factor = loss_factor<R>("smooth_l1_loss_grad", x, y);
  return promoted_map(smooth_error_gradient{}, std::forward<G>(dy), std::forward<X>(x), std::forward<Y>(y), beta,
                      factor);
}
template <Operand G, Expression X, Expression Y>
auto smooth_l1_loss_grad(G&& dy, X&& x, Y&& y, const smooth_l1_options& options) {
  return smooth_l1_loss_grad(std::forward<G>(dy), std::forward<X>(x), std::forward<Y>(y), reduction::mean, options);
}

/// Where huber_loss turns from a parabola to a line.
struct huber_options {
  double delta = 1;
};
/// delta times smooth_l1_loss with beta delta: (x - y)^2 / 2 where |x - y| < delta, else delta (|x - y| - delta / 2).
template <Expression X, Expression Y, LossReduction R = reduction::mean_t>
auto huber_loss(X&& x, Y&& y, R = {}, const huber_options& options = {}) {
  const double delta = checked_beta("huber_loss", options.delta);
  return reduced_loss<R>(promoted_map(smooth_error{}, std::forward<X>(x), std::forward<Y>(y), delta, delta));
}
template <Expression X, Expression Y>
auto huber_loss(X&& x, Y&& y, const huber_options& options) {
  return huber_loss(std::forward<X>(x), std::forward<Y>(y), reduction::mean, options);
}
/// The gradient of huber_loss with respect to x.
template <Operand G, Expression X, Expression Y, LossReduction R = reduction::mean_t>
auto huber_loss_grad(G&& dy, X&& x, Y&& y, R = {}, const huber_options& options = {}) {
  const double delta = checked_beta("huber_loss_grad", options.delta);
  const double factor = delta * loss_factor<R>("huber_loss_grad", x, y);
  return promoted_map(smooth_error_gradient{}, std::forward<G>(dy), std::forward<X>(x), std::forward<Y>(y), delta,
                      factor);
}
template <Operand G, Expression X, Expression Y>
auto huber_loss_grad(G&& dy, X&& x, Y&& y, const huber_options& options) {
  return huber_loss_grad(std::forward<G>(dy), std::forward<X>(x), std::forward<Y>(y), reduction::mean, options);
}

// ---- binary cross entropy ----

/// -weight (pos_weight y log(sigmoid(x)) + (1 - y) log(1 - sigmoid(x))), without overflow.
struct logits_error : to_floating {
  static constexpr const char* name = "binary_cross_entropy_with_logits";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T y, T weight, T pos_weight) const {
    // log(1 + exp(-x))
    return from(std::log1p(std::exp(-std::fabs(x))) + (x < T(0) ? -x : T(0)), x, y, weight, pos_weight);
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x, float y, float weight, float pos_weight) const {
    const float soft = on_cpu::log1p_f32(on_cpu::exp_f32(on_cpu::minus_magnitude(x))) + on_cpu::positive_part(-x);
    return from(soft, x, y, weight, pos_weight);
  }

 private:
  template <class T>
  static HEDDLE_HOST_DEVICE T from(T soft, T x, T y, T weight, T pos_weight) {
    return weight * ((T(1) - y) * x + (T(1) + (pos_weight - T(1)) * y) * soft);
  }
};
struct logits_error_gradient : to_floating {
  static constexpr const char* name = "binary_cross_entropy_with_logits_grad";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T dy, T x, T y, T weight, T pos_weight, T factor) const {
    const T positive = pos_weight * y;
    return dy * factor * weight * ((positive + T(1) - y) * sigmoid_function{}(x)-positive);
  }
};

/// A weight that is not given.
template <class W>
decltype(auto) weight_or_one(W&& weight) {
  if constexpr (std::is_null_pointer_v<std::remove_cvref_t<W>>)
    return 1;
  else
    return std::forward<W>(weight);
}

/// The binary cross entropy of targets y in [0, 1] and logits x, whose sigmoid is the probability; x may be of any
/// size. Example: `hd::Tensor loss = hd::binary_cross_entropy_with_logits(logits, targets);`
template <Expression X, Expression Y, LossReduction R = reduction::mean_t>
auto binary_cross_entropy_with_logits(X&& x, Y&& y, R = {}) {
  return reduced_loss<R>(promoted_map(logits_error{}, std::forward<X>(x), std::forward<Y>(y), 1, 1));
}
/// As above with a weight of each element and one of the positive class, which broadcast against x (nullptr: none).
template <Expression X, Expression Y, class W, class P, LossReduction R = reduction::mean_t>
requires(!LossReduction<W>) auto binary_cross_entropy_with_logits(X&& x, Y&& y, W&& weight, P&& pos_weight, R = {}) {
  return reduced_loss<R>(promoted_map(logits_error{}, std::forward<X>(x), std::forward<Y>(y),
                                      weight_or_one(std::forward<W>(weight)),
                                      weight_or_one(std::forward<P>(pos_weight))));
}
/// The gradient of binary_cross_entropy_with_logits with respect to x.
template <Operand G, Expression X, Expression Y, LossReduction R = reduction::mean_t>
auto binary_cross_entropy_with_logits_grad(G&& dy, X&& x, Y&& y, R = {}) {
  const double factor = loss_factor<R>("binary_cross_entropy_with_logits_grad", x, y);
  return promoted_map(logits_error_gradient{}, std::forward<G>(dy), std::forward<X>(x), std::forward<Y>(y), 1, 1,
                      factor);
}
template <Operand G, Expression X, Expression Y, class W, class P, LossReduction R = reduction::mean_t>
requires(!LossReduction<W>) auto binary_cross_entropy_with_logits_grad(G&& dy, X&& x, Y&& y, W&& weight, P&& pos_weight,
                                                                       R = {}) {
  const double factor = loss_factor<R>("binary_cross_entropy_with_logits_grad", x, y);
  return promoted_map(logits_error_gradient{}, std::forward<G>(dy), std::forward<X>(x), std::forward<Y>(y),
                      weight_or_one(std::forward<W>(weight)), weight_or_one(std::forward<P>(pos_weight)), factor);
}

// ---- Kullback-Leibler divergence ----

/// y (log y - x); of y = 0: 0. With log targets exp(y) (y - x).
struct divergence : to_floating {
  static constexpr const char* name = "kl_div";
  bool log_target;
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T y) const {
    if (log_target) return std::exp(y) * (y - x);
    return y == T(0) ? T(0) : y * (std::log(y) - x);
  }
};
struct divergence_gradient : to_floating {
  static constexpr const char* name = "kl_div_grad";
  bool log_target;
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T dy, T y, T factor) const {
    return -dy * factor * (log_target ? std::exp(y) : y);
  }
};

/// Whether kl_div's targets are logarithms, as its first operand is.
struct kl_div_options {
  bool log_target = false;
};
template <class R>
concept DivergenceReduction = LossReduction<R> || std::is_same_v<R, reduction::batch_mean_t>;

/// The divergence y (log y - x) of log-probabilities x from probabilities y (or log-probabilities, with log_target); of
/// y = 0 it is 0. reduction::batch_mean is what the divergence is by its definition; reduction::mean, the default as in
/// PyTorch, divides by the number of elements. Example: `hd::kl_div(log_p, q, hd::reduction::batch_mean)`.
template <Expression X, Expression Y, DivergenceReduction R = reduction::mean_t>
auto kl_div(X&& x, Y&& y, R = {}, const kl_div_options& options = {}) {
  [[maybe_unused]] double batch = 1;
  if constexpr (std::is_same_v<R, reduction::batch_mean_t>) {
    static_assert(std::remove_cvref_t<X>::rank > 0, "reduction::batch_mean divides by the extent of axis 0");
    batch = static_cast<double>(x.shape()[0]);
  }
  auto terms = promoted_map(divergence{{}, options.log_target}, std::forward<X>(x), std::forward<Y>(y));
  if constexpr (std::is_same_v<R, reduction::batch_mean_t>)
    return sum(std::move(terms)) / batch;
  else
    return reduced_loss<R>(std::move(terms));
}
template <Expression X, Expression Y>
auto kl_div(X&& x, Y&& y, const kl_div_options& options) {
  return kl_div(std::forward<X>(x), std::forward<Y>(y), reduction::mean, options);
}
/// The gradient of kl_div with respect to x: -y dy, or -exp(y) dy.
template <Operand G, Expression X, Expression Y, DivergenceReduction R = reduction::mean_t>
auto kl_div_grad(G&& dy, X&& x, Y&& y, R = {}, const kl_div_options& options = {}) {
  double factor = loss_factor<R>("kl_div_grad", x, y);
  if constexpr (std::is_same_v<R, reduction::batch_mean_t>) factor = 1 / static_cast<double>(x.shape()[0]);
  using T = common_element_t<X, Y>;
  return map_formula(conversion<float_result_t<T>>{}, promoted_map(divergence_gradient{{}, options.log_target},
                                                                   std::forward<G>(dy), std::forward<Y>(y), factor));
}
template <Operand G, Expression X, Expression Y>
auto kl_div_grad(G&& dy, X&& x, Y&& y, const kl_div_options& options) {
  return kl_div_grad(std::forward<G>(dy), std::forward<X>(x), std::forward<Y>(y), reduction::mean, options);
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
