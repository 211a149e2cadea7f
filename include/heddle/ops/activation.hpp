// Activations, as PyTorch defines them. Integers give float, but for relu, which keeps the type. NaN stays NaN.
// An activation is a functor (its formula, its name) and one function.
#pragma once

#include "heddle/ops/math.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// a / b for an activation's denominator, which is neither tiny nor huge: within 2 units in the last place on CUDA,
/// without the many instructions of an IEEE division.
template <class T>
HEDDLE_HOST_DEVICE T quotient(T a, T b) {
#if defined(__CUDA_ARCH__)
  return a * on_cuda::reciprocal_unit(b);
#else
  return a / b;
#endif
}

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
#if HEDDLE_CUDA_COMPILER
  /// An exponential that overflows gives 0, as it should.
  template <class Result>
  __device__ float narrow(float x) const {
    return on_cuda::reciprocal_unit(1.0F + on_cuda::exp2_unit(x * -0x1.715476p+0F));
  }
#endif

 private:
  template <class T>
  static HEDDLE_HOST_DEVICE T from(T x, T e) {
    return quotient(x < T(0) ? e : T(1), T(1) + e);
  }
};
struct logsigmoid_function : to_floating {
  static constexpr const char* name = "logsigmoid";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return (x < T(0) ? x : T(0)) - std::log1p(std::exp(-std::fabs(x)));
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x) const {
    return 0.0F - (on_cpu::positive_part(-x) + on_cpu::log1p_f32(on_cpu::exp_f32(on_cpu::minus_magnitude(x))));
  }
};
struct silu_function : to_floating {
  static constexpr const char* name = "silu";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return x * sigmoid_function{}(x);
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x) const { return x * sigmoid_function{}.on_host(x); }
#if HEDDLE_CUDA_COMPILER
  template <class Result>
  __device__ float narrow(float x) const {
    return x * sigmoid_function{}.narrow<Result>(x);
  }
#endif
};
struct gelu_function : to_floating {
  static constexpr const char* name = "gelu";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
#if defined(__CUDA_ARCH__)
    // erfc would keep all digits where x is far below 0 and the result near it, for twice the instructions.
    if constexpr (std::is_same_v<T, float>) return 0.5F * x * (1.0F + erff(x * 0.70710678118654752440F));
#endif
    return T(0.5) * x * std::erfc(-x * T(0.70710678118654752440));
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x) const {
    const float magnitude = __builtin_bit_cast(float, on_cpu::magnitude_bits(x));
    const float tail = 0.5F * on_cpu::erfc_positive_f32(magnitude * 0.70710678118654752440F);
    const std::uint32_t negative = 0U - (__builtin_bit_cast(std::uint32_t, x) >> 31);
    return x * on_cpu::choose(negative, tail, 1.0F - tail);
  }
};
/// x / (1 + exp(-2u)), which is 0.5 x (1 + tanh(u)), with u = sqrt(2 / pi) (x + 0.044715 x³).
struct gelu_tanh_function : to_floating {
  static constexpr const char* name = "gelu_tanh";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return x * sigmoid_function{}(twice_u(x));
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x) const { return x * sigmoid_function{}.on_host(twice_u(x)); }
#if HEDDLE_CUDA_COMPILER
  template <class Result>
  __device__ float narrow(float x) const {
    return x * sigmoid_function{}.narrow<Result>(twice_u(x));
  }
