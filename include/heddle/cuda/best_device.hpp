// Which device to compute on.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "heddle/core/device.hpp"
#include "heddle/cuda/device.hpp"

namespace heddle {

/// The devices that a translation unit can compute on: Cpu, and Cuda where it is compiled as CUDA.
template <class Build>
using device_choice = std::conditional_t<Build::cuda_compiler, std::variant<Cpu, Cuda>, std::variant<Cpu>>;

/// The best device of this machine: Cuda{0} where the translation unit is compiled as CUDA and a device can be used,
/// else Cpu. Needs no GPU, driver or nvcc to answer. Example: `hd::with_device(hd::best_device(), [](auto device) { …
/// });`
template <class Build = this_build>
device_choice<Build> best_device() {
  if constexpr (Build::cuda_compiler) {
    if (cuda::is_available<Build>()) return Cuda{0};
  }
  return Cpu{};
}

/// Calls f(Cpu) or f(Cuda), whichever the variant holds; both must return the same type.
template <class... Devices, class F>
decltype(auto) with_device(const std::variant<Devices...>& device, F&& f) {
  if constexpr (sizeof...(Devices) > 1) {
    if (const Cuda* const cuda_device = std::get_if<Cuda>(&device)) return std::forward<F>(f)(*cuda_device);
  }
  return std::forward<F>(f)(Cpu{});
}
/// Calls f with a device that is known already.
template <class Device, class F>
requires is_device_v<Device>
decltype(auto) with_device(Device device, F&& f) { return std::forward<F>(f)(device); }

}  // namespace heddle
