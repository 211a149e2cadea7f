// Activations
#include "conformance/operators/elementwise.hpp"
#include "conformance/operators/families.hpp"

namespace conformance {

void add_activation(Registry& registry) {
  serve(registry, "Relu", unary([](const auto& x) { return hd::relu(x); }));
  serve(registry, "Sigmoid", unary([](const auto& x) { return hd::sigmoid(x); }));
  serve(registry, "LeakyRelu",
        unary([](const auto& x, const Call& call) { return hd::leaky_relu(x, call.number("alpha", 0.01)); }));
  serve(registry, "Softplus", unary([](const auto& x) { return hd::softplus(x); }));
  serve(registry, "SwiGLU", binary<Reals>([](const auto& a, const auto& b) { return hd::silu(a) * b; }));
  // Heddle's hardsigmoid has PyTorch's slope of 1/6, and no parameters.
  serve(registry, "HardSigmoid", unary([](const auto& x, const Call& call) {
          return hd::clamp(x * call.number("alpha", 0.2) + call.number("beta", 0.5), 0, 1);
        }));
  serve(registry, "Shrink", unary([](const auto& x, const Call& call) {
          const double edge = call.number("lambd", 0.5);
          const double bias = call.number("bias", 0);
          return hd::where(x < -edge, x + bias, hd::where(x > edge, x - bias, 0));
        }));
  serve(registry, "ThresholdedRelu",
        unary([](const auto& x, const Call& call) { return hd::where(x > call.number("alpha", 1), x, 0); }));
}

}  // namespace conformance