#endif

 private:
  template <class T>
  static HEDDLE_HOST_DEVICE T twice_u(T x) {
    return T(1.5957691216057307117597842397375) * (x + T(0.044715) * x * x * x);
  }
};
/// x tanh(softplus(x)) = x n / (n + 2) with n = e (e + 2), e = exp(x); beyond 20 it is x.
struct mish_function : to_floating {
  static constexpr const char* name = "mish";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    const T e = std::exp(x > T(20) ? T(20) : x);
    const T n = e * (e + T(2));
    return x > T(20) ? x : x * quotient(n, n + T(2));
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x) const {
    // Beyond 20 the quotient is 1. NaN, which the bound takes, comes back by the product.
    constexpr std::int32_t bound = 0x41a00000;
    const std::int32_t bits = __builtin_bit_cast(std::int32_t, x);
    const float e = on_cpu::exp_f32(__builtin_bit_cast(float, bits < bound ? bits : bound));
    const float n = e * (e + 2.0F);
    return x * (n / (n + 2.0F));
  }
};
struct softplus_function : to_floating {
  static constexpr const char* name = "softplus";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T beta, T inverse, T threshold) const {
    const T scaled = x * beta;
    const T soft = (scaled < T(0) ? T(0) : scaled) + std::log1p(std::exp(-std::fabs(scaled)));
    return scaled > threshold ? x : soft * inverse;
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x, float beta, float inverse, float threshold) const {
    const float scaled = x * beta;
    const float soft =
        on_cpu::positive_part(scaled) + on_cpu::log1p_f32(on_cpu::exp_f32(on_cpu::minus_magnitude(scaled)));
    return on_cpu::choose(0U - static_cast<std::uint32_t>(scaled > threshold), x, soft * inverse);
  }
};
struct softsign_function : to_floating {
  static constexpr const char* name = "softsign";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    const T magnitude = std::fabs(x);
    const T scale = magnitude > T(0x1p100) ? T(sizeof(T) == 4 ? 0x1p-60 : 0x1p-900) : T(1);
    return quotient(x * scale, (T(1) + magnitude) * scale);
  }
};
struct tanhshrink_function : to_floating {
  static constexpr const char* name = "tanhshrink";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return x - std::tanh(x);
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x) const { return x - on_cpu::tanh_f32(x); }
};
struct leaky_relu_function : to_floating {
  static constexpr const char* name = "leaky_relu";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T slope) const {
    return x < T(0) ? slope * x : x;
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x, float slope) const {
    return on_cpu::choose(0U - static_cast<std::uint32_t>(x < 0.0F), slope * x, x);
  }
};
struct elu_function : to_floating {
  static constexpr const char* name = "elu";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T alpha) const {
    return x > T(0) ? x : alpha * std::expm1(x);
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x, float alpha) const {
    return on_cpu::choose(on_cpu::mask_negative(x), alpha * on_cpu::expm1_f32(x), x);
  }
};
struct celu_function : to_floating {
  static constexpr const char* name = "celu";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T alpha, T inverse) const {
    return x > T(0) ? x : alpha * std::expm1(x * inverse);
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x, float alpha, float inverse) const {
    return on_cpu::choose(on_cpu::mask_negative(x), alpha * on_cpu::expm1_f32(x * inverse), x);
  }
};
/// Klambauer et al., "Self-normalizing neural networks", 2017.
struct selu_function : to_floating {
  static constexpr const char* name = "selu";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    constexpr T alpha = T(1.6732632423543772848170429916717);
    constexpr T scale = T(1.0507009873554804934193349852946);
    return scale * (x > T(0) ? x : alpha * std::expm1(x));
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x) const {
    return 1.05070098735548F * elu_function{}.on_host(x, 1.67326324235437728F);
  }
};
struct hardsigmoid_function : to_floating {
  static constexpr const char* name = "hardsigmoid";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return clamp_function{}(x + T(3), T(0), T(6)) * T(1.0 / 6.0);
  }
};
/// The sixth as two numbers, which a fused multiply-add joins, so that only x + 3, the sixth part and the product are
/// rounded: 2 units in the last place, and 2.5 on a CPU that fuses nothing.
struct hardswish_function : to_floating {
  static constexpr const char* name = "hardswish";
  template <class T>
  static constexpr T sixth = T(1.0 / 6.0);
  template <class T>
  static constexpr T rest = sizeof(T) == 4 ? T(-0x1.5555555555555p-28) : T(0x1.5555555555555p-57);

  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    const T part = clamp_function{}(x + T(3), T(0), T(6));
    return x * std::fma(part, sixth<T>, part * rest<T>);
  }
  /// Without a call where the CPU has no fused multiply-add, so that loops vectorise.
  template <class T>
  HEDDLE_ALWAYS_INLINE T on_host(T x) const {
    const T part = clamp_function{}(x + T(3), T(0), T(6));
    return x * (part * sixth<T> + part * rest<T>);
  }
};
struct threshold_function : promoting {
  static constexpr const char* name = "threshold";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T bound, T value) const {
    return x <= bound ? value : x;
  }
};
struct hardshrink_function : to_floating {
  static constexpr const char* name = "hardshrink";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T lambda) const {
    return x >= -lambda && x <= lambda ? T(0) : x;
  }
};
struct softshrink_function : to_floating {
  static constexpr const char* name = "softshrink";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T lambda) const {
    const T magnitude = std::fabs(x) - lambda;
    return magnitude <= T(0) ? T(0) : std::copysign(magnitude, x);
  }
};
/// Half of the elements scale the other half.
struct glu_function : to_floating {
  static constexpr const char* name = "glu";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T gate) const {
    return x * sigmoid_function{}(gate);
  }
};
struct prelu_function : to_floating {
  static constexpr const char* name = "prelu";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x, T weight) const {
    return x < T(0) ? weight * x : x;
  }
  HEDDLE_ALWAYS_INLINE float on_host(float x, float weight) const {
    return on_cpu::choose(0U - static_cast<std::uint32_t>(x < 0.0F), weight * x, x);
  }
};

