// Activations, as PyTorch defines them. Integers give float, but for relu, which keeps the type. NaN stays NaN.
// An activation is a functor (sigmoid's is the pattern) and one function.
#pragma once

#include "heddle/ops/math.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// x > 0 ? x : 0, written so that NaN stays.
struct relu_function : promoting {
  static constexpr const char* name = "relu";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return x > T(0) ? x : T(0);
    else
      return x < T(0) ? T(0) : x;
  }
};
/// 1 / (1 + exp(-x)), by the exponential of -|x| so that nothing overflows.
struct sigmoid_function : to_floating {
  static constexpr const char* name = "sigmoid";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return from(x, std::exp(-std::fabs(x)));
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x) const { return from(x, on_cpu::exp_f32(x < 0.0F ? x : -x)); }

 private:
  template <class T>
  static HEDDLE_HOST_DEVICE T from(T x, T e) {
    return (x < T(0) ? e : T(1)) / (T(1) + e);
  }
};
struct leaky_relu_function : to_floating {
  static constexpr const char* name = "leaky_relu";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T slope) const {
    return x < T(0) ? slope * x : x;
  }
};
struct gelu_function : to_floating {
  static constexpr const char* name = "gelu";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return T(0.5) * x * std::erfc(-x * T(0.70710678118654752440));
  }
};
struct silu_function : to_floating {
  static constexpr const char* name = "silu";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return x * sigmoid_function{}(x);
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x) const { return x * sigmoid_function{}.on_host(x); }
};
struct softplus_function : to_floating {
  static constexpr const char* name = "softplus";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return (x < T(0) ? T(0) : x) + std::log1p(std::exp(-std::fabs(x)));
  }
};

/// The greater of x and 0; keeps the type; NaN stays. Example: `h = hd::relu(hd::matmul(x, w) + b);`
template <Expression X>
auto relu(X&& x) {
  return promoted_map(relu_function{}, std::forward<X>(x));
}
/// 1 / (1 + e^-x).
template <Expression X>
auto sigmoid(X&& x) {
  return promoted_map(sigmoid_function{}, std::forward<X>(x));
}
/// x where x >= 0, else slope * x (PyTorch's slope: 0.01).
template <Expression X, ScalarArgument S = float>
auto leaky_relu(X&& x, S slope = S(0.01)) {
  return promoted_map(leaky_relu_function{}, std::forward<X>(x), slope);
}
/// x * Phi(x), Phi the normal distribution's function.
template <Expression X>
auto gelu(X&& x) {
  return promoted_map(gelu_function{}, std::forward<X>(x));
}
/// x * sigmoid(x).
template <Expression X>
auto silu(X&& x) {
  return promoted_map(silu_function{}, std::forward<X>(x));
}
/// log(1 + e^x), without overflow.
template <Expression X>
auto softplus(X&& x) {
  return promoted_map(softplus_function{}, std::forward<X>(x));
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
