// expect: from a __device__ function
#include <heddle/heddle.hpp>

namespace hd = heddle;

void misuse(const hd::Tensor<float, 1>& host, const hd::Tensor<float, 1, hd::Cuda>& x) {
  const auto twice = [](float value) { return 2 * value; };
  hd::Tensor y = hd::map(twice, host);
#ifdef HEDDLE_MISUSE
  hd::Tensor z = hd::map(twice, x);
#endif
}
