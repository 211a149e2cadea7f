#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "heddle/core/half.hpp"
#include "heddle/core/integer.hpp"

namespace heddle {

/// The kinds of number, ordered: the result of two tensors has the higher kind.
enum class kind { boolean, integer, floating };

/// What a tensor may hold: bool, std::int8_t … std::int64_t, std::uint8_t … std::uint64_t, half, bfloat16, float,
/// double.
///
/// Where two built-in types have 64 bits, only the one that is std::int64_t is an element (`canonical_t` maps the
/// other).
template <class T>
concept Element = std::same_as<T, bool> || std::same_as<T, std::int8_t> || std::same_as<T, std::int16_t> ||
    std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t> || std::same_as<T, std::uint8_t> ||
    std::same_as<T, std::uint16_t> || std::same_as<T, std::uint32_t> || std::same_as<T, std::uint64_t> ||
    std::same_as<T, half> || std::same_as<T, bfloat16> || std::same_as<T, float> || std::same_as<T, double>;

/// What may stand beside a tensor in a formula: every arithmetic type (`long long` and `char` too), half, bfloat16.
template <class T>
concept Scalar = Arithmetic<T> || std::same_as<T, half> || std::same_as<T, bfloat16>;

/// True for half and bfloat16, which are stored in 16 bits and computed in float.
template <class T>
inline constexpr bool is_16bit_float_v = std::same_as<T, half> || std::same_as<T, bfloat16>;

/// The kind of a scalar type. Example: `kind_of<half> == kind::floating`.
template <Scalar T>
inline constexpr kind kind_of = std::same_as<T, bool> ? kind::boolean
                                : std::integral<T>    ? kind::integer
                                                      : kind::floating;

/// The signed or unsigned integer of `Bytes` bytes.
template <int Bytes>
using signed_integer_t = std::conditional_t<
    Bytes == 1, std::int8_t,
    std::conditional_t<Bytes == 2, std::int16_t, std::conditional_t<Bytes == 4, std::int32_t, std::int64_t>>>;
template <int Bytes>
using unsigned_integer_t = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t, std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

/// The element type that holds a scalar of type T. Example: `canonical_t<long long>` is std::int64_t.
template <class T>
struct canonical {
  using type = T;
};
template <Integer T>
struct canonical<T> {
  using type = std::conditional_t<std::is_signed_v<T>, signed_integer_t<sizeof(T)>, unsigned_integer_t<sizeof(T)>>;
};
template <>
struct canonical<long double> {
  using type = double;
};

template <Scalar T>
using canonical_t = typename canonical<T>::type;

/// The type in which a formula computes with T: float for half and bfloat16, else T.
template <class T>
using compute_type = std::conditional_t<is_16bit_float_v<T>, float, T>;

/// The type in which many T are added: float for half, bfloat16 and float, double for double, int64 for integers and
/// bool.
template <Element T>
using accumulator_type =
    std::conditional_t<kind_of<T> != kind::floating, std::int64_t, std::conditional_t<sizeof(T) == 8, double, float>>;

/// The type of functions that leave the integers, such as exp, sqrt and mean: T where it is floating, else float.
template <Element T>
using float_result_t = std::conditional_t<kind_of<T> == kind::floating, T, float>;

/// The type of sum, prod and cumsum: int64 for integers and bool, else T.
template <Element T>
using sum_result_t = std::conditional_t<kind_of<T> == kind::floating, T, std::int64_t>;

template <Element A, Element B>
constexpr auto find_tensor_result() {
  using wider = std::conditional_t<(sizeof(A) > sizeof(B)), A, B>;
  if constexpr (std::same_as<A, B>) {
    return std::type_identity<A>{};
  } else if constexpr (kind_of<A> != kind_of<B>) {
    return std::type_identity<std::conditional_t<(kind_of<A> > kind_of<B>), A, B>>{};
  } else if constexpr (is_16bit_float_v<A> && is_16bit_float_v<B>) {
    return std::type_identity<float>{};
  } else if constexpr (kind_of<A> == kind::floating || std::is_signed_v<A> == std::is_signed_v<B>) {
    return std::type_identity<wider>{};
  } else {
    constexpr int signed_bytes = std::is_signed_v<A> ? sizeof(A) : sizeof(B);
    constexpr int unsigned_bytes = std::is_signed_v<A> ? sizeof(B) : sizeof(A);
    static_assert(unsigned_bytes < 8, "uint64 and a signed integer have no common type: cast<...> one of them");
    return std::type_identity<signed_integer_t<(signed_bytes > unsigned_bytes ? signed_bytes : 2 * unsigned_bytes)>>{};
  }
}

/// The type of an operation on two tensors, rank 0 included: the higher kind's type; within a kind the wider; of a
/// signed and an unsigned integer the narrowest signed one that holds both, as NumPy's; of half and bfloat16 float.
///
/// Example: `tensor_result_t<std::uint8_t, std::int8_t>` is std::int16_t. uint64 with a signed integer does not
/// compile.
template <Element A, Element B>
using tensor_result_t = typename decltype(find_tensor_result<A, B>())::type;

/// The type of an operation on a tensor of T and a scalar: T for a scalar of T's kind or below, else float, or int64
/// for bool with an integer.
///
/// Example: `scalar_result_t<half, double>` is half, `scalar_result_t<int, double>` is float.
template <Element T, Scalar S>
using scalar_result_t = std::conditional_t<kind_of<S> <= kind_of<T>, T,
                                           std::conditional_t<kind_of<S> == kind::floating, float, std::int64_t>>;

/// True where storing a From in a To would lower the kind, which assignment refuses. A change of width is none.
///
/// Example: `lowers_kind_v<int, float>` is true, `lowers_kind_v<half, double>` false.
template <Scalar To, Scalar From>
inline constexpr bool lowers_kind_v = kind_of<To> < kind_of<From>;

/// A type as a value: `x.to(dtype<half>)`.
template <class U>
struct dtype_t {
  using type = U;
};
template <class U>
inline constexpr dtype_t<U> dtype{};

/// NumPy's name of a type. Example: `name_of<float>` is "float32".
template <Scalar T>
inline constexpr const char* name_of = name_of<canonical_t<T>>;
template <>
inline constexpr const char* name_of<bool> = "bool";
template <>
inline constexpr const char* name_of<std::int8_t> = "int8";
template <>
inline constexpr const char* name_of<std::int16_t> = "int16";
template <>
inline constexpr const char* name_of<std::int32_t> = "int32";
template <>
inline constexpr const char* name_of<std::int64_t> = "int64";
template <>
inline constexpr const char* name_of<std::uint8_t> = "uint8";
template <>
inline constexpr const char* name_of<std::uint16_t> = "uint16";
template <>
inline constexpr const char* name_of<std::uint32_t> = "uint32";
template <>
inline constexpr const char* name_of<std::uint64_t> = "uint64";
template <>
inline constexpr const char* name_of<half> = "float16";
template <>
inline constexpr const char* name_of<bfloat16> = "bfloat16";
template <>
inline constexpr const char* name_of<float> = "float32";
template <>
inline constexpr const char* name_of<double> = "float64";

}  // namespace heddle
