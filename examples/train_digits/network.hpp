#pragma once

#include <heddle/heddle.hpp>

#include <cmath>
#include <cstdint>
#include <utility>

namespace hd = heddle;

/// One fully connected layer, and how its weights last moved.
template <class Device>
struct Layer {
  Layer(hd::index_t inputs, hd::index_t outputs, Device device)
      : weight(hd::randn<float>({inputs, outputs}, device) * std::sqrt(2.0f / static_cast<float>(inputs))),
        bias(hd::zeros<float>({outputs}, device)),
        weight_velocity(hd::zeros_like(weight)),
        bias_velocity(hd::zeros_like(bias)) {}

  /// Moves the weights down the gradient, with momentum. The gradients come as formulas, not as tensors: each is
  /// computed inside the kernel that makes the new velocity of it, and never stored.
  template <class WeightGradient, class BiasGradient>
  void descend(WeightGradient&& weight_gradient, BiasGradient&& bias_gradient, float rate) {
    constexpr float momentum = 0.9f;
    weight_velocity = momentum * weight_velocity - rate * std::forward<WeightGradient>(weight_gradient);
    bias_velocity = momentum * bias_velocity - rate * std::forward<BiasGradient>(bias_gradient);
    weight += weight_velocity;
    bias += bias_velocity;
  }

  hd::Tensor<float, 2, Device> weight;
  hd::Tensor<float, 1, Device> bias;
  hd::Tensor<float, 2, Device> weight_velocity;
  hd::Tensor<float, 1, Device> bias_velocity;
};

/// A multi-layer perceptron that reads digits: pixels in, a hidden layer of 128, and a score for each of the ten
/// digits.
template <class Device>
class Network {
 public:
  using Images = hd::Tensor<float, 2, Device>;         // an image a row
  using Labels = hd::Tensor<std::uint8_t, 1, Device>;  // the digit that each one shows

  Network(hd::index_t pixels, Device device)
      : first_(pixels, 128, device), second_(128, 10, device), digits_(hd::arange<int>(10, device)) {}

  /// The scores of every image.
  hd::Tensor<float, 2, Device> operator()(const Images& images) const {
    return hd::matmul(hd::relu(hd::matmul(images, first_.weight) + first_.bias), second_.weight) + second_.bias;
  }

  /// One step of gradient descent on a batch. Returns the mean loss before the step, which stays on the device.
  hd::Tensor<float, 0, Device> step(const Images& images, const Labels& labels, float rate) {
    const float count = static_cast<float>(images.extent(0));

    // Forward: each line is one kernel.
    hd::Tensor hidden = hd::relu(hd::matmul(images, first_.weight) + first_.bias);
    hd::Tensor scores = hd::matmul(hidden, second_.weight) + second_.bias;

    // The loss is the cross-entropy of softmax. `is_label` marks the right score in each row; it is a formula and
    // becomes part of the kernels that use it.
    auto is_label = labels.unsqueeze(hd::axis<1>) == digits_;
    hd::Tensor loss = hd::sum(hd::where(is_label, hd::log_softmax(scores, hd::axis<1>), 0.0f)) / -count;

    // Backward: the gradient of the loss by the scores, then by the hidden layer.
    hd::Tensor scores_gradient = (hd::softmax(scores, hd::axis<1>) - hd::cast<float>(is_label)) / count;
    hd::Tensor hidden_gradient =
        hd::where(hidden > 0.0f, hd::matmul(scores_gradient, second_.weight.transpose()), 0.0f);

    second_.descend(hd::matmul(hidden.transpose(), scores_gradient), hd::sum(scores_gradient, hd::axis<0>), rate);
    first_.descend(hd::matmul(images.transpose(), hidden_gradient), hd::sum(hidden_gradient, hd::axis<0>), rate);
    return loss;
  }

 private:
  Layer<Device> first_;
  Layer<Device> second_;
  hd::Tensor<int, 1, Device> digits_;
};
