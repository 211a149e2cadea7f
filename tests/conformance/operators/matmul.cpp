// MatMul Gemm
#include "conformance/dispatch.hpp"
#include "conformance/operators/families.hpp"

namespace conformance {
namespace {

/// float under each pair of ranks from 1 to 4, other types under equal ranks.
struct MatMul {
  template <class T, class Device, class Ranks>
  static Outputs of_ranks(const Call& call, Device device, Ranks ranks) {
    const Array& a = call.input(0);
    const Array& b = call.input(1);
    return with_int(ranks, a.rank(), [&](auto a_rank) -> Outputs {
      const auto multiplied = [&](auto b_rank) -> Outputs {
        const auto x = tensor<T, decltype(a_rank)::value>(call, a, device);
        const auto y = tensor<T, decltype(b_rank)::value>(call, b, device);
        return {result(hd::matmul(x, y))};
      };
      if constexpr (std::is_same_v<T, float>)
        return with_int(ranks, b.rank(), multiplied);
      else
        return multiplied(a_rank);
    });
  }

  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const ElementType type = call.input(0).type;
    if (type == ElementType::float32) return of_ranks<float>(call, device, Ints<1, 2, 3, 4>{});
    return with_type(Types<double, hd::half>{}, type,
                     [&](auto other) { return of_ranks<type_of<decltype(other)>>(call, device, Ints<2, 3, 4>{}); });
  }
};

/// alpha A' B' + beta C
struct Gemm {
  template <class T, class Device>
  static hd::Tensor<T, 2, Device> factor(const Call& call, int position, const char* transposed, Device device) {
    const auto x = tensor<T, 2>(call, call.input(position), device);
    return call.integer(transposed, 0) != 0 ? x.transpose() : x;
  }
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const double alpha = call.number("alpha", 1);
    const double beta = call.number("beta", 1);
    return with_type(Types<float, double>{}, call.input(0).type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const auto a = factor<T>(call, 0, "transA", device);
      const auto b = factor<T>(call, 1, "transB", device);
      if (!call.has_input(2)) return {result(alpha * hd::matmul(a, b))};
      return with_int(Below<3>{}, call.input(2).rank(), [&](auto rank) -> Outputs {
        const auto c = tensor<T, decltype(rank)::value>(call, call.input(2), device);
        return {result(alpha * hd::matmul(a, b) + beta * c)};
      });
    });
  }
};

}  // namespace

void add_matmul(Registry& registry) {
  serve(registry, "MatMul", MatMul{});
  serve(registry, "Gemm", Gemm{});
}

}  // namespace conformance
