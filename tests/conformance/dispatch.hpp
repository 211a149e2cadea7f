// From run-time arrays to tensors of static type and rank, and back.
#pragma once

#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "conformance/array.hpp"
#include "conformance/call.hpp"
#include "heddle/core/tensor.hpp"
#include "heddle/ops/create.hpp"
#include "heddle/ops/map.hpp"

namespace conformance {

namespace hd = heddle;

template <class T>
inline constexpr ElementType element_type_v = [] {
  if constexpr (std::is_same_v<T, bool>)
    return ElementType::boolean;
  else if constexpr (std::is_same_v<T, hd::half>)
    return ElementType::float16;
  else if constexpr (std::is_same_v<T, hd::bfloat16>)
    return ElementType::bfloat16;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? ElementType::float32 : ElementType::float64;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1   ? ElementType::int8
           : sizeof(T) == 2 ? ElementType::int16
           : sizeof(T) == 4 ? ElementType::int32
                            : ElementType::int64;
  else
    return sizeof(T) == 1   ? ElementType::uint8
           : sizeof(T) == 2 ? ElementType::uint16
           : sizeof(T) == 4 ? ElementType::uint32
                            : ElementType::uint64;
}();

/// A list of element types, and one of them as a value.
template <class... T>
struct Types {};
template <class T>
struct Type {
  using type = T;
};
template <class Tag>
using type_of = typename std::remove_cvref_t<Tag>::type;

using I8 = std::int8_t;
using I16 = std::int16_t;
using I32 = std::int32_t;
using I64 = std::int64_t;
using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

// Each type of a list costs each operator that takes it an instantiation on each device, so that they hold what the
// cases of that operator have, not all that Heddle serves; the library's own tests are typed over everything.
using Reals = Types<float, double>;
using Floats = Types<float, double, hd::half>;

/// Calls f(Type<T>{}) for the T of the list that `type` names; NotServed where it names none of them.
template <class... T, class F>
Outputs with_type(Types<T...>, [[maybe_unused]] ElementType type, [[maybe_unused]] F&& f) {
  Outputs outputs;
  const bool found = ((element_type_v<T> == type && (outputs = f(Type<T>{}), true)) || ...);
  if (!found) throw NotServed{"not for this element type"};
  return outputs;
}

template <int Value>
using Int = std::integral_constant<int, Value>;

/// Calls f(Int<N>{}) for the N of the list that `number` names; NotServed where it names none of them.
template <int... N, class F>
Outputs with_int(std::integer_sequence<int, N...>, int number, F&& f) {
  Outputs outputs;
  const bool found = ((N == number && (outputs = f(Int<N>{}), true)) || ...);
  if (!found) throw NotServed{"not for this rank or axis"};
  return outputs;
}

template <int... N>
using Ints = std::integer_sequence<int, N...>;
/// 0 to Count - 1.
template <int Count>
using Below = std::make_integer_sequence<int, Count>;

template <int R>
hd::Shape<R> static_shape(const Extents& extents) {
  hd::Shape<R> shape;
  if constexpr (R > 0)
    for (int i = 0; i < R; ++i) shape[i] = extents[static_cast<std::size_t>(i)];
  return shape;
}

/// The array's bytes with its axes in reverse order, or with each last axis widened to twice its extent plus one, where
/// element i comes to lie at 2 i + 1 and the rest holds ones, or as its own strides say.
std::vector<std::byte> reversed_axes(const Array& array, const Extents& shape);
std::vector<std::byte> spread_last_axis(const Array& array, const Extents& shape);
std::vector<std::byte> laid_out(const Array& array);

/// The array's strides where it is seen under another shape; empty where it has none, or where that would need a copy.
Extents strides_under(const Array& array, const Extents& shape);

template <class T, int R, class Device>
hd::Tensor<T, R, Device> from_bytes(const std::vector<std::byte>& bytes, const hd::Shape<R>& shape, Device device) {
  return hd::from_host<T>(std::span<const T>(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)), shape,
                          device);
}

/// A tensor of the array's elements under `shape`, in the memory layout that the call asks for: if it is packed, the
/// array's own where that has one.
template <class T, int R, class Device>
hd::Tensor<T, R, Device> tensor(const Call& call, const Array& array, const Extents& shape, Device device) {
  if (array.type != element_type_v<T>) throw NotServed{"not for these element types together"};
  if constexpr (R > 0) {
    if (call.layout() == Layout::packed && !array.strides.empty()) {
      if (const Extents own = strides_under(array, shape); !own.empty()) {
        const std::vector<std::byte> bytes = laid_out(array);
        const auto memory =
            from_bytes<T>(bytes, hd::Shape<1>{static_cast<hd::index_t>(bytes.size() / sizeof(T))}, device);
        hd::Strides<R> strides;
        for (int i = 0; i < R; ++i) strides[i] = own[static_cast<std::size_t>(i)];
        return {memory.storage(), memory.data(), static_shape<R>(shape), strides, device};
      }
    }
  }
  if constexpr (R > 1) {
    if (call.layout() == Layout::transposed) {
      hd::Shape<R> reversed;
      for (int i = 0; i < R; ++i) reversed[i] = shape[static_cast<std::size_t>(R - 1 - i)];
      const auto permuted = [&]<int... I>(std::integer_sequence<int, I...>) {
        return from_bytes<T>(reversed_axes(array, shape), reversed, device).permute(hd::axes<(R - 1 - I)...>);
      };
      return permuted(Below<R>{});
    }
  }
  if constexpr (R > 0) {
    if (call.layout() == Layout::strided) {
      hd::Shape<R> spread = static_shape<R>(shape);
      spread[R - 1] = 2 * spread[R - 1] + 1;
      return from_bytes<T>(spread_last_axis(array, shape), spread, device)
          .slice(hd::axis<R - 1>, hd::range(1, spread[R - 1], 2));
    }
  }
  return from_bytes<T>(array.bytes, static_shape<R>(shape), device);
}

/// The same under the array's own shape; NotServed where its rank is not R.
template <class T, int R, class Device>
hd::Tensor<T, R, Device> tensor(const Call& call, const Array& array, Device device) {
  if (array.rank() != R) throw NotServed{"not for this rank"};
  return tensor<T, R>(call, array, array.shape, device);
}

/// A formula's or a tensor's value, computed and brought to the host.
template <class E>
Array result(E&& expression) {
  using T = typename std::remove_cvref_t<E>::value_type;
  constexpr int rank = std::remove_cvref_t<E>::rank;
  const auto host = hd::eval(std::forward<E>(expression)).to(hd::cpu).contiguous();
  Array array;
  array.type = element_type_v<T>;
  for (int i = 0; i < rank; ++i) array.shape.push_back(host.shape()[i]);
  array.bytes.resize(static_cast<std::size_t>(host.size()) * sizeof(T));
  if (!array.bytes.empty()) std::memcpy(array.bytes.data(), host.data(), array.bytes.size());
  return array;
}

/// The one element of an array, as a number of the host.
template <class T>
T scalar(const Array& array) {
  if (array.type != element_type_v<T> || array.size() != 1) throw NotServed{"not for this scalar"};
  T value{};
  std::memcpy(&value, array.bytes.data(), sizeof(T));
  return value;
}

}  // namespace conformance
