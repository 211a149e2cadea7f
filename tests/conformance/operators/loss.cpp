// mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy_with_logits kl_div
#include "heddle/ops/loss.hpp"
#include "conformance/dispatch.hpp"
#include "conformance/operators/families.hpp"
#include "conformance/operators/losses.hpp"

namespace conformance {
namespace {

/// Two operands of one shape, seen as vectors. F has `loss(x, y, reduction, call)` and, with a gradient of the loss in
/// front, `gradient(dy, x, y, reduction, call)`; Symmetric: the operands may be exchanged.
template <class F, class Combinations>
struct ElementLoss {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const Extents flat{array.size()};
    return with_combination(Combinations{}, call, [&](auto type, auto reduction) -> Outputs {
      using T = type_of<decltype(type)>;
      using R = decltype(reduction);
      const auto x = tensor<T, 1>(call, array, flat, device);
      const auto y = tensor<T, 1>(call, call.input(1), flat, device);
      const Array got = result(F::loss(x, y, reduction, call));
      if constexpr (is_none_v<R>)
        return {reshaped(got, flat, array.shape)};
      else
        return {got};
    });
  }
};

template <class F, class Combinations, bool Symmetric>
struct ElementLossGradient {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const Extents flat{array.size()};
    return with_combination(Combinations{}, call, [&](auto type, auto reduction) -> Outputs {
      using T = type_of<decltype(type)>;
      constexpr int loss_rank = is_none_v<decltype(reduction)> ? 1 : 0;
      const auto x = tensor<T, 1>(call, array, flat, device);
      const auto y = tensor<T, 1>(call, call.input(1), flat, device);
      const auto dy = tensor<T, loss_rank>(call, call.cotangent(0), loss_rank == 1 ? flat : Extents{}, device);
      const auto of = [&](const auto& a, const auto& b) {
        return reshaped(result(F::gradient(dy, a, b, reduction, call)), flat, array.shape);
      };
      if constexpr (Symmetric)
        return {of(x, y), of(y, x)};
      else
        return {of(x, y)};
    });
  }
};

struct SquaredError {
  template <class X, class Y, class R>
  static auto loss(const X& x, const Y& y, R r, const Call&) {
    return hd::mse_loss(x, y, r);
  }
  template <class G, class X, class Y, class R>
  static auto gradient(const G& dy, const X& x, const Y& y, R r, const Call&) {
    return hd::mse_loss_grad(dy, x, y, r);
  }
};
struct AbsoluteError {
  template <class X, class Y, class R>
  static auto loss(const X& x, const Y& y, R r, const Call&) {
    return hd::l1_loss(x, y, r);
  }
  template <class G, class X, class Y, class R>
  static auto gradient(const G& dy, const X& x, const Y& y, R r, const Call&) {
    return hd::l1_loss_grad(dy, x, y, r);
  }
};
struct SmoothError {
  template <class X, class Y, class R>
  static auto loss(const X& x, const Y& y, R r, const Call& call) {
    return hd::smooth_l1_loss(x, y, r, {.beta = call.number("beta", 1)});
  }
  template <class G, class X, class Y, class R>
  static auto gradient(const G& dy, const X& x, const Y& y, R r, const Call& call) {
    return hd::smooth_l1_loss_grad(dy, x, y, r, {.beta = call.number("beta", 1)});
  }
};
struct HuberError {
  template <class X, class Y, class R>
  static auto loss(const X& x, const Y& y, R r, const Call& call) {
    return hd::huber_loss(x, y, r, {.delta = call.number("delta", 1)});
  }
  template <class G, class X, class Y, class R>
  static auto gradient(const G& dy, const X& x, const Y& y, R r, const Call& call) {
    return hd::huber_loss_grad(dy, x, y, r, {.delta = call.number("delta", 1)});
  }
};
struct Divergence {
  template <class X, class Y, class R>
  static auto loss(const X& x, const Y& y, R r, const Call& call) {
    return hd::kl_div(x, y, r, {.log_target = call.flag("log_target", false)});
  }
  template <class G, class X, class Y, class R>
  static auto gradient(const G& dy, const X& x, const Y& y, R r, const Call& call) {
    return hd::kl_div_grad(dy, x, y, r, {.log_target = call.flag("log_target", false)});
  }
};
struct Logits {
  template <class X, class Y, class R>
  static auto loss(const X& x, const Y& y, R r, const Call&) {
    return hd::binary_cross_entropy_with_logits(x, y, r);
  }
  template <class G, class X, class Y, class R>
  static auto gradient(const G& dy, const X& x, const Y& y, R r, const Call&) {
    return hd::binary_cross_entropy_with_logits_grad(dy, x, y, r);
  }
};

