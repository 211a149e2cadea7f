#include <iostream>

#include "kernels.hpp"

namespace hd = heddle;

#if !HEDDLE_HAS_CUDA
#error "a project with CUDA was not given HEDDLE_HAS_CUDA"
#endif

int main() {
  const auto x = hd::tensor<float>({{1, 2}, {3, 4}});
  const auto w = hd::tensor<float>({{1, 0}, {0, -1}});
  const auto b = hd::tensor<float>({10, 1});
  const hd::Tensor expected = hd::relu(hd::matmul(x, w) + b);  // on the CPU, by the C++ compiler
  std::cout << expected << '\n';
  if (!hd::cuda::is_available()) {
    std::cout << "no CUDA device\n";
    return hd::array_equal(expected, hd::tensor<float>({{11, 0}, {13, 0}})) ? 0 : 1;
  }
  const hd::Cuda device;
  const auto y = layer(x.to(device), w.to(device), b.to(device));  // on the device, by nvcc
  return hd::array_equal(y.to(hd::cpu), expected) ? 0 : 1;
}
