// R215: a function of the user's own, without a flag of nvcc's. R219: CMAKE_CUDA_ARCHITECTURES is the project's.
#include <heddle/heddle.hpp>
#include <iostream>

namespace hd = heddle;

struct Twice {
  HEDDLE_HOST_DEVICE float operator()(float x) const { return 2 * x; }
};

int main() {
  return hd::with_device(hd::best_device(), [](auto device) {
    const auto x = hd::tensor<float>({1, 2, 3}, device);
    const hd::Tensor y = hd::map(Twice{}, x) + 1.0f;
    std::cout << y << '\n';
    return hd::array_equal(y.to(hd::cpu), hd::tensor<float>({3, 5, 7})) ? 0 : 1;
  });
}
