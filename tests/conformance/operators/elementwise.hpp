// Handlers of elementwise operators, made from lambdas: of one, two or three operands, folded over any number of them.
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

/// f(x…) of operands that broadcast, under that rank; NotServed where they need more axes. The library tells axes apart
/// at run time, so that one instantiation a type is enough.
template <int Rank, class... T, class Device, class F, std::size_t... I>
Outputs mapped(const Call& call, Device device, F f, const std::vector<const Array*>& arrays,
               const std::vector<Extents>& shapes, std::index_sequence<I...>) {
  const Aligned to = map_aligned(shapes, Rank);
  return {reshaped(result(apply(f, call, tensor<T, Rank>(call, *arrays[I], to.shapes[I], device)...)), to.collapsed,
                   to.shape)};
}
template <int Rank, class... T, class Device, class F>
Outputs mapped(const Call& call, Device device, F f, const std::vector<const Array*>& arrays) {
  std::vector<Extents> shapes;
  for (const Array* array : arrays) shapes.push_back(array->shape);
  return mapped<Rank, T...>(call, device, f, arrays, shapes, std::index_sequence_for<T...>{});
}

/// A map of one operand doesn't see axes; those that stand for their kind see this rank, and so do all that broadcast.
inline constexpr int broadcast_rank = 4;

/// The rank for maps of two operands of that type: of some integers the cases have one shape only.
template <class T>
inline constexpr int pair_rank = broadcast_rank;
template <>
inline constexpr int pair_rank<I8> = 1;
template <>
inline constexpr int pair_rank<I16> = 1;
template <>
inline constexpr int pair_rank<U16> = 1;
template <>
inline constexpr int pair_rank<U32> = 1;
template <>
inline constexpr int pair_rank<U64> = 1;

template <class F, class TypeList, int Rank>
struct Unary {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    if (!call.has_input(0)) throw NotServed{"no tensor among the operands"};
    return with_type(TypeList{}, call.input(0).type, [&](auto type) {
      return mapped<Rank, type_of<decltype(type)>>(call, device, F{}, {&call.input(0)});
    });
  }
};

/// f(x) of one operand.
template <class TypeList = Reals, int Rank = 1, class F>
Unary<F, TypeList, Rank> unary(F) {
  return {};
}

/// A number of the host in the widest type of the kind of a tensor of T.
template <class T>
auto number_for(const Call& call, const char* parameter) {
  if constexpr (std::is_same_v<T, bool>)
    return call.flag(parameter, false);
  else if constexpr (std::is_integral_v<T>)
    return call.integer(parameter, 0);
  else
    return call.number(parameter, 0);
}

/// Lists of the element types of tensors.
template <class Both, class NumberRight = Types<>, class NumberLeft = Types<>>
struct Operands {};

template <class F, class Lists>
struct Binary;
template <class F, class Both, class NumberRight, class NumberLeft>
struct Binary<F, Operands<Both, NumberRight, NumberLeft>> {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    if (!call.has_input(0) && !call.has_input(1)) throw NotServed{"no tensor among the operands"};
    if (!call.has_input(1)) {
      return with_type(NumberRight{}, call.input(0).type, [&](auto type) {
        using T = type_of<decltype(type)>;
        const auto right = [&](const auto& x) { return apply(F{}, call, x, number_for<T>(call, "other")); };
        return mapped<1, T>(call, device, right, {&call.input(0)});
      });
    }
    if (!call.has_input(0)) {
      return with_type(NumberLeft{}, call.input(1).type, [&](auto type) {
        using T = type_of<decltype(type)>;
        const auto left = [&](const auto& x) { return apply(F{}, call, number_for<T>(call, "self"), x); };
        return mapped<1, T>(call, device, left, {&call.input(1)});
      });
    }
    return with_type(Both{}, call.input(0).type, [&](auto type) {
      using T = type_of<decltype(type)>;
      return mapped<pair_rank<T>, T, T>(call, device, F{}, {&call.input(0), &call.input(1)},
                                        {call.input(0).shape, second_shape(call)}, std::index_sequence_for<T, T>{});
    });
  }
};

/// f(a, b) of two operands of one type, or of one and a number on either side.
template <class TypeList, class NumberRight = Types<>, class NumberLeft = Types<>, class F>
Binary<F, Operands<TypeList, NumberRight, NumberLeft>> binary(F) {
  return {};
}

template <class F, class TypeList>
struct Ternary {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    for (int i = 0; i < 3; ++i)
      if (!call.has_input(i)) throw NotServed{"not for numbers"};
    return with_type(TypeList{}, call.input(0).type, [&](auto type) {
      using T = type_of<decltype(type)>;
      return mapped<broadcast_rank, T, T, T>(call, device, F{}, {&call.input(0), &call.input(1), &call.input(2)});
    });
  }
};

/// f(a, b, c) of three operands of one type.
template <class TypeList, class F>
Ternary<F, TypeList> ternary(F) {
  return {};
}

/// Where the call chooses between two formulas.
template <class Condition, class Usual, class Other>
struct Choice {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    return Condition{}(call) ? Other{}(call, device) : Usual{}(call, device);
  }
};
template <class Condition, class Usual, class Other>
Choice<Condition, Usual, Other> choice(Condition, Usual, Other) {
  return {};
}

/// f(a, b) under the operands' own ranks, where both have that element type and ranks below RankCount; else as the
/// other handler.
template <class T, int RankCount, class F, class Otherwise>
struct BinaryOfRanks {
  template <class Device>
  Outputs operator()(const Call& call, Device device) const {
    if (!call.has_input(0) || !call.has_input(1)) return Otherwise{}(call, device);
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

template <class T, int RankCount, class Lists, class F>
BinaryOfRanks<T, RankCount, F, Binary<F, Lists>> binary_of_ranks(F) {
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
        value = std::move(mapped<pair_rank<T>, T, T>(call, device, F{}, {&value, &call.input(i)})[0]);
      return mapped<1, T>(call, device, Finish{}, {&value});
    });
  }
};

/// f folded over the operands, then finish(value).
template <class TypeList, class F, class Finish>
Folded<F, Finish, TypeList> folded(F, Finish) {
  return {};
}

}  // namespace conformance
