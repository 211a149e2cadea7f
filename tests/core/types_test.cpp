// The type rules of formulas, row by row.
#include <heddle/ops/activation.hpp>
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/compare.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/math.hpp>
#include <heddle/ops/reduce.hpp>
#include <heddle/ops/select.hpp>
#include <heddle/ops/softmax.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "harness/expect.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using hd::bfloat16;
using hd::half;
using reference::list;
using std::int16_t, std::int32_t, std::int64_t, std::int8_t;
using std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;

template <class T, int Rank = 1>
using Tensor = TestTensor<T, Rank>;

template <class A, class B>
using sum_t = typename decltype(std::declval<A>() + std::declval<B>())::value_type;
template <class A, class B, class Want>
inline constexpr bool tensors = std::is_same_v<sum_t<Tensor<A>, Tensor<B>>, Want>&&
    std::is_same_v<sum_t<Tensor<B>, Tensor<A, 0>>, Want>&& std::is_same_v<sum_t<Tensor<A, 0>, Tensor<B, 2>>, Want>;
template <class T, class S, class Want>
inline constexpr bool with_scalar =
    std::is_same_v<sum_t<Tensor<T>, S>, Want>&& std::is_same_v<sum_t<S, Tensor<T, 0>>, Want>;

// Two tensors, rank 0 too: the higher kind's type.
static_assert(tensors<bool, int8_t, int8_t>);
static_assert(tensors<bool, half, half>);
static_assert(tensors<int64_t, half, half>);
static_assert(tensors<int64_t, float, float>);
static_assert(tensors<uint8_t, bfloat16, bfloat16>);
// Same kind: the wider.
static_assert(tensors<int8_t, int32_t, int32_t>);
static_assert(tensors<uint16_t, uint64_t, uint64_t>);
static_assert(tensors<half, float, float>);
static_assert(tensors<float, double, double>);
static_assert(tensors<float, float, float>);
// Signed with unsigned: the next wider signed, where the unsigned one is as wide or wider.
static_assert(tensors<int8_t, uint8_t, int16_t>);
static_assert(tensors<int16_t, uint16_t, int32_t>);
static_assert(tensors<int32_t, uint32_t, int64_t>);
static_assert(tensors<int8_t, uint16_t, int32_t>);
static_assert(tensors<int32_t, uint8_t, int32_t>);
static_assert(tensors<half, bfloat16, float>);
// A scalar of the tensor's kind or below takes the tensor's type.
static_assert(with_scalar<half, double, half>);
static_assert(with_scalar<float, double, float>);
static_assert(with_scalar<float, int64_t, float>);
static_assert(with_scalar<int8_t, int64_t, int8_t>);
static_assert(with_scalar<uint8_t, int, uint8_t>);
static_assert(with_scalar<int8_t, bool, int8_t>);
static_assert(with_scalar<bfloat16, half, bfloat16>);
// Of a higher kind it gives float, or int64 for bool with an integer.
static_assert(with_scalar<int64_t, double, float>);
static_assert(with_scalar<bool, double, float>);
static_assert(with_scalar<bool, int8_t, int64_t>);
static_assert(with_scalar<bool, bool, bool>);

template <class E>
using value_t = typename E::value_type;