/// 1 / x of a parameter, once and for all elements.
template <ScalarArgument S>
double inverse_of(S x) {
  return 1 / static_cast<double>(x);
}

/// The greater of x and 0; keeps the type; NaN stays. Example: `h = hd::relu(hd::matmul(x, w) + b);`
template <Expression X>
auto relu(X&& x) {
  return promoted_map(relu_function{}, std::forward<X>(x));
}
/// x bounded to [0, 6]; keeps the type.
template <Expression X>
auto relu6(X&& x) {
  return clamp(std::forward<X>(x), 0, 6);
}
/// x bounded to [low, high] (PyTorch's -1 and 1); keeps the type.
template <Expression X, ScalarArgument L = int, ScalarArgument H = int>
auto hardtanh(X&& x, L low = -1, H high = 1) {
  return clamp(std::forward<X>(x), low, high);
}
/// 1 / (1 + e^-x).
template <Expression X>
auto sigmoid(X&& x) {
  return promoted_map(sigmoid_function{}, std::forward<X>(x));
}
/// log(sigmoid(x)), without overflow.
template <Expression X>
auto logsigmoid(X&& x) {
  return promoted_map(logsigmoid_function{}, std::forward<X>(x));
}
/// x * sigmoid(x), also called swish.
template <Expression X>
auto silu(X&& x) {
  return promoted_map(silu_function{}, std::forward<X>(x));
}
/// x * Phi(x), Phi the normal distribution's function.
template <Expression X>
auto gelu(X&& x) {
  return promoted_map(gelu_function{}, std::forward<X>(x));
}
/// gelu's approximation 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x³))).
template <Expression X>
auto gelu_tanh(X&& x) {
  return promoted_map(gelu_tanh_function{}, std::forward<X>(x));
}
/// x * tanh(softplus(x)).
template <Expression X>
auto mish(X&& x) {
  return promoted_map(mish_function{}, std::forward<X>(x));
}
/// log(1 + e^(beta x)) / beta, and x where beta x > threshold (PyTorch's 1 and 20).
template <Expression X, ScalarArgument B = double, ScalarArgument H = double>
auto softplus(X&& x, B beta = 1, H threshold = 20) {
  return promoted_map(softplus_function{}, std::forward<X>(x), beta, inverse_of(beta), threshold);
}
/// x / (1 + |x|).
template <Expression X>
auto softsign(X&& x) {
  return promoted_map(softsign_function{}, std::forward<X>(x));
}
/// x - tanh(x).
template <Expression X>
auto tanhshrink(X&& x) {
  return promoted_map(tanhshrink_function{}, std::forward<X>(x));
}
/// x where x >= 0, else slope * x (PyTorch's slope: 0.01).
template <Expression X, ScalarArgument S = double>
auto leaky_relu(X&& x, S slope = S(0.01)) {
  return promoted_map(leaky_relu_function{}, std::forward<X>(x), slope);
}
/// x where x > 0, else alpha * (e^x - 1) (PyTorch's alpha: 1).
template <Expression X, ScalarArgument S = double>
auto elu(X&& x, S alpha = S(1)) {
  return promoted_map(elu_function{}, std::forward<X>(x), alpha);
}
/// x where x > 0, else alpha * (e^(x / alpha) - 1) (PyTorch's alpha: 1).
template <Expression X, ScalarArgument S = double>
auto celu(X&& x, S alpha = S(1)) {
  return promoted_map(celu_function{}, std::forward<X>(x), alpha, inverse_of(alpha));
}
/// scale * elu(x, alpha) with the constants of self-normalising networks.
template <Expression X>
auto selu(X&& x) {
  return promoted_map(selu_function{}, std::forward<X>(x));
}
/// relu6(x + 3) / 6.
template <Expression X>
auto hardsigmoid(X&& x) {
  return promoted_map(hardsigmoid_function{}, std::forward<X>(x));
}
/// x * relu6(x + 3) / 6.
template <Expression X>
auto hardswish(X&& x) {
  return promoted_map(hardswish_function{}, std::forward<X>(x));
}
/// x where x > bound, else value; NaN stays. Throws Error for numbers beyond the range of integers that x has.
/// Example: `hd::threshold(x, 0.1f, 0)`.
template <Expression X, ScalarArgument B, ScalarArgument V>
auto threshold(X&& x, B bound, V value) {
  using T = common_element_t<X, B, V>;
  checked_element<T>("threshold", bound), checked_element<T>("threshold", value);
  return promoted_map(threshold_function{}, std::forward<X>(x), bound, value);
}
/// x where |x| > lambda, else 0; NaN stays. Example: `hd::hardshrink(x)`.
template <Expression X, ScalarArgument S = double>
auto hardshrink(X&& x, S lambda = S(0.5)) {
  return promoted_map(hardshrink_function{}, std::forward<X>(x), lambda);
}
/// x - lambda above lambda, x + lambda below -lambda, else 0; NaN stays. Throws Error for a negative lambda.
template <Expression X, ScalarArgument S = double>
auto softshrink(X&& x, S lambda = S(0.5)) {
  if (static_cast<double>(lambda) < 0)
    throw Error(Message{} << "softshrink: lambda is " << static_cast<double>(lambda) << ", and may not be negative");
  return promoted_map(softshrink_function{}, std::forward<X>(x), lambda);
}
/// The first half along an axis times the sigmoid of the second half. Throws ShapeError for an odd extent.
/// Example: `h = hd::glu(hd::matmul(x, w) + b);`
template <Expression X, int A = -1>
auto glu(X&& x, axis_t<A> = {}) {
  const auto whole = eval(std::forward<X>(x));
  constexpr int along = normalized_axis<A, decltype(whole)::rank>();
  const index_t extent = whole.shape()[along];
  if (extent % 2 != 0)
    throw ShapeError(Message{} << "glu: axis " << along << " of shape " << whole.shape() << " has no two halves");
  return promoted_map(glu_function{}, whole.slice(axis<A>, range(0, extent / 2)),
                      whole.slice(axis<A>, range(extent / 2, extent)));
}
/// x where x >= 0, else weight * x. A weight of rank 1 belongs to axis 1 of an x of rank 2 and more; others broadcast.
template <Expression X, Expression W>
auto prelu(X&& x, W&& weight) {
  constexpr int axes_after = std::remove_cvref_t<X>::rank - 2;
  if constexpr (std::remove_cvref_t<W>::rank == 1 && axes_after > 0 && is_tensor_v<W>) {
    Shape<axes_after + 1> shape = shape_of_ones<axes_after + 1>();
    shape[0] = weight.extent(0);
    return promoted_map(prelu_function{}, std::forward<X>(x), weight.reshape(shape));
  } else {
    return promoted_map(prelu_function{}, std::forward<X>(x), std::forward<W>(weight));
  }
}

}  // namespace HEDDLE_BUILD
}  // namespace heddle
