// expect: a functor in a formula must be trivially copyable
#include <heddle/heddle.hpp>
#include <vector>

namespace hd = heddle;

struct Table {
#ifdef HEDDLE_MISUSE
  std::vector<float> values;
#else
  float values[4];
#endif
  float operator()(float x) const { return values[x > 0 ? 1 : 0]; }
};

void misuse(const hd::Tensor<float, 1>& x, const Table& table) { hd::Tensor y = hd::map(table, x); }
