#include "heddle/core/dtype.hpp"

#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <string>

namespace {

using heddle::bfloat16;
using heddle::half;
using heddle::kind;
using heddle::kind_of;

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class... Ts>
struct List {};
using Elements = List<bool, i8, i16, i32, i64, u8, u16, u32, u64, half, bfloat16, float, double>;

template <class T>
constexpr bool is_element = heddle::Element<T>;
struct Other {};

// Elements and scalars.
template <class... Ts>
constexpr bool all_are_elements(List<Ts...>) {
  return (heddle::Element<Ts> && ...) && (heddle::Scalar<Ts> && ...);
}
static_assert(all_are_elements(Elements{}));
static_assert(!is_element<char> && !is_element<long double> && !is_element<Other> && !is_element<const float>);
static_assert(is_element<long> != is_element<long long>, "one of them is std::int64_t, the other is not");
static_assert(heddle::Scalar<long> && heddle::Scalar<long long> && heddle::Scalar<char> && heddle::Scalar<long double>);
static_assert(!heddle::Scalar<Other> && !heddle::Scalar<const char*>);
static_assert(std::same_as<heddle::canonical_t<long>, i64> && std::same_as<heddle::canonical_t<long long>, i64>);
static_assert(std::same_as<heddle::canonical_t<unsigned long long>, u64> &&
              std::same_as<heddle::canonical_t<bool>, bool>);
static_assert(std::same_as<heddle::canonical_t<long double>, double> && std::same_as<heddle::canonical_t<half>, half>);
static_assert(std::same_as<heddle::canonical_t<char16_t>, u16> && std::same_as<heddle::canonical_t<signed char>, i8>);

// Kinds: bool < integer < floating.
static_assert(kind::boolean < kind::integer && kind::integer < kind::floating);
static_assert(kind_of<bool> == kind::boolean);
static_assert(kind_of<i8> == kind::integer && kind_of<u64> == kind::integer && kind_of<long long> == kind::integer);
static_assert(kind_of<half> == kind::floating && kind_of<bfloat16> == kind::floating);
static_assert(kind_of<float> == kind::floating && kind_of<long double> == kind::floating);

// Two tensors.
template <class A, class B, class Result>
constexpr bool gives =
    std::same_as<heddle::tensor_result_t<A, B>, Result>&& std::same_as<heddle::tensor_result_t<B, A>, Result>;

// the same type
template <class... Ts>
constexpr bool all_give_themselves(List<Ts...>) {
  return (gives<Ts, Ts, Ts> && ...);
}
static_assert(all_give_themselves(Elements{}));

// the higher kind's type, however narrow
template <class... Ts>
constexpr bool bool_gives_the_other(List<bool, Ts...>) {
  return (gives<bool, Ts, Ts> && ...);
}
static_assert(bool_gives_the_other(Elements{}));
template <class Integer>
constexpr bool floats_win = gives<Integer, half, half>&& gives<Integer, bfloat16, bfloat16>&&
    gives<Integer, float, float>&& gives<Integer, double, double>;
static_assert(floats_win<i8> && floats_win<i16> && floats_win<i32> && floats_win<i64>);
static_assert(floats_win<u8> && floats_win<u16> && floats_win<u32> && floats_win<u64>);

// the same kind: the wider
static_assert(gives<i8, i16, i16> && gives<i8, i32, i32> && gives<i8, i64, i64>);
static_assert(gives<i16, i32, i32> && gives<i16, i64, i64> && gives<i32, i64, i64>);
static_assert(gives<u8, u16, u16> && gives<u8, u32, u32> && gives<u8, u64, u64>);
static_assert(gives<u16, u32, u32> && gives<u16, u64, u64> && gives<u32, u64, u64>);
static_assert(gives<half, float, float> && gives<half, double, double> && gives<float, double, double>);
static_assert(gives<bfloat16, float, float> && gives<bfloat16, double, double>);
static_assert(gives<half, bfloat16, float>);

// signed with unsigned: of equal width the next wider signed; else the narrowest signed that holds both
static_assert(gives<u8, i8, i16> && gives<u8, i16, i16> && gives<u8, i32, i32> && gives<u8, i64, i64>);
static_assert(gives<u16, i8, i32> && gives<u16, i16, i32> && gives<u16, i32, i32> && gives<u16, i64, i64>);
static_assert(gives<u32, i8, i64> && gives<u32, i16, i64> && gives<u32, i32, i64> && gives<u32, i64, i64>);

// A tensor and a scalar.
template <class T, class S, class Result>
constexpr bool with_scalar_gives = std::same_as<heddle::scalar_result_t<T, S>, Result>;
// of the tensor's kind or below: the tensor's type
template <class... Ts>
constexpr bool lower_scalars_change_nothing(List<Ts...>) {
  return (with_scalar_gives<Ts, bool, Ts> && ...);
}
static_assert(lower_scalars_change_nothing(Elements{}));
static_assert(with_scalar_gives<i8, int, i8> && with_scalar_gives<u8, long long, u8> &&
              with_scalar_gives<i32, u64, i32>);
static_assert(with_scalar_gives<u64, int, u64> && with_scalar_gives<i16, char, i16>);
static_assert(with_scalar_gives<half, double, half> && with_scalar_gives<bfloat16, half, bfloat16>);
static_assert(with_scalar_gives<half, i64, half> && with_scalar_gives<float, double, float>);
static_assert(with_scalar_gives<double, float, double> && with_scalar_gives<float, long long, float>);
// of a higher kind: float, or int64 for bool with an integer
static_assert(with_scalar_gives<bool, int, i64> && with_scalar_gives<bool, u8, i64> &&
              with_scalar_gives<bool, char, i64>);
static_assert(with_scalar_gives<bool, double, float> && with_scalar_gives<bool, half, float>);
static_assert(with_scalar_gives<i8, float, float> && with_scalar_gives<i64, double, float>);
static_assert(with_scalar_gives<u32, half, float> && with_scalar_gives<u64, long double, float>);

// What operations compute in and give.
static_assert(std::same_as<heddle::compute_type<half>, float> && std::same_as<heddle::compute_type<bfloat16>, float>);
static_assert(std::same_as<heddle::compute_type<float>, float> && std::same_as<heddle::compute_type<double>, double>);
static_assert(std::same_as<heddle::compute_type<i8>, i8> && std::same_as<heddle::compute_type<bool>, bool>);
static_assert(std::same_as<heddle::accumulator_type<half>, float> &&
              std::same_as<heddle::accumulator_type<bfloat16>, float>);
static_assert(std::same_as<heddle::accumulator_type<float>, float> &&
              std::same_as<heddle::accumulator_type<double>, double>);
static_assert(std::same_as<heddle::accumulator_type<bool>, i64> && std::same_as<heddle::accumulator_type<u8>, i64>);
static_assert(std::same_as<heddle::accumulator_type<i64>, i64> && std::same_as<heddle::accumulator_type<u64>, i64>);
static_assert(std::same_as<heddle::float_result_t<bool>, float> && std::same_as<heddle::float_result_t<i64>, float>);
static_assert(std::same_as<heddle::float_result_t<half>, half> &&
              std::same_as<heddle::float_result_t<bfloat16>, bfloat16>);
static_assert(std::same_as<heddle::float_result_t<float>, float> &&
              std::same_as<heddle::float_result_t<double>, double>);
static_assert(std::same_as<heddle::sum_result_t<bool>, i64> && std::same_as<heddle::sum_result_t<u8>, i64>);
static_assert(std::same_as<heddle::sum_result_t<i64>, i64> && std::same_as<heddle::sum_result_t<u64>, i64>);
static_assert(std::same_as<heddle::sum_result_t<half>, half> && std::same_as<heddle::sum_result_t<double>, double>);

// Assignment never lowers the kind; a change of width is allowed.
static_assert(heddle::lowers_kind_v<i32, float> && heddle::lowers_kind_v<bool, i8> &&
              heddle::lowers_kind_v<bool, half>);
static_assert(heddle::lowers_kind_v<i64, bfloat16> && heddle::lowers_kind_v<u8, long double>);
static_assert(!heddle::lowers_kind_v<half, double> && !heddle::lowers_kind_v<i8, i64> &&
              !heddle::lowers_kind_v<u8, i8>);
static_assert(!heddle::lowers_kind_v<float, i64> && !heddle::lowers_kind_v<i8, bool> &&
              !heddle::lowers_kind_v<bool, bool>);

template <class U>
constexpr bool is_half_request(heddle::dtype_t<U>) {
  return std::same_as<U, half>;
}
static_assert(is_half_request(heddle::dtype<half>) && !is_half_request(heddle::dtype<float>));

template <class... Ts>
std::string names(List<Ts...>) {
  return ((std::string(heddle::name_of<Ts>) + " ") + ...);
}

TEST(Dtype, NamesAreNumPys) {
  EXPECT_EQ(names(Elements{}),
            "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 ");
  EXPECT_EQ(names(List<long, long long, unsigned long long, char16_t>{}), "int64 int64 uint64 uint16 ");
}

}  // namespace
