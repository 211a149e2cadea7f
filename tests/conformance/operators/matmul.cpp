// MatMul Gemm; matmul mm bmm mv dot vdot linear addmm addmv baddbmm
#include "heddle/ops/matmul.hpp"
#include "conformance/dispatch.hpp"
#include "conformance/operators/families.hpp"
#include "heddle/ops/arithmetic.hpp"

namespace conformance {
namespace {

/// Ranks of two operands, as one number.
constexpr int pair(int a, int b) { return 10 * a + b; }

/// f(x, y) of operands under their own ranks, where the pair of ranks is in the list.
template <class T, int... Pairs, class Device, class F>
Outputs with_ranks(Ints<Pairs...> pairs, const Call& call, const Array& a, const Array& b, Device device, F f) {
  return with_int(pairs, pair(a.rank(), b.rank()), [&](auto ranks) -> Outputs {
    constexpr int both = decltype(ranks)::value;
    return {result(f(tensor<T, both / 10>(call, a, device), tensor<T, both % 10>(call, b, device)))};
  });
}

/// float under the pairs of ranks from 1 to 4, other types under those of their cases.
struct MatMul {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& a = call.input(0);
    const Array& b = call.input(1);
    const auto product = [](const auto& x, const auto& y) { return hd::matmul(x, y); };
    switch (a.type) {
      case ElementType::float32:
        return with_ranks<float>(Ints<11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 34, 41, 42, 43, 44>{}, call, a, b,
                                 device, product);
      case ElementType::float64:
        return with_ranks<double>(Ints<11, 12, 22>{}, call, a, b, device, product);
      case ElementType::int32:
        return with_ranks<I32>(Ints<11, 12>{}, call, a, b, device, product);
      case ElementType::int64:
        return with_ranks<I64>(Ints<11, 21, 22, 33>{}, call, a, b, device, product);
      default:
        throw NotServed{"not for this element type"};
    }
  }
};

/// alpha A' B' + beta C
struct Gemm {
  template <class T, class Device>
  static hd::Tensor<T, 2, Device> factor(const Call& call, int position, const char* transposed, Device device) {
    const auto x = tensor<T, 2>(call, call.input(position), device);
    return call.flag(transposed, false) ? x.transpose() : x;
  }
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const double alpha = call.number("alpha", 1);
    const double beta = call.number("beta", 1);
    const auto a = factor<float>(call, 0, "transA", device);
    const auto b = factor<float>(call, 1, "transB", device);
    if (!call.has_input(2)) return {result(alpha * hd::matmul(a, b))};
    return with_int(Below<3>{}, call.input(2).rank(), [&](auto rank) -> Outputs {
      const auto c = tensor<float, decltype(rank)::value>(call, call.input(2), device);
      return {result(alpha * hd::matmul(a, b) + beta * c)};
    });
  }
};

/// PyTorch's: beta C + alpha A B, with C in front.
template <int RankA, int RankB, class Lists>
struct AddedProduct;
template <int RankA, int RankB, class... T, int... RankC>
struct AddedProduct<RankA, RankB, std::pair<Types<T...>, Ints<RankC...>>> {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    Outputs outputs;
    const auto of = [&](auto type, auto rank) {
      using E = type_of<decltype(type)>;
      constexpr int r = decltype(rank)::value;
      if (element_type_v<E> != call.input(0).type || call.input(0).rank() != r) return false;
      const auto c = tensor<E, r>(call, call.input(0), device);
      const auto a = tensor<E, RankA>(call, call.input(1), device);
      const auto b = tensor<E, RankB>(call, call.input(2), device);
      if constexpr (std::is_integral_v<E>)
        outputs = {result(call.integer("beta", 1) * c + call.integer("alpha", 1) * hd::matmul(a, b))};
      else
        outputs = {result(call.number("beta", 1) * c + call.number("alpha", 1) * hd::matmul(a, b))};
      return true;
    };
    if (!(of(Type<T>{}, Int<RankC>{}) || ...)) throw NotServed{"not for these operands"};
    return outputs;
  }
};
/// For each type the rank of C at the same place of the other list.
template <int RankA, int RankB, class TypeList, class Ranks>
using added_product = AddedProduct<RankA, RankB, std::pair<TypeList, Ranks>>;

struct Linear {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& x = call.input(0);
    const Array& w = call.input(1);
    const auto product = [](const auto& a, const auto& b) { return hd::matmul(a, b.transpose()); };
    switch (x.type) {
      case ElementType::float32:
        if (call.has_input(2)) {
          const auto bias = tensor<float, 1>(call, call.input(2), device);
          return with_ranks<float>(Ints<22>{}, call, x, w, device,
                                   [&](const auto& a, const auto& b) { return hd::matmul(a, b.transpose()) + bias; });
        }
        return with_ranks<float>(Ints<12>{}, call, x, w, device, product);
      case ElementType::float64:
        return with_ranks<double>(Ints<22, 32>{}, call, x, w, device, product);
      case ElementType::int32:
        return with_ranks<I32>(Ints<12>{}, call, x, w, device, product);
      case ElementType::int64:
        return with_ranks<I64>(Ints<32>{}, call, x, w, device, product);
      default:
        throw NotServed{"not for this element type"};
    }
  }
};

}  // namespace

void add_matmul(Registry& registry) {
  serve(registry, {"MatMul", "matmul", "mm", "bmm", "mv", "dot", "vdot"}, MatMul{});
  serve(registry, "Gemm", Gemm{});
  serve(registry, "nn.functional.linear", Linear{});
  serve(registry, "addmm", added_product<2, 2, Types<float, double>, Ints<2, 1>>{});
  serve(registry, "addmv", added_product<2, 1, Types<float, double, I32, I64>, Ints<1, 1, 0, 1>>{});
  serve(registry, "baddbmm", added_product<3, 3, Types<float, float, I64>, Ints<1, 3, 3>>{});
}

}  // namespace conformance
