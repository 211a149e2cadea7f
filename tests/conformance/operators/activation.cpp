// Activations
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"

namespace conformance {
namespace {

/// Where an attribute chooses between two formulas.
template <class Condition, class Usual, class Other>
struct Choice {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return Condition{}(call) ? Other{}(call, device) : Usual{}(call, device);
  }
};
template <class Condition, class Usual, class Other>
Choice<Condition, Usual, Other> choice(Condition, Usual, Other) {
  return {};
}

/// The slope broadcasts; before opset 7 one of shape (C) belonged to axis 1.
struct PRelu {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& x = call.input(0);
    const Array& slope = call.input(1);
    Extents slope_shape = slope.shape;
    if (call.opset() < 7 && slope.rank() == 1 && x.rank() > 2)
      slope_shape.insert(slope_shape.end(), static_cast<std::size_t>(x.rank() - 2), 1);
    return with_type(Reals{}, x.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      return broadcast<T, T>(call, x, x.shape, slope, slope_shape, device,
                             [](const auto& a, const auto& b) { return hd::prelu(a, b); });
    });
  }
};

}  // namespace

void add_activation(Registry& registry) {
  serve(registry, "Relu", unary([](const auto& x) { return hd::relu(x); }));
  serve(registry, "Sigmoid", unary([](const auto& x) { return hd::sigmoid(x); }));
  serve(registry, "LeakyRelu",
        unary([](const auto& x, const Call& call) { return hd::leaky_relu(x, call.number("alpha", 0.01)); }));
  serve(registry, "Elu", unary([](const auto& x, const Call& call) { return hd::elu(x, call.number("alpha", 1)); }));
  serve(registry, "Celu", unary([](const auto& x, const Call& call) { return hd::celu(x, call.number("alpha", 1)); }));
  serve(registry, "Selu",
        choice([](const Call& call) { return call.has("alpha") || call.has("gamma"); },
               unary([](const auto& x) { return hd::selu(x); }), unary([](const auto& x, const Call& call) {
                 return call.number("gamma", 1.05070102214813232) *
                        hd::elu(x, call.number("alpha", 1.67326319217681885));
               })));
  serve(
      registry, "Gelu",
      choice([](const Call& call) { return call.text_is("approximate", "tanh"); },
             unary([](const auto& x) { return hd::gelu(x); }), unary([](const auto& x) { return hd::gelu_tanh(x); })));
  // Heddle's hardsigmoid has PyTorch's slope of 1/6, and no parameters.
  serve(registry, "HardSigmoid", unary([](const auto& x, const Call& call) {
          return hd::clamp(x * call.number("alpha", 0.2) + call.number("beta", 0.5), 0, 1);
        }));
  serve(registry, "HardSwish", unary([](const auto& x) { return hd::hardswish(x); }));
  serve(registry, "Mish", unary([](const auto& x) { return hd::mish(x); }));
  serve(registry, "PRelu", PRelu{});
  serve(registry, "Shrink", unary([](const auto& x, const Call& call) {
          const double edge = call.number("lambd", 0.5);
          const double bias = call.number("bias", 0);
          return hd::where(x < -edge, x + bias, hd::where(x > edge, x - bias, 0));
        }));
  serve(registry, "Softplus", unary([](const auto& x) { return hd::softplus(x); }));
  serve(registry, "Softsign", unary([](const auto& x) { return hd::softsign(x); }));
  serve(registry, "SwiGLU", binary<Reals>([](const auto& a, const auto& b) { return hd::silu(a) * b; }));
  serve(registry, "ThresholdedRelu",
        unary([](const auto& x, const Call& call) { return hd::threshold(x, call.number("alpha", 1), 0); }));
}

}  // namespace conformance
