// SoftmaxCrossEntropyLoss NegativeLogLikelihoodLoss; cross_entropy nll_loss
#include "conformance/operators/families.hpp"
#include "conformance/operators/losses.hpp"
#include "heddle/ops/cross_entropy.hpp"
#include "heddle/ops/softmax.hpp"

namespace conformance {
namespace {

/// Scores as (batch, classes, rest), labels as (batch, rest), and the shape of a loss an element.
struct Samples {
  explicit Samples(const Call& call) {
    const Extents& shape = call.input(0).shape;
    Extents wide = shape;
    if (shape.size() == 1) wide.insert(wide.begin(), 1);
    if (wide.size() < 2) throw NotServed{"not for this rank"};
    const std::int64_t rest = size_of(Extents(wide.begin() + 2, wide.end()));
    scores = {wide[0], wide[1], rest};
    labels = {wide[0], rest};
    each = shape;
    each.erase(each.begin() + (shape.size() == 1 ? 0 : 1));
  }
  Extents scores;
  Extents labels;
  Extents each;
};

hd::cross_entropy_options options(const Call& call) { return {.ignore_index = call.integer("ignore_index", -100)}; }

struct CrossEntropy {
  template <class... A>
  static auto loss(const A&... a) {
    return hd::cross_entropy(a...);
  }
  template <class... A>
  static auto gradient(const A&... a) {
    return hd::cross_entropy_grad(a...);
  }
};
struct Likelihood {
  template <class... A>
  static auto loss(const A&... a) {
    return hd::nll_loss(a...);
  }
  template <class... A>
  static auto gradient(const A&... a) {
    return hd::nll_loss_grad(a...);
  }
};

/// Calls f(Type<T>{}, reduction, weight), where the weight is a tensor or a null pointer.
template <class With, class Without, class Device, class F>
Outputs with_weight(const Call& call, Device device, F f) {
  if (call.has_input(2))
    return with_combination(With{}, call, [&](auto type, auto reduction) {
      return f(type, reduction, tensor<type_of<decltype(type)>, 1>(call, call.input(2), device));
    });
  return with_combination(Without{}, call, [&](auto type, auto reduction) { return f(type, reduction, nullptr); });
}

/// Of logits and a distribution over the classes each.
template <class Device>
Outputs distribution_loss(const Call& call, Device device) {
  if (call.has_input(2) || call.has("reduction")) throw NotServed{"not for these options"};
  return {result(hd::cross_entropy(tensor<double, 2>(call, call.input(0), device),
                                   tensor<double, 2>(call, call.input(1), device)))};
}

template <class Loss, class With, class Without>
struct LabelLoss {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    if (is_floating(call.input(1).type)) return distribution_loss(call, device);
    const Samples samples(call);
    return with_weight<With, Without>(call, device, [&](auto type, auto reduction, const auto& weight) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto x = tensor<T, 3>(call, call.input(0), samples.scores, device);
      const auto y = tensor<I64, 2>(call, call.input(1), samples.labels, device);
      Outputs outputs{result(Loss::loss(x, y, weight, reduction, options(call)))};
      if constexpr (is_none_v<decltype(reduction)>)
        outputs[0] = reshaped(std::move(outputs[0]), samples.labels, samples.each);
      // ONNX's cross entropy may give the logarithms of the probabilities too.
      if constexpr (std::is_same_v<Loss, CrossEntropy> && std::is_same_v<T, float>) {
        if (call.output_count() > 1)
          outputs.push_back(reshaped(result(hd::log_softmax(x, hd::axis<1>)), samples.scores, call.input(0).shape));
      }
      return outputs;
    });
  }
};

template <class Loss, class With, class Without>
struct LabelGradient {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    if (is_floating(call.input(1).type)) throw NotServed{"not for distributions"};
    const Samples samples(call);
    return with_weight<With, Without>(call, device, [&](auto type, auto reduction, const auto& weight) -> Outputs {
      using T = type_of<decltype(type)>;
      constexpr int loss_rank = is_none_v<decltype(reduction)> ? 2 : 0;
      const auto x = tensor<T, 3>(call, call.input(0), samples.scores, device);
      const auto y = tensor<I64, 2>(call, call.input(1), samples.labels, device);
      const auto dy =
          tensor<T, loss_rank>(call, call.cotangent(0), loss_rank == 2 ? samples.labels : Extents{}, device);
      return {reshaped(result(Loss::gradient(dy, x, y, weight, reduction, options(call))), samples.scores,
                       call.input(0).shape)};
    });
  }
};

}  // namespace

void add_label_loss(Registry& registry) {
  using Onnx = Combinations<On<float, Mean, Sum, None>>;
  serve(registry, "SoftmaxCrossEntropyLoss", LabelLoss<CrossEntropy, Onnx, Onnx>{});
  serve(registry, "NegativeLogLikelihoodLoss", LabelLoss<Likelihood, Onnx, Onnx>{});

  using Soft = Combinations<On<float, None>, On<double, Mean>>;
  serve(registry, "nn.functional.cross_entropy", LabelLoss<CrossEntropy, Combinations<On<float, Mean>>, Soft>{});
  serve_gradient(registry, "nn.functional.cross_entropy",
                 LabelGradient<CrossEntropy, Combinations<On<float, Mean>>, Soft>{});
  using Weighted = Combinations<On<double, None>>;
  using Plain = Combinations<On<float, None, Sum>, On<double, Mean, Sum>>;
  serve(registry, "nn.functional.nll_loss", LabelLoss<Likelihood, Weighted, Plain>{});
  serve_gradient(registry, "nn.functional.nll_loss", LabelGradient<Likelihood, Weighted, Plain>{});
}

}  // namespace conformance
