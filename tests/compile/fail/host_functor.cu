// expect: calling a __host__ function("HostOnly::operator ()(float) const") from a __device__ function
#include <heddle/heddle.hpp>

namespace hd = heddle;

struct HostOnly {
#ifdef HEDDLE_MISUSE
  float operator()(float x) const { return 2 * x; }
#else
  HEDDLE_HOST_DEVICE float operator()(float x) const { return 2 * x; }
#endif
};

void misuse(const hd::Tensor<float, 1, hd::Cuda>& x) { hd::Tensor y = hd::map(HostOnly{}, x); }
