// Where a tensor lives.
#pragma once

#include "heddle/config.hpp"

namespace heddle {

/// The processor and its memory.
struct Cpu {
  friend constexpr bool operator==(Cpu, Cpu) { return true; }
};

/// A CUDA device by its number. Which kind of device is static, which one is not. Example: `hd::Cuda{1}`.
struct Cuda {
  int index = 0;
  friend constexpr bool operator==(Cuda a, Cuda b) { return a.index == b.index; }
};

inline constexpr Cpu cpu{};

/// The device that creation functions take when none is named.
using default_device = HEDDLE_DEFAULT_DEVICE;

template <class D>
inline constexpr bool is_device_v = false;
template <>
inline constexpr bool is_device_v<Cpu> = true;
template <>
inline constexpr bool is_device_v<Cuda> = true;

}  // namespace heddle
