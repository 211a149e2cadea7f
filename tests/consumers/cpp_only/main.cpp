// R204, R208, R211: built and run without CUDA, from the installed package too. R203: a C header first.
#include <cstdio>

#include <cstdint>
#include <heddle/heddle.hpp>
#include <iostream>

namespace hd = heddle;

#if HEDDLE_HAS_CUDA
#error "a project without CUDA was given HEDDLE_HAS_CUDA"
#endif

int main() {
  const auto a = hd::tensor<float>({1, 2, 3, 4, 5});
  const auto b = hd::tensor<float>({10, 20, 30, 40, 50});
  const hd::Tensor sum = a + b;
  std::cout << sum << '\n';
  std::cout << hd::tensor<std::int64_t>({1, 2}) << hd::tensor<std::uint8_t>({3}) << hd::ones<bool>({2})
            << hd::ones<hd::half>({2}) << '\n';

  // Without a GPU in the build, the best device is the CPU.
  const float total = hd::with_device(hd::best_device(), [](auto device) {
    const auto x = hd::ones<float>({100}, device);
    return hd::sum(x * 2.0f).item();
  });
  return hd::array_equal(sum, hd::tensor<float>({11, 22, 33, 44, 55})) && total == 200.0f ? 0 : 1;
}
