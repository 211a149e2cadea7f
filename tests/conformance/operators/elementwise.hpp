// Handlers of elementwise operators, made from lambdas: unary, binary, folded over any number of operands.
#pragma once

#include <utility>
#include <vector>

#include "conformance/broadcast.hpp"
#include "conformance/dispatch.hpp"

namespace conformance {

/// The last operand of `f` may be the call, for its attributes.
template <class F, class... X>
auto apply(F f, const Call& call, const X&... x) {
  if constexpr (requires { f(x..., call); })
    return f(x..., call);
  else
    return f(x...);
}

template <class F, class TypeList>
struct Unary {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& array = call.input(0);
    return with_type(TypeList{}, array.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      const Extents flat{array.size()};
      const auto x = tensor<T, 1>(call, array, flat, device);
      return {reshaped(result(apply(F{}, call, x)), flat, array.shape)};
    });
  }
};

/// f(x) of one operand. A map doesn't see the rank, so that one instantiation a type is enough.
template <class TypeList = Reals, class F>
Unary<F, TypeList> unary(F) {
  return {};
}

/// The ranks that broadcasting operands are brought to: the least of these that is enough.
template <class T>
using BroadcastRanks = std::conditional_t<std::is_same_v<T, float>, Ints<1, 4>, Ints<4>>;

template <int... R>
constexpr int least_rank(Ints<R...>, int rank) {
  int least = 0;
  ((least == 0 && R >= rank ? least = R : 0), ...);
  return least;
}

/// f(a, b) of two operands that broadcast, under shapes of few ranks that mean the same.
template <class A, class B, class Device, class F>
Outputs broadcast(const Call& call, const Array& a, const Extents& a_shape, const Array& b, const Extents& b_shape,
                  Device device, F f) {
  const Aligned aligned = align({a_shape, b_shape});
  return with_int(BroadcastRanks<A>{}, least_rank(BroadcastRanks<A>{}, aligned.rank()), [&](auto rank) -> Outputs {
    constexpr int r = decltype(rank)::value;
    const Aligned to = padded(aligned, r);
    const auto x = tensor<A, r>(call, a, to.shapes[0], device);
    const auto y = tensor<B, r>(call, b, to.shapes[1], device);
    return {reshaped(result(apply(f, call, x, y)), to.collapsed, aligned.shape)};
  });
}

template <class F, class TypeList>
struct Binary {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& a = call.input(0);
    const Array& b = call.input(1);
    return with_type(TypeList{}, a.type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      return broadcast<T, T>(call, a, a.shape, b, second_shape(call), device, F{});
    });
  }
};

/// f(a, b) of two operands of one type.
template <class TypeList = Numbers, class F>
Binary<F, TypeList> binary(F) {
  return {};
}

/// f(a, b) under the operands' own ranks, where both have that element type and ranks below RankCount; else as binary.
template <class T, int RankCount, class F, class Otherwise>
struct BinaryOfRanks {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    const Array& a = call.input(0);
    const Array& b = call.input(1);
    if (a.type != element_type_v<T> || a.rank() >= RankCount || b.rank() >= RankCount || call.opset() < 7)
      return Otherwise{}(call, device);
    return with_int(Below<RankCount>{}, a.rank(), [&](auto a_rank) -> Outputs {
      return with_int(Below<RankCount>{}, b.rank(), [&](auto b_rank) -> Outputs {
        const auto x = tensor<T, decltype(a_rank)::value>(call, a, device);
        const auto y = tensor<T, decltype(b_rank)::value>(call, b, device);
        return {result(apply(F{}, call, x, y))};
      });
    });
  }
};

template <class T, int RankCount, class TypeList = Numbers, class F>
BinaryOfRanks<T, RankCount, F, Binary<F, TypeList>> binary_of_ranks(F) {
  return {};
}

template <class F, class Finish, class TypeList>
struct Folded {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return with_type(TypeList{}, call.input(0).type, [&](auto type) -> Outputs {
      using T = type_of<decltype(type)>;
      Array value = call.input(0);
      for (int i = 1; i < call.input_count(); ++i)
        value =
            std::move(broadcast<T, T>(call, value, value.shape, call.input(i), call.input(i).shape, device, F{})[0]);
      const Extents flat{value.size()};
      const auto x = tensor<T, 1>(call, value, flat, device);
      return {reshaped(result(apply(Finish{}, call, x)), flat, value.shape)};
    });
  }
};

/// f folded over the operands, then finish(value).
template <class TypeList = Numbers, class F, class Finish>
Folded<F, Finish, TypeList> folded(F, Finish) {
  return {};
}

}  // namespace conformance
