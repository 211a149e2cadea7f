// Comparisons, logic, bits and where. (Comparisons of true values between types: core/types_test.)
#include <heddle/ops/compare.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/select.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "harness/expect.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::list;
using reference::map;

template <class T>
TestTensor<T, 1> row(reference::List values) {
  return to_tensor<T, 1>(list(std::move(values)));
}

template <class T>
struct Compare : testing::Test {
  const Operand<T, 2> a = exact_operand<T, 2>({7, 33}, Layout::sliced, 1);
  const Operand<T, 2> b = exact_operand<T, 2>({7, 33}, Layout::transposed, 2);

  template <class Make>
  void check(Make make, const std::function<double(double, double)>& f) {
    expect_equal<bool, 2>(make, map(f, a.values, b.values));
  }
};
using Types = testing::Types<bool, std::int8_t, std::uint16_t, std::int64_t, hd::half, hd::bfloat16, float, double>;
TYPED_TEST_SUITE(Compare, Types);

TYPED_TEST(Compare, the_six) {
  this->check([&] { return this->a.tensor == this->b.tensor; }, std::equal_to<double>());
  this->check([&] { return this->a.tensor != this->b.tensor; }, std::not_equal_to<double>());
  this->check([&] { return this->a.tensor < this->b.tensor; }, std::less<double>());
  this->check([&] { return this->a.tensor <= this->b.tensor; }, std::less_equal<double>());
  this->check([&] { return this->a.tensor > this->b.tensor; }, std::greater<double>());
  this->check([&] { return this->a.tensor >= this->b.tensor; }, std::greater_equal<double>());
}

TYPED_TEST(Compare, logic_of_any_type) {
  this->check([&] { return this->a.tensor && this->b.tensor; }, [](double x, double y) { return x != 0 && y != 0; });
  this->check([&] { return this->a.tensor || this->b.tensor; }, [](double x, double y) { return x != 0 || y != 0; });
  this->check([&] { return !this->a.tensor; }, [](double x, double) { return x == 0; });
}

TYPED_TEST(Compare, where_picks_by_any_type) {
  const auto c = exact_operand<float, 2>({1, 33}, Layout::contiguous, 3);
  expect_equal<float, 2>([&] { return hd::where(this->a.tensor, c.tensor, -7.0f); },
                         map([](double on, double x) { return on != 0 ? x : -7; }, this->a.values, c.values));
  expect_equal<TypeParam, 2>(
      [&] { return hd::where(c.tensor > 0.0f, this->a.tensor, this->b.tensor); },
      map([](double on, double x, double y) { return on > 0 ? x : y; }, c.values, this->a.values, this->b.values));
}

TEST(CompareFloats, special_values) {
  const reference::List specials{0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 1e-45, 3.4028235e38};
  const auto count = static_cast<std::int64_t>(specials.size());
  const auto x = to_tensor<float, 2>(Array({count, 1}, specials));
  const auto y = to_tensor<float, 2>(Array({1, count}, specials));
  const Array a = to_array(x), b = to_array(y);
  EXPECT_TRUE(equal(value_of(x == y), map(std::equal_to<double>(), a, b)));
  EXPECT_TRUE(equal(value_of(x != y), map(std::not_equal_to<double>(), a, b)));
  EXPECT_TRUE(equal(value_of(x < y), map(std::less<double>(), a, b)));
  EXPECT_TRUE(equal(value_of(x <= y), map(std::less_equal<double>(), a, b)));
  EXPECT_TRUE(equal(value_of(x > y), map(std::greater<double>(), a, b)));
  EXPECT_TRUE(equal(value_of(x >= y), map(std::greater_equal<double>(), a, b)));
  // NaN is not 0.
  EXPECT_TRUE(equal(value_of(row<float>({NAN, 0, -0.0}) && true), list({1, 0, 0})));
  EXPECT_TRUE(equal(value_of(!row<float>({NAN, 0, -0.0})), list({0, 1, 1})));
}

TEST(CompareFloats, with_numbers) {
  const auto x = row<float>({-1, 0, 0.5, 2});
  EXPECT_TRUE(equal(value_of(x > 0), list({0, 0, 1, 1})));
  EXPECT_TRUE(equal(value_of(0.5 == x), list({0, 0, 1, 0})));
  EXPECT_TRUE(equal(value_of(1 >= x), list({1, 1, 1, 0})));
  // A number takes the type of a floating tensor: 0.1 is float's 0.1.
  EXPECT_TRUE(equal(value_of(row<float>({0.1}) == 0.1), list({1})));
  EXPECT_TRUE(equal(value_of(row<hd::half>({0.1}) == 0.1), list({1})));
}

TEST(Bits, of_integers_and_bool) {
  const auto x = row<std::uint8_t>({0b1100, 0xff, 0});
  const auto y = row<std::uint8_t>({0b1010, 0x0f, 0x80});
  EXPECT_TRUE(equal(value_of(x & y), list({0b1000, 0x0f, 0})));
  EXPECT_TRUE(equal(value_of(x | y), list({0b1110, 0xff, 0x80})));
  EXPECT_TRUE(equal(value_of(x ^ y), list({0b0110, 0xf0, 0x80})));
  EXPECT_TRUE(equal(value_of(~x), list({0xf3, 0, 0xff})));
  EXPECT_TRUE(equal(value_of(~row<std::int32_t>({0, -1, 5})), list({-1, 0, -6})));
  EXPECT_TRUE(equal(value_of(row<std::int64_t>({-1}) & 255), list({255})));
  EXPECT_TRUE(equal(value_of(~row<bool>({0, 1})), list({1, 0})));
  EXPECT_TRUE(equal(value_of(row<bool>({0, 1}) ^ row<bool>({1, 1})), list({1, 0})));
}

TEST(Bits, shifts_keep_the_type_and_take_any_count) {
  const auto x = row<std::int8_t>({1, 64, -8, -1});
  static_assert(std::is_same_v<decltype(x << 1)::value_type, std::int8_t>);
  EXPECT_TRUE(equal(value_of(x << 1), list({2, -128, -16, -2})));
  EXPECT_TRUE(equal(value_of(x >> 1), list({0, 32, -4, -1})));
  EXPECT_TRUE(equal(value_of(x << 8), list({0, 0, 0, 0})));
  EXPECT_TRUE(equal(value_of(x >> 100), list({0, 0, -1, -1})));
  EXPECT_TRUE(equal(value_of(x << -1), list({0, 0, 0, 0})));
  EXPECT_TRUE(equal(value_of(row<std::uint32_t>({0x80000000}) >> row<std::int32_t>({31})), list({1})));
  EXPECT_TRUE(equal(value_of(row<std::uint32_t>({3}) << 31), list({0x80000000})));
}

TEST(Where, keeps_nan_and_signs_of_zeros) {
  const auto condition = row<bool>({1, 0, 1, 0});
  const auto x = row<float>({NAN, NAN, -0.0, 1});
  EXPECT_TRUE(identical(value_of(hd::where(condition, x, 0.0f)), list({NAN, 0, -0.0, 0})));
  // NaN as a condition is not 0.
  EXPECT_TRUE(equal(value_of(hd::where(row<float>({NAN, 0, -0.0}), 1.0f, 2.0f)), list({1, 2, 2})));
}

}  // namespace
