#include <heddle/heddle.hpp>
#include <iostream>

namespace hd = heddle;

#if !HEDDLE_HAS_CUDA
#error "the component cuda did not give HEDDLE_HAS_CUDA"
#endif

int main() {
  const auto host = hd::tensor<float>({1, 2, 3});
  if (!hd::cuda::is_available()) {
    std::cout << "no CUDA device\n";
    return 0;
  }
  // No kernel is compiled here, but tensors live on the device, and go there and back.
  const auto device = host.to(hd::Cuda{});
  return hd::array_equal(device.to(hd::cpu), host) ? 0 : 1;
}
