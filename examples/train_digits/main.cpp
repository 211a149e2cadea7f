// Trains a small network to read handwritten digits, on the best device of the machine.

#include <cstdint>
#include <cstdio>
#include <exception>
#include <type_traits>
#include <variant>

#include "idx.hpp"
#include "network.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "shuffle.hpp"

namespace {

/// Images and labels on the device. The bytes cross once, and become numbers from 0 to 1 there.
template <class Device>
struct DataSet {
  DataSet(const Digits& digits, Device device)
      : images(hd::cast<float>(
                   hd::from_host<std::uint8_t>(digits.pixels, {digits.count, digits.rows * digits.columns}, device)) /
               255.0f),
        labels(hd::from_host<std::uint8_t>(digits.labels, {digits.count}, device)) {}

  typename Network<Device>::Images images;
  typename Network<Device>::Labels labels;
};

template <class Device>
float accuracy(const Network<Device>& network, const DataSet<Device>& data) {
  return hd::mean(hd::cast<float>(hd::argmax(network(data.images), hd::axis<1>) == data.labels)).item();
}

template <class Device>
Readings read_digits(const Network<Device>& network, const DataSet<Device>& data) {
  hd::Tensor probabilities = hd::softmax(network(data.images), hd::axis<1>);
  return {hd::argmax(probabilities, hd::axis<1>).to_vector(), hd::max(probabilities, hd::axis<1>).to_vector()};
}

template <class Device>
void train(const Options& options, const Digits& train_digits, const Digits& test_digits, Device device) {
  const DataSet<Device> training(train_digits, device);
  const DataSet<Device> testing(test_digits, device);
  hd::manual_seed(options.seed);
  Network<Device> network(training.images.extent(1), device);

  const std::int64_t batch_size = options.batch < train_digits.count ? options.batch : train_digits.count;
  Progress progress(options.epochs, train_digits.count);
  std::int64_t steps = 0;
  const auto is_finished = [&] { return options.steps > 0 && steps == options.steps; };

  for (std::int64_t epoch = 1; epoch <= options.epochs && !is_finished(); ++epoch) {
    progress.start_epoch();
    hd::Tensor total_loss = hd::zeros<float>({}, device);
    std::int64_t batches = 0;
    for (const std::int64_t start : shuffled_batches(train_digits.count, batch_size, options.seed, epoch)) {
      const auto batch = hd::range(start, start + batch_size);  // clamped at the end
      const hd::Tensor images = training.images.slice(hd::axis<0>, batch);
      const hd::Tensor labels = training.labels.slice(hd::axis<0>, batch);
      const hd::Tensor loss = network.step(images, labels, options.rate);
      total_loss += loss;
      ++batches;
      ++steps;

      if (options.losses) {
        std::printf("%.7g\n", static_cast<double>(loss.item()));
      } else if (progress.advance(images.extent(0))) {
        progress.show(total_loss.item() / static_cast<float>(batches));
      }
      if (is_finished()) break;
    }
    if (!options.losses) {
      progress.show(total_loss.item() / static_cast<float>(batches));
      progress.finish_epoch(accuracy(network, testing));
    }
  }

  if (!options.losses) {
    const Readings readings = read_digits(network, testing);
    print_accuracy(test_digits, readings);
    print_confusion(test_digits, readings);
    print_mistakes(test_digits, readings, 6);
  }
}

template <class Device>
void print_device(Device device) {
  if constexpr (std::is_same_v<Device, hd::Cuda>) {
    std::printf("on %s\n", hd::cuda::device_info(device.index).name);
  } else {
    std::printf("on the CPU\n");
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse_options(argc, argv, HEDDLE_EXAMPLES_DATA_DIR);
  if (options.help) {
    std::fputs(help_text, stdout);
    return 0;
  }

  auto device = hd::best_device();
  if (options.device == Options::Device::cpu) {
    device = hd::cpu;
  }
  if (options.device == Options::Device::cuda && std::holds_alternative<hd::Cpu>(device)) {
    throw hd::Error("--device cuda: no usable CUDA device, or a program that was built without CUDA");
  }

  Digits training = load_digits(options.data, "train");
  const Digits testing = load_digits(options.data, "test");
  if (training.rows != testing.rows || training.columns != testing.columns) {
    throw hd::FormatError("the training and the test images differ in size");
  }
  shuffle(training, options.seed);

  hd::with_device(device, [&](auto chosen) {
    if (!options.losses) {
      std::printf("Training on %lld images, testing on %lld, ", static_cast<long long>(training.count),
                  static_cast<long long>(testing.count));
      print_device(chosen);
    }
    train(options, training, testing, chosen);
  });
  return 0;
} catch (const std::exception& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "train_digits: %s\n", error.what());
  return 1;
}
