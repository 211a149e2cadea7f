// Operations that memory bounds, on 64 MiB and on small inputs, for bench/counters/memory_table. Without an argument:
// lists the names.
#include <heddle/heddle.hpp>

#include <vector>

#include "counted.hpp"

namespace hd = heddle;
using hd::index_t;

namespace {

const hd::Cuda device;

template <class T, int Rank>
auto input(const hd::Shape<Rank>& shape) {
  return hd::from_host<T>(std::vector<T>(static_cast<std::size_t>(shape.size()), static_cast<T>(1.0F)), shape, device);
}
template <class T = float>
auto line() {
  return input<T>(hd::Shape<1>{index_t{64 << 20} / static_cast<index_t>(sizeof(T))});
}
auto table(index_t rows, index_t columns) { return input<float>(hd::Shape<2>{rows, columns}); }
void cross_entropy_of(index_t rows, index_t columns) {
  const std::vector<std::int64_t> classes(static_cast<std::size_t>(rows), 3);
  hd::Tensor loss =
      hd::cross_entropy(table(rows, columns), hd::from_host<std::int64_t>(classes, hd::Shape<1>{rows}, device));
}

const counted operations[] = {
    {"relu(a * b + c)", [] { hd::Tensor y = hd::relu(line() * line() + line()); }},
    {"a < b", [] { hd::Tensor y = line() < line(); }},
    {"exp", [] { hd::Tensor y = hd::exp(line()); }},
    {"tanh", [] { hd::Tensor y = hd::tanh(line()); }},
    {"gelu", [] { hd::Tensor y = hd::gelu(line()); }},
    {"silu", [] { hd::Tensor y = hd::silu(line()); }},
    {"half a * b", [] { hd::Tensor<hd::half, 1, hd::Cuda> y = line<hd::half>() * line<hd::half>(); }},
    {"half exp", [] { hd::Tensor y = hd::exp(line<hd::half>()); }},
    {"half tanh", [] { hd::Tensor y = hd::tanh(line<hd::half>()); }},
    {"half silu", [] { hd::Tensor y = hd::silu(line<hd::half>()); }},
    {"sum, all", [] { hd::Tensor y = hd::sum(line()); }},
    {"sum, rows [4096, 1000]", [] { hd::Tensor y = hd::sum(table(4096, 1000), hd::axis<1>); }},
    {"sum, rows [16384, 1024]", [] { hd::Tensor y = hd::sum(table(16384, 1024), hd::axis<1>); }},
    {"sum, columns [1000, 4096]", [] { hd::Tensor y = hd::sum(table(1000, 4096), hd::axis<0>); }},
    {"sum, columns [4096, 4096]", [] { hd::Tensor y = hd::sum(table(4096, 4096), hd::axis<0>); }},
    {"sum, columns [65536, 256]", [] { hd::Tensor y = hd::sum(table(65536, 256), hd::axis<0>); }},
    {"sum, middle [64, 256, 64]",
     [] {
       hd::Tensor y = hd::sum(input<float>(hd::Shape<3>{64, 256, 64}), hd::axis<1>);
     }},
    {"sum, middle [256, 256, 256]",
     [] {
       hd::Tensor y = hd::sum(input<float>(hd::Shape<3>{256, 256, 256}), hd::axis<1>);
     }},
    {"max, columns [4096, 4096]", [] { hd::Tensor y = hd::max(table(4096, 4096), hd::axis<0>); }},
    {"argmax, columns [4096, 4096]", [] { hd::Tensor y = hd::argmax(table(4096, 4096), hd::axis<0>); }},
    {"softmax [512, 1000]", [] { hd::Tensor y = hd::softmax(table(512, 1000), hd::axis<1>); }},
    {"softmax [16384, 1024]", [] { hd::Tensor y = hd::softmax(table(16384, 1024), hd::axis<1>); }},
    {"softmax [2048, 8192]", [] { hd::Tensor y = hd::softmax(table(2048, 8192), hd::axis<1>); }},
    {"softmax [16, 131072]", [] { hd::Tensor y = hd::softmax(table(16, 131072), hd::axis<1>); }},
    {"cross_entropy [512, 1000]", [] { cross_entropy_of(512, 1000); }},
    {"cross_entropy [16384, 1024]", [] { cross_entropy_of(16384, 1024); }},
    {"layer_norm [512, 1000]", [] { hd::Tensor y = hd::layer_norm(table(512, 1000), hd::axis<1>); }},
    {"layer_norm [16384, 1024]", [] { hd::Tensor y = hd::layer_norm(table(16384, 1024), hd::axis<1>); }},
    {"layer_norm [64, 8192]", [] { hd::Tensor y = hd::layer_norm(table(64, 8192), hd::axis<1>); }},
    {"rms_norm [16384, 1024]", [] { hd::Tensor y = hd::rms_norm(table(16384, 1024), hd::axis<1>); }},
};

}  // namespace

int main(int count, char** arguments) { return run_counted(operations, count, arguments); }
