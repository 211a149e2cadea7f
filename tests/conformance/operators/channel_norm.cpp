// BatchNormalization GroupNormalization InstanceNormalization and PyTorch's
#include "conformance/broadcast.hpp"
#include "conformance/dispatch.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/batch_norm.hpp"
#include "heddle/ops/group_norm.hpp"

namespace conformance {
namespace {

/// As (batch, channels, rest).
Extents by_channel(const Extents& shape) {
  if (shape.size() < 2) throw NotServed{"not for this rank"};
  return {shape[0], shape[1], size_of(Extents(shape.begin() + 2, shape.end()))};
}

double epsilon(const Call& call) { return call.number(call.is_pytorch() ? "eps" : "epsilon", 1e-5); }

template <class T, class Device>
hd::Tensor<T, 1, Device> vector(const Call& call, int position, Device device) {
  return tensor<T, 1>(call, call.input(position), device);
}

/// PyTorch's order is mean, variance, weight, bias, and ONNX's weight, bias, mean, variance; ONNX's momentum is the old
/// statistics' part. What is written into the statistics stands behind the output.
struct BatchNorm {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const Extents seen = by_channel(array.shape);
    const auto done = [&](auto&& formula) { return reshaped(result(std::move(formula)), seen, array.shape); };
    const bool training = call.flag(call.is_pytorch() ? "training" : "training_mode", false);
    if (array.type == ElementType::float64) {
      if (call.has_input(1) || !training) throw NotServed{"not with statistics"};
      const auto x = tensor<double, 3>(call, array, seen, device);
      return {done(hd::batch_norm(x, nullptr, nullptr, nullptr, nullptr, true))};
    }
    const int statistics = call.is_pytorch() ? 1 : 3;
    const int affine = call.is_pytorch() ? 3 : 1;
    const double momentum = call.is_pytorch() ? call.number("momentum", 0.1) : 1 - call.number("momentum", 0.9);
    const auto x = tensor<float, 3>(call, array, seen, device);
    // Clones, since they may be written to.
    const auto mean = vector<float>(call, statistics, device).clone();
    const auto variance = vector<float>(call, statistics + 1, device).clone();
    Outputs outputs{done(hd::batch_norm(x, mean, variance, vector<float>(call, affine, device),
                                        vector<float>(call, affine + 1, device), training, momentum, epsilon(call)))};
    if (training) {
      outputs.push_back(result(mean));
      outputs.push_back(result(variance));
    }
    return outputs;
  }
};

struct BatchNormGradient {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const Extents seen = by_channel(array.shape);
    if (!call.flag("training", false)) throw NotServed{"not for inference"};
    if (array.type == ElementType::float64) {
      const auto x = tensor<double, 3>(call, array, seen, device);
      const auto dy = tensor<double, 3>(call, call.cotangent(0), seen, device);
      return {reshaped(result(hd::batch_norm_grad(dy, x).input), seen, array.shape)};
    }
    const auto x = tensor<float, 3>(call, array, seen, device);
    const auto dy = tensor<float, 3>(call, call.cotangent(0), seen, device);
    const auto got = hd::batch_norm_grad(dy, x, vector<float>(call, 3, device), epsilon(call));
    return {reshaped(result(got.input), seen, array.shape), no_gradient(), no_gradient(), result(got.weight),
            result(got.bias)};
  }
};

struct GroupNorm {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const Extents seen = by_channel(array.shape);
    const std::int64_t groups = call.integer("num_groups", 1);
    if (array.type == ElementType::float64) {
      if (call.has_input(2)) throw NotServed{"not with a weight"};
      const auto x = tensor<double, 3>(call, array, seen, device);
      return {reshaped(result(hd::group_norm(x, groups, nullptr, nullptr, epsilon(call))), seen, array.shape)};
    }
    const auto x = tensor<float, 3>(call, array, seen, device);
    return {reshaped(result(hd::group_norm(x, groups, vector<float>(call, 1, device), vector<float>(call, 2, device),
                                           epsilon(call))),
                     seen, array.shape)};
  }
};

struct GroupNormGradient {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const Extents seen = by_channel(array.shape);
    const auto x = tensor<double, 3>(call, array, seen, device);
    const auto dy = tensor<double, 3>(call, call.cotangent(0), seen, device);
    const auto got = hd::group_norm_grad(dy, x, call.integer("num_groups", 1), nullptr, epsilon(call));
    return {reshaped(result(got.input), seen, array.shape)};
  }
};

/// Of the input's own statistics; running ones, which PyTorch has too, are not written.
template <class T, int Weight>
struct InstanceNorm {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const Extents seen = by_channel(array.shape);
    const auto x = tensor<T, 3>(call, array, seen, device);
    return {reshaped(result(hd::instance_norm(x, vector<T>(call, Weight, device), vector<T>(call, Weight + 1, device),
                                              epsilon(call))),
                     seen, array.shape)};
  }
};

struct InstanceNormGradient {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    const Extents seen = by_channel(array.shape);
    const auto x = tensor<double, 3>(call, array, seen, device);
    const auto dy = tensor<double, 3>(call, call.cotangent(0), seen, device);
    const auto got = hd::instance_norm_grad(dy, x, vector<double>(call, 3, device), epsilon(call));
    return {reshaped(result(got.input), seen, array.shape), no_gradient(), no_gradient(), result(got.weight),
            result(got.bias)};
  }
};

}  // namespace

void add_channel_norm(Registry& registry) {
  serve(registry, {"BatchNormalization", "nn.functional.batch_norm"}, BatchNorm{});
  serve(registry, {"GroupNormalization", "nn.functional.group_norm"}, GroupNorm{});
  serve(registry, "InstanceNormalization", InstanceNorm<float, 1>{});
  serve(registry, "nn.functional.instance_norm", InstanceNorm<double, 3>{});
  serve_gradient(registry, "nn.functional.batch_norm", BatchNormGradient{});
  serve_gradient(registry, "nn.functional.group_norm", GroupNormGradient{});
  serve_gradient(registry, "nn.functional.instance_norm", InstanceNormGradient{});
}

}  // namespace conformance
