// Activations
#include "heddle/ops/activation.hpp"
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/arithmetic.hpp"
#include "heddle/ops/compare.hpp"
#include "heddle/ops/select.hpp"

namespace conformance {
namespace {

/// The slope broadcasts; before opset 7 one of shape (C) belonged to axis 1.
struct PRelu {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& x = call.input(0);
    const Array& slope = call.input(1);
    Extents slope_shape = slope.shape;
    if (call.opset() < 7 && slope.rank() == 1 && x.rank() > 2)
      slope_shape.insert(slope_shape.end(), static_cast<std::size_t>(x.rank() - 2), 1);
    return with_type(Types<float>{}, x.type, [&](auto type) {
      using T = type_of<decltype(type)>;
      return mapped<broadcast_rank, T, T>(
          call, device, [](const auto& a, const auto& b) { return hd::prelu(a, b); }, {&x, &slope},
          {x.shape, slope_shape}, std::index_sequence<0, 1>{});
    });
  }
};

/// One number, or one a channel: of a slope of rank 0 or 1.
struct ChannelPRelu {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return with_type(Reals{}, call.input(0).type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      return with_int(Ints<0, 3, 4>{}, call.input(0).rank(), [&](auto rank) -> Outputs {
        constexpr int r = decltype(rank)::value;
        const auto x = tensor<T, r>(call, call.input(0), device);
        const Array& slope = call.input(1);
        if (slope.rank() == 0) return {result(hd::prelu(x, tensor<T, 0>(call, slope, device)))};
        if constexpr (r != 4 && std::is_same_v<T, float>) {
          if (slope.rank() == 1) return {result(hd::prelu(x, tensor<T, 1>(call, slope, device)))};
          if constexpr (r == 3) return {result(hd::prelu(x, tensor<T, 2>(call, slope, device)))};
        }
        throw NotServed{"not for this rank"};
      });
    });
  }
};

}  // namespace

void add_activation(Registry& registry) {
  serve(registry, {"Relu", "nn.functional.relu"},
        unary<Types<float, double, I64, U8>>([](const auto& x) { return hd::relu(x); }));
  serve(registry, "nn.functional.relu6",
        unary<Types<float, double, I32, I64, U8>>([](const auto& x) { return hd::relu6(x); }));
  serve(registry, {"Sigmoid", "sigmoid"},
        unary<Types<float, I64, U8, bool>>([](const auto& x) { return hd::sigmoid(x); }));
  serve(registry, "nn.functional.logsigmoid", unary([](const auto& x) { return hd::logsigmoid(x); }));
  serve(
      registry, {"LeakyRelu", "nn.functional.leaky_relu"},
      choice([](const Call& call) { return call.has("alpha"); }, unary([](const auto& x) { return hd::leaky_relu(x); }),
             unary([](const auto& x, const Call& call) { return hd::leaky_relu(x, call.number("alpha", 0.01)); })));
  serve(registry, {"Elu", "nn.functional.elu"},
        unary([](const auto& x, const Call& call) { return hd::elu(x, call.number("alpha", 1)); }));
  serve(registry, {"Celu", "nn.functional.celu"},
        unary([](const auto& x, const Call& call) { return hd::celu(x, call.number("alpha", 1)); }));
  serve(registry, {"Selu", "nn.functional.selu"},
        choice([](const Call& call) { return call.has("alpha") || call.has("gamma"); },
               unary<Types<float>>([](const auto& x) { return hd::selu(x); }),
               unary<Types<float>>([](const auto& x, const Call& call) {
                 return call.number("gamma", 1.05070102214813232) *
                        hd::elu(x, call.number("alpha", 1.67326319217681885));
               })));
  serve(registry, {"Gelu", "nn.functional.gelu"},
        choice([](const Call& call) { return call.text_is("approximate", "tanh"); },
               unary([](const auto& x) { return hd::gelu(x); }),
               unary<Types<float>>([](const auto& x) { return hd::gelu_tanh(x); })));
  // Heddle's hardsigmoid has PyTorch's slope of 1/6, and no parameters.
  serve(registry, "HardSigmoid", unary<Types<float>>([](const auto& x, const Call& call) {
          return hd::clamp(x * call.number("alpha", 0.2) + call.number("beta", 0.5), 0, 1);
        }));
  serve(registry, "nn.functional.hardsigmoid", unary([](const auto& x) { return hd::hardsigmoid(x); }));
  serve(registry, {"HardSwish", "nn.functional.hardswish"}, unary([](const auto& x) { return hd::hardswish(x); }));
  serve(registry, "nn.functional.hardtanh",
        choice([](const Call& call) { return call.has("min_val"); },
               unary<Types<float, double, I64>>([](const auto& x) { return hd::hardtanh(x); }),
               unary<Types<float, I32>>([](const auto& x, const Call& call) {
                 return hd::hardtanh(x, call.number("min_val", -1), call.number("max_val", 1));
               })));
  serve(registry, {"Mish", "nn.functional.mish"}, unary([](const auto& x) { return hd::mish(x); }));
  serve(registry, "nn.functional.silu", unary([](const auto& x) { return hd::silu(x); }));
  serve(registry, "PRelu", PRelu{});
  serve(registry, "nn.functional.prelu", ChannelPRelu{});
  serve(registry, "Shrink", unary<Types<float>>([](const auto& x, const Call& call) {
          const double edge = call.number("lambd", 0.5);
          const double bias = call.number("bias", 0);
          return hd::where(x < -edge, x + bias, hd::where(x > edge, x - bias, 0));
        }));
  serve(registry, {"Softplus", "nn.functional.softplus"}, unary([](const auto& x, const Call& call) {
          return hd::softplus(x, call.number("beta", 1), call.number("threshold", 20));
        }));
  serve(registry, {"Softsign", "nn.functional.softsign"},
        unary<Types<float, double, I32, I64>>([](const auto& x) { return hd::softsign(x); }));
  serve(registry, "SwiGLU", binary<Types<float>>([](const auto& a, const auto& b) { return hd::silu(a) * b; }));
  serve(registry, "nn.functional.tanhshrink", unary([](const auto& x) { return hd::tanhshrink(x); }));
  serve(registry, {"ThresholdedRelu", "nn.functional.threshold"},
        unary<Types<float, double, U8>>([](const auto& x, const Call& call) {
          using T = typename std::remove_cvref_t<decltype(x)>::value_type;
          const double bound = call.number(call.is_pytorch() ? "threshold" : "alpha", 1);
          const double value = call.number("value", 0);
          if constexpr (std::is_integral_v<T>)
            return hd::threshold(x, static_cast<T>(bound), static_cast<T>(value));
          else
            return hd::threshold(x, bound, value);
        }));
}

}  // namespace conformance
