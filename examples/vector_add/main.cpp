// The smallest Heddle program: adds two vectors on the best device of the machine.

#include <heddle/heddle.hpp>

#include <iostream>

namespace hd = heddle;

int main() {
  hd::with_device(hd::best_device(), [](auto device) {
    auto a = hd::tensor<int>({1, 2, 3, 4, 5}, device);
    auto b = hd::tensor<int>({10, 20, 30, 40, 50}, device);
    hd::Tensor sum = a + b;
    std::cout << a << " + " << b << " = " << sum << '\n';
  });
}
