// As counted_operations, for rows that clusters of blocks take: compiled for an architecture that has clusters too.
#include <heddle/ops/create.hpp>
#include <heddle/ops/norm.hpp>
#include <heddle/ops/softmax.hpp>

#include <vector>

#include "counted.hpp"

namespace hd = heddle;

namespace {

const hd::Cuda device;

hd::Tensor<float, 2, hd::Cuda> input(hd::index_t rows, hd::index_t columns) {
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) - 8.0F;
  return hd::from_host<float>(values, hd::Shape<2>{rows, columns}, device);
}

const counted operations[] = {
    {"softmax_long", [] { hd::Tensor y = hd::softmax(input(16, 131072), hd::axis<1>); }},
    {"softmax_few", [] { hd::Tensor y = hd::softmax(input(16, 32768), hd::axis<1>); }},
    {"layer_norm_long", [] { hd::Tensor y = hd::layer_norm(input(16, 131072), hd::axis<1>); }},
};

}  // namespace

int main(int count, char** arguments) { return run_counted(operations, count, arguments); }
