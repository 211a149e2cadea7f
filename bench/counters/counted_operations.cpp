// Runs one named operation once on CUDA, for the counters that the GPU emulator keeps. Inputs are copied from the host,
// so that no kernel runs but the operation's own. Without an argument: lists the names.
#include <heddle/heddle.hpp>

#include <vector>

#include "counted.hpp"

namespace hd = heddle;
using hd::index_t;

namespace {

const hd::Cuda device;

template <class T, std::size_t N>
auto input(const hd::Extent (&extents)[N]) {
  const hd::Shape<static_cast<int>(N)> shape(extents);
  std::vector<T> values(static_cast<std::size_t>(shape.size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(static_cast<float>(i % 17) - 8.0F);
  return hd::from_host<T>(values, shape, device);
}

constexpr index_t n = (index_t{1} << 20) + 3;

void cross_entropy_of(const hd::Extent (&extents)[2]) {
  const auto a = input<float>(extents);
  const std::vector<std::int64_t> classes(static_cast<std::size_t>(a.extent(0)), 3);
  const auto labels = hd::from_host<std::int64_t>(classes, hd::Shape<1>{a.extent(0)}, device);
  hd::Tensor loss = hd::cross_entropy(a, labels);
}

const counted operations[] = {
    {"map",
     [] {
       auto a = input<float>({n}), b = input<float>({n}), c = input<float>({n}), y = input<float>({n});
       y = hd::relu(a * b + c);
     }},
    {"map_half",
     [] {
       auto a = input<hd::half>({n}), b = input<hd::half>({n}), y = input<hd::half>({n});
       y = a * b;
     }},
    {"map_bias",
     [] {
       const auto a = input<float>({1024, 1000});
       const auto b = input<float>({1000});
       hd::Tensor y = a + b;
     }},
    {"map_bias_odd",
     [] {
       const auto a = input<float>({1024, 1001});
       const auto b = input<float>({1001});
       hd::Tensor y = a + b;
     }},
    {"map_column",
     [] {
       const auto a = input<float>({1024, 1000});
       const auto b = input<float>({1024, 1});
       hd::Tensor y = a + b;
     }},
    {"map_row",
     [] {
       const auto a = input<float>({1024, 1000});
       const auto b = input<float>({1, 1000});
       hd::Tensor y = a + b;
     }},
    {"map_channels",
     [] {
       const auto a = input<float>({16, 64, 32, 32});
       const auto b = input<float>({64, 1, 1});
       hd::Tensor y = a * b;
     }},
    {"map_transposed",
     [] {
       const auto a = input<float>({1024, 1000});
       const auto b = input<float>({1000, 1024});
       hd::Tensor y = a + b.transpose();
     }},
    {"map_gelu",
     [] {
       const auto a = input<float>({n});
       hd::Tensor y = hd::gelu(a);
     }},
    {"dropout",
     [] {
       auto a = input<float>({n}), y = input<float>({n});
       y = hd::dropout(hd::relu(a), 0.1);
     }},
    {"sum_all",
     [] {
       const auto a = input<float>({n});
       hd::Tensor y = hd::sum(a);
     }},
    {"sum_small",
     [] {
       const auto a = input<float>({65536});
       hd::Tensor y = hd::sum(a);
     }},
    {"sum_square_difference",
     [] {
       const auto a = input<float>({n}), b = input<float>({n});
       hd::Tensor y = hd::sum(hd::square(a - b));
     }},
    {"sum_rows",
     [] {
       const auto a = input<float>({4096, 1000});
       hd::Tensor y = hd::sum(a, hd::axis<1>);
     }},
    {"sum_columns",
     [] {
       const auto a = input<float>({1000, 4096});
       hd::Tensor y = hd::sum(a, hd::axis<0>);
     }},
    {"sum_columns_odd",
     [] {
       const auto a = input<float>({1000, 4095});
       hd::Tensor y = hd::sum(a, hd::axis<0>);
     }},
    {"sum_middle",
     [] {
       const auto a = input<float>({64, 256, 64});
       hd::Tensor y = hd::sum(a, hd::axis<1>);
     }},
    {"argmax_columns",
     [] {
       const auto a = input<float>({1000, 4096});
       hd::Tensor y = hd::argmax(a, hd::axis<0>);
     }},
    {"softmax_1000",
     [] {
       const auto a = input<float>({512, 1000});
       hd::Tensor y = hd::softmax(a, hd::axis<1>);
     }},
    {"softmax_8192",
     [] {
       const auto a = input<float>({64, 8192});
       hd::Tensor y = hd::softmax(a, hd::axis<1>);
     }},
    {"softmax_many",
     [] {
       const auto a = input<float>({512, 8192});
       hd::Tensor y = hd::softmax(a, hd::axis<1>);
     }},
    {"cross_entropy_1000",
     [] {
       cross_entropy_of({512, 1000});
     }},
    {"cross_entropy_8192",
     [] {
       cross_entropy_of({512, 8192});
     }},
    {"layer_norm_1000",
     [] {
       const auto a = input<float>({512, 1000});
       hd::Tensor y = hd::layer_norm(a, hd::axis<1>);
     }},
    {"layer_norm_8192",
     [] {
       const auto a = input<float>({64, 8192});
       hd::Tensor y = hd::layer_norm(a, hd::axis<1>);
     }},
    {"layer_norm_weighted",
     [] {
       const auto a = input<float>({512, 1000});
       const auto w = input<float>({1000}), b = input<float>({1000});
       hd::Tensor y = hd::layer_norm(a, w, b);
     }},
    {"rms_norm_1000",
     [] {
       const auto a = input<float>({512, 1000});
       hd::Tensor y = hd::rms_norm(a, hd::axis<1>);
     }},
    {"rms_norm_8192",
     [] {
       const auto a = input<float>({64, 8192});
       hd::Tensor y = hd::rms_norm(a, hd::axis<1>);
     }},
    {"layer_norm_grad",
     [] {
       const auto a = input<float>({512, 1000}), dy = input<float>({512, 1000});
       const auto w = input<float>({1000});
       const auto gradients = hd::layer_norm_grad(dy, a, w);
     }},
    {"rms_norm_grad",
     [] {
       const auto a = input<float>({512, 1000}), dy = input<float>({512, 1000});
       const auto w = input<float>({1000});
       const auto gradients = hd::rms_norm_grad(dy, a, w);
     }},
    {"batch_norm",
     [] {
       const auto a = input<float>({16, 64, 32, 32});
       const auto w = input<float>({64}), b = input<float>({64});
       const auto mean = input<float>({64}), var = input<float>({64});
       hd::Tensor y = hd::batch_norm(a, mean, var, w, b, true);
     }},
    {"batch_norm_grad",
     [] {
       const auto a = input<float>({16, 64, 32, 32}), dy = input<float>({16, 64, 32, 32});
       const auto w = input<float>({64});
       const auto gradients = hd::batch_norm_grad(dy, a, w);
     }},
    {"concat",
     [] {
       const auto a = input<float>({1024, 500}), b = input<float>({1024, 501});
       hd::Tensor y = hd::concat<1>(a, b);
     }},
    {"pad",
     [] {
       const auto a = input<float>({16, 16, 58, 58});
       hd::Tensor y = hd::pad(a, {{1, 1}, {1, 1}});
     }},
    {"gather",
     [] {
       const auto a = input<float>({n});
       std::vector<std::int64_t> backwards(static_cast<std::size_t>(n));
       for (index_t i = 0; i < n; ++i) backwards[static_cast<std::size_t>(i)] = n - 1 - i;
       const auto index = hd::from_host<std::int64_t>(backwards, hd::Shape<1>{n}, device);
       hd::Tensor y = hd::gather<0>(a, index);
     }},
    {"index_select",
     [] {
       const auto a = input<float>({1024, 1001});
       std::vector<std::int64_t> rows(1024);
       for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i * 7 % rows.size());
       const auto index = hd::from_host<std::int64_t>(rows, hd::Shape<1>{1024}, device);
       hd::Tensor y = hd::index_select<0>(a, index);
     }},
    {"cumsum",
     [] {
       const auto a = input<float>({n});
       hd::Tensor y = hd::cumsum(a);
     }},
    {"cumsum_rows",
     [] {
       const auto a = input<float>({1024, 1000});
       hd::Tensor y = hd::cumsum(a, hd::axis<1>);
     }},
    {"matmul_large",
     [] {
       const auto a = input<float>({1408, 512}), b = input<float>({512, 1536});
       hd::Tensor y = hd::matmul(a, b);
     }},
    {"matmul_large_bias_relu",
     [] {
       const auto a = input<float>({1408, 512}), b = input<float>({512, 1536});
       const auto bias = input<float>({1536});
       hd::Tensor y = hd::relu(hd::matmul(a, b) + bias);
     }},
    {"matmul_vector",
     [] {
       const auto a = input<float>({1, 1024}), b = input<float>({1024, 4096});
       hd::Tensor y = hd::matmul(a, b);
     }},
    {"matmul_bias_relu",
     [] {
       const auto a = input<float>({256, 256}), b = input<float>({256, 256});
       const auto bias = input<float>({256});
       hd::Tensor y = hd::relu(hd::matmul(a, b) + bias);
     }},
};

}  // namespace

int main(int count, char** arguments) { return run_counted(operations, count, arguments); }