// Functions that leave the integers give float, floating ones keep their type.
static_assert(std::is_same_v<value_t<decltype(hd::exp(Tensor<int32_t>()))>, float>);
static_assert(std::is_same_v<value_t<decltype(hd::sqrt(Tensor<bool>()))>, float>);
static_assert(std::is_same_v<value_t<decltype(hd::exp(Tensor<half>()))>, half>);
static_assert(std::is_same_v<value_t<decltype(hd::sigmoid(Tensor<double>()))>, double>);
static_assert(std::is_same_v<value_t<decltype(hd::mean(Tensor<int64_t>()))>, float>);
static_assert(std::is_same_v<value_t<decltype(hd::mean(Tensor<bfloat16>()))>, bfloat16>);
static_assert(std::is_same_v<value_t<decltype(hd::softmax(Tensor<int8_t>(), hd::axis<0>))>, float>);
// pow, relu, abs, minimum: the common type.
static_assert(std::is_same_v<value_t<decltype(hd::pow(Tensor<int16_t>(), Tensor<int8_t>()))>, int16_t>);
static_assert(std::is_same_v<value_t<decltype(hd::pow(Tensor<int32_t>(), 2))>, int32_t>);
static_assert(std::is_same_v<value_t<decltype(hd::pow(Tensor<int32_t>(), 0.5))>, float>);
static_assert(std::is_same_v<value_t<decltype(hd::relu(Tensor<int8_t>()))>, int8_t>);
static_assert(std::is_same_v<value_t<decltype(hd::minimum(Tensor<uint8_t>(), Tensor<int8_t>()))>, int16_t>);
// Results of reductions.
static_assert(std::is_same_v<value_t<decltype(hd::sum(Tensor<bool>()))>, int64_t>);
static_assert(std::is_same_v<value_t<decltype(hd::sum(Tensor<int8_t>()))>, int64_t>);
static_assert(std::is_same_v<value_t<decltype(hd::sum(Tensor<half>()))>, half>);
static_assert(std::is_same_v<value_t<decltype(hd::max(Tensor<uint8_t>()))>, uint8_t>);
static_assert(std::is_same_v<value_t<decltype(hd::argmax(Tensor<half>()))>, int64_t>);
// Comparisons and logic give bool.
static_assert(std::is_same_v<value_t<decltype(Tensor<half>() < 2)>, bool>);
static_assert(std::is_same_v<value_t<decltype(Tensor<int64_t>() && Tensor<double>())>, bool>);
static_assert(std::is_same_v<value_t<decltype(!Tensor<float>())>, bool>);
// where: the type of its two values.
static_assert(std::is_same_v<value_t<decltype(hd::where(Tensor<bool>(), Tensor<int8_t>(), Tensor<float>()))>, float>);
static_assert(std::is_same_v<value_t<decltype(hd::where(Tensor<bool>(), Tensor<int8_t>(), 0))>, int8_t>);
static_assert(std::is_same_v<value_t<decltype(hd::where(Tensor<bool>(), 1.0, 0.0))>, float>);

template <class T>
Tensor<T> row(reference::List values) {
  return to_tensor<T, 1>(list(std::move(values)));
}

TEST(Types, signed_and_unsigned_meet_without_loss) {
  EXPECT_TRUE(equal(value_of(row<int8_t>({-128, 127}) + row<uint8_t>({255, 255})), list({127, 382})));
  EXPECT_TRUE(equal(value_of(row<int32_t>({-1}) + row<uint32_t>({4294967295.0})), list({4294967294.0})));
}

TEST(Types, sixteen_bit_floats_compute_in_float_inside_a_formula) {
  const auto h = row<half>({200, -300});
  EXPECT_TRUE(equal(value_of(h * 400.0f / 400.0f), list({200, -300})));
  EXPECT_TRUE(equal(value_of(h * h * 2 - h * h), list({40000, 90000 > 65504 ? INFINITY : 0})));
  const auto b = row<bfloat16>({256});
  EXPECT_TRUE(equal(value_of((b + 1.0f) - b), list({1})));
  EXPECT_TRUE(equal(value_of(hd::cast<bfloat16>(b + 1.0f) - b), list({0})));
}

TEST(Types, R067_computed_halves_are_rounded_when_stored) {
  const auto x = row<float>({65504, 65519, 65520, 65536, -65536, 2049, 2051, 5.96e-8, 2.98e-8, 1e-8});
  const Array want = list({65504, 65504, INFINITY, INFINITY, -INFINITY, 2048, 2052, 0x1p-24, 0, 0});
  EXPECT_TRUE(equal(to_array(x.to(hd::dtype<half>)), want));
  EXPECT_TRUE(equal(value_of(hd::cast<float>(hd::cast<half>(x + 0.0f))), want));
  const Tensor<half> stored = x * 1.0f;
  EXPECT_TRUE(equal(value_of(hd::cast<float>(stored)), want));
}

TEST(Types, R065_computed_bfloat16s_round_to_nearest_even) {
  const auto x = row<float>({0.26914087, 3.14, 1.00390625, 1.01171875, 3.4028235e38});
  const Array want = list({0.26953125, 3.140625, 1.0, 1.015625, INFINITY});
  EXPECT_TRUE(equal(to_array(x.to(hd::dtype<bfloat16>)), want));
  const Tensor<bfloat16> stored = x * 1.0f;
  EXPECT_TRUE(equal(to_array(stored), want));
}

TEST(Types, scalars_keep_the_type_but_not_less_than_their_kind) {
  EXPECT_TRUE(equal(value_of(row<int8_t>({100}) + 100), list({-56})));
  EXPECT_TRUE(equal(value_of(row<int32_t>({3}) * 0.5), list({1.5})));
  EXPECT_TRUE(equal(value_of(row<bool>({0, 1}) + 41), list({41, 42})));
  EXPECT_TRUE(equal(value_of(row<half>({1}) * 1e-3), rounded_to<half>(list({static_cast<float>(1e-3)}))));
}

