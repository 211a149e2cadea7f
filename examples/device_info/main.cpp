// Lists the CUDA devices that this program can use.

#include <heddle/heddle.hpp>

#include <iostream>

namespace hd = heddle;

int main() {
  if (!hd::cuda::is_available()) {
    std::cout << "No usable CUDA device: Heddle computes on the CPU.\n";
    return 0;
  }
  for (int index = 0; index < hd::cuda::device_count(); ++index) {
    std::cout << index << ": " << hd::cuda::device_info(index) << '\n';
  }
}
