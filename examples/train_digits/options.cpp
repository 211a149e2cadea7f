#include "options.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

const char* const help_text =
    R"(Usage: train_digits [option]...

Trains a network of 784, 128 and 10 neurons to read handwritten digits, then shows how well it reads digits
that it has never seen.

  --device cpu|cuda  where to compute (default: cuda if there is a usable GPU, else cpu)
  --epochs N         how often to go through the training images (default 10)
  --batch N          images a step (default 50)
  --rate X           step size of the gradient descent (default 0.1)
  --seed N           seed of the initial weights and of the order of the images (default 1)
  --data DIR         folder of the four IDX files (default: the images that come with the example)
  --steps N          stop after N steps
  --losses           print the loss of every step, one a line, and nothing else
  --help             show this text
)";

namespace {

[[noreturn]] void fail(std::string_view option, const std::string& reason) {
  throw std::runtime_error(std::string(option) + ": " + reason);
}

template <class Integer>
Integer parse_integer(std::string_view option, std::string_view text, Integer least) {
  Integer value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < least) {
    fail(option, "a whole number from " + std::to_string(least) + " on was expected, not '" + std::string(text) + "'");
  }
  return value;
}

float parse_rate(std::string_view option, const char* text) {
  char* end = nullptr;
  const float value = std::strtof(text, &end);
  if (end == text || *end != '\0' || !std::isfinite(value) || value <= 0.0f) {
    fail(option, std::string("a positive number was expected, not '") + text + "'");
  }
  return value;
}

Options::Device parse_device(std::string_view option, std::string_view text) {
  if (text == "cpu") return Options::Device::cpu;
  if (text == "cuda") return Options::Device::cuda;
  fail(option, "cpu or cuda was expected, not '" + std::string(text) + "'");
}

}  // namespace

Options parse_options(int argc, const char* const* argv, const char* default_data) {
  Options options;
  options.data = default_data;
  for (int index = 1; index < argc; ++index) {
    const std::string_view argument = argv[index];
    // --name value and --name=value are the same.
    const auto equals = argument.substr(0, 2) == "--" ? argument.find('=') : std::string_view::npos;
    const std::string_view name = argument.substr(0, equals);
    const bool is_flag = name == "--help" || name == "--losses";
    const bool is_known = is_flag || name == "--device" || name == "--epochs" || name == "--batch" ||
                          name == "--rate" || name == "--seed" || name == "--data" || name == "--steps";
    if (!is_known) {
      fail(name, "unknown option, --help lists them all");
    }
    if (is_flag) {
      if (equals != std::string_view::npos) {
        fail(name, "this option takes no value");
      }
      (name == "--help" ? options.help : options.losses) = true;
      continue;
    }

    const char* value = nullptr;
    if (equals != std::string_view::npos) {
      value = argv[index] + equals + 1;
    } else if (index + 1 < argc) {
      value = argv[++index];
    } else {
      fail(name, "a value is missing");
    }
    if (name == "--device") options.device = parse_device(name, value);
    if (name == "--epochs") options.epochs = parse_integer<std::int64_t>(name, value, 1);
    if (name == "--batch") options.batch = parse_integer<std::int64_t>(name, value, 1);
    if (name == "--rate") options.rate = parse_rate(name, value);
    if (name == "--seed") options.seed = parse_integer<std::uint64_t>(name, value, 0);
    if (name == "--data") options.data = value;
    if (name == "--steps") options.steps = parse_integer<std::int64_t>(name, value, 1);
  }
  return options;
}