TEST(Types, comparisons_compare_true_values) {
  EXPECT_TRUE(equal(value_of(row<int8_t>({100, -1}) > 200), list({0, 0})));
  EXPECT_TRUE(equal(value_of(row<int8_t>({100, -1}) < 200), list({1, 1})));
  EXPECT_TRUE(equal(value_of(row<int32_t>({-1}) < row<uint32_t>({1})), list({1})));
  EXPECT_TRUE(equal(value_of(row<uint8_t>({255}) == -1), list({0})));
  EXPECT_TRUE(equal(value_of(row<int32_t>({2, 3}) > 2.5), list({0, 1})));
  // Where double can't tell them apart.
  const int64_t big = (INT64_C(1) << 53) + 1;
  const std::vector<int64_t> values{big, big - 1};
  const auto x = hd::from_host<int64_t>(values, {2}, test_device());
  EXPECT_TRUE(equal(value_of(x == 0x1p53), list({0, 1})));
  EXPECT_TRUE(equal(value_of(x > row<double>({0x1p53})), list({1, 0})));
  const std::vector<uint64_t> top{std::numeric_limits<uint64_t>::max()};
  EXPECT_TRUE(equal(value_of(hd::from_host<uint64_t>(top, {1}, test_device()) > row<int64_t>({-1})), list({1})));
}

TEST(Types, bool_arithmetic_is_logic) {
  const auto a = row<bool>({0, 0, 1, 1}), b = row<bool>({0, 1, 0, 1});
  EXPECT_TRUE(equal(value_of(a + b), list({0, 1, 1, 1})));
  EXPECT_TRUE(equal(value_of(a * b), list({0, 0, 0, 1})));
  static_assert(std::is_same_v<value_t<decltype(a + b)>, bool>);
}

TEST(Types, assigning_may_change_the_width_and_raise_the_kind) {
  const auto x = row<int32_t>({300, -1, 65536});
  const Tensor<int8_t> narrow = x + 0;
  EXPECT_TRUE(equal(to_array(narrow), list({44, -1, 0})));
  const Tensor<uint16_t> other_sign = x + 0;
  EXPECT_TRUE(equal(to_array(other_sign), list({300, 65535, 0})));
  const Tensor<float> floats = x;
  EXPECT_TRUE(equal(to_array(floats), list({300, -1, 65536})));
  const Tensor<int32_t> of_bool = x > 0;
  EXPECT_TRUE(equal(to_array(of_bool), list({1, 0, 1})));
  Tensor<float> rebound;
  rebound = row<double>({1.5});
  EXPECT_TRUE(equal(to_array(rebound), list({1.5})));
  const Tensor<double> wide = row<half>({0.5});
  EXPECT_TRUE(equal(to_array(wide), list({0.5})));
}

TEST(Types, R142_a_step_of_adam_in_half_with_no_gradient_changes_nothing) {
  // eps rounds to 0 in half, and 0 / 0 would poison the weights: a formula's scalars and steps are floats.
  auto w = row<half>({1, -2, 0.5});
  const auto g = row<half>({0, 0, 0});
  auto m = row<half>({0, 0, 0}), v = row<half>({0, 0, 0});
  double first = 1, second = 1;
  for (int step = 0; step < 3; ++step) {
    first *= 0.9;
    second *= 0.999;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    w = w - 1e-3 * (m / (1 - first)) / (hd::sqrt(v / (1 - second)) + 1e-8);
  }
  EXPECT_TRUE(equal(to_array(w), list({1, -2, 0.5})));
}

TEST(Types, cast_truncates_and_saturates) {
  const auto x = row<float>({-1.9f, 2.9f, 300, -300, NAN, INFINITY, -INFINITY, 3e9f});
  EXPECT_TRUE(equal(value_of(hd::cast<int8_t>(x)), list({-1, 2, 127, -128, 0, 127, -128, 127})));
  EXPECT_TRUE(equal(value_of(hd::cast<uint8_t>(x)), list({0, 2, 255, 0, 0, 255, 0, 255})));
  EXPECT_TRUE(
      equal(value_of(hd::cast<int32_t>(x)), list({-1, 2, 300, -300, 0, 2147483647, -2147483648.0, 2147483647})));
  EXPECT_TRUE(equal(value_of(hd::cast<bool>(row<float>({0, -0.0f, 0.5f, NAN}))), list({0, 0, 1, 1})));
  EXPECT_TRUE(equal(value_of(hd::cast<int8_t>(row<int32_t>({255, 256, -129}))), list({-1, 0, 127})));
  EXPECT_TRUE(equal(value_of(hd::cast<half>(row<int32_t>({2049, 70000}))), list({2048, INFINITY})));
}

}  // namespace