template <class F, bool Symmetric, class Combinations>
void serve_loss(Registry& registry, const char* name, Combinations) {
  serve(registry, name, ElementLoss<F, Combinations>{});
  serve_gradient(registry, name, ElementLossGradient<F, Combinations, Symmetric>{});
}

/// Weights of elements and of the positive class, of whatever shape broadcasts; both need not be there.
struct WeightedLogits {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    if (!call.has_input(2) && !call.has_input(3))
      return ElementLoss<Logits, Combinations<On<float, Mean>, On<double, Mean>>>{}(call, device);
    const auto x = tensor<float, 2>(call, call.input(0), device);
    const auto y = tensor<float, 2>(call, call.input(1), device);
    if (call.has_input(3) && call.text_is("reduction", "mean"))
      return {result(hd::binary_cross_entropy_with_logits(x, y, tensor<float, 2>(call, call.input(2), device),
                                                          tensor<float, 1>(call, call.input(3), device)))};
    if (!call.has_input(3) && call.text_is("reduction", "sum"))
      return {result(hd::binary_cross_entropy_with_logits(x, y, tensor<float, 1>(call, call.input(2), device), nullptr,
                                                          hd::reduction::sum))};
    throw NotServed{"not for these weights"};
  }
};

struct WeightedLogitsGradient {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    if (!call.has_input(2) && !call.has_input(3))
      return ElementLossGradient<Logits, Combinations<On<float, Mean>, On<double, Mean>>, false>{}(call, device);
    if (!call.has_input(3)) throw NotServed{"not for these weights"};
    const auto x = tensor<float, 2>(call, call.input(0), device);
    const auto y = tensor<float, 2>(call, call.input(1), device);
    const auto dy = tensor<float, 0>(call, call.cotangent(0), device);
    return {result(hd::binary_cross_entropy_with_logits_grad(dy, x, y, tensor<float, 2>(call, call.input(2), device),
                                                             tensor<float, 1>(call, call.input(3), device)))};
  }
};

}  // namespace

void add_loss(Registry& registry) {
  serve_loss<SquaredError, true>(registry, "nn.functional.mse_loss",
                                 Combinations<On<float, Mean, Sum>, On<double, Mean, None>>{});
  serve_loss<AbsoluteError, true>(registry, "nn.functional.l1_loss",
                                  Combinations<On<float, Mean, Sum>, On<double, Mean>>{});
  serve_loss<SmoothError, true>(registry, "nn.functional.smooth_l1_loss",
                                Combinations<On<float, Mean>, On<double, Mean, None>>{});
  serve_loss<HuberError, true>(registry, "nn.functional.huber_loss", Combinations<On<float>, On<double, Mean>>{});
  serve_loss<Divergence, false>(registry, "nn.functional.kl_div", Combinations<On<float, None>, On<double, Sum>>{});
  serve(registry, "nn.functional.binary_cross_entropy_with_logits", WeightedLogits{});
  serve_gradient(registry, "nn.functional.binary_cross_entropy_with_logits", WeightedLogitsGradient{});
}

}  // namespace conformance
