#pragma once

#include <cstdint>

/// What the command line asks for.
struct Options {
  enum class Device { best, cpu, cuda };

  Device device = Device::best;
  std::int64_t epochs = 10;
  std::int64_t batch = 50;
  std::int64_t steps = 0;  // 0: all steps of all epochs
  std::uint64_t seed = 1;
  float rate = 0.1f;
  const char* data = nullptr;  // the folder of the four files
  bool losses = false;
  bool help = false;
};

/// Reads the command line. Throws a std::runtime_error whose text is one line naming the option that is wrong.
/// `default_data` is the folder to read when there is no --data.
Options parse_options(int argc, const char* const* argv, const char* default_data);

/// The text of --help.
extern const char* const help_text;
