// expect: operations on Cuda tensors need a CUDA compiler: compile this file as CUDA (.cu)
// compile: cpp_with_cuda
#include <heddle/heddle.hpp>

namespace hd = heddle;

void misuse(const hd::Tensor<float, 1>& host) {
  const hd::Tensor x = host.to(hd::Cuda{});  // moving and copying is fine
#ifdef HEDDLE_MISUSE
  hd::Tensor y = x + x;
#endif
}
