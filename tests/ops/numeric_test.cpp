// Maps of ops/numeric.hpp and the small operations beside them, by value. (On both devices, and their special values:
// the conformance cases of the same names; their accuracy: map_accuracy_test.)
#include <heddle/heddle.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>

#include "harness/expect.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::list;
using reference::matrix;

template <class T = float>
TestTensor<T, 1> row(reference::List values) {
  return to_tensor<T, 1>(list(std::move(values)));
}
void expect(const Array& got, const Array& want) { EXPECT_TRUE(equal(got, want)); }

TEST(Numeric, extremes_without_nan) {
  const auto a = row({1, NAN, -2, NAN, 3}), b = row({2, 5, NAN, NAN, 3});
  expect(value_of(hd::fmax(a, b)), list({2, 5, -2, NAN, 3}));
  expect(value_of(hd::fmin(a, b)), list({1, 5, -2, NAN, 3}));
  expect(value_of(hd::fmax(row<std::uint8_t>({3, 9}), -1)), list({3, 9}));
}

TEST(Numeric, signs) {
  const auto x = row({-0.0, 0.0, -3, INFINITY, -INFINITY});
  expect(value_of(hd::signbit(x)), list({1, 0, 1, 0, 1}));
  expect(value_of(hd::isneginf(x)), list({0, 0, 0, 0, 1}));
  expect(value_of(hd::isposinf(x)), list({0, 0, 0, 1, 0}));
  EXPECT_TRUE(identical(value_of(hd::copysign(1, x)), list({-1, 1, -1, 1, -1})));
  expect(value_of(hd::signbit(row<int>({-1, 0}))), list({1, 0}));
  expect(value_of(hd::heaviside(row({-1, 0, 2, NAN}), 0.5)), list({0, 0.5, 1, NAN}));
}

TEST(Numeric, rounding) {
  const auto x = row<double>({1.25, -2.5, 1234.5, INFINITY});
  expect(value_of(hd::round(x, 1)), list({1.2, -2.5, 1234.5, INFINITY}));
  expect(value_of(hd::round(x, -2)), list({0, -0.0, 1200, INFINITY}));
  expect(value_of(hd::round(row<int>({149}), -2)), list({149}));
  expect(value_of(hd::frac(x)), list({0.25, -0.5, 0.5, NAN}));
  expect(value_of(hd::frac(row<int>({7}))), list({0}));
}

TEST(Numeric, logarithms) {
  expect(value_of(hd::logaddexp(row<double>({-INFINITY, INFINITY, 0, 1000}), row<double>({-INFINITY, INFINITY, 0, 0}))),
         list({-INFINITY, INFINITY, std::log(2.0), 1000}));
  expect(value_of(hd::logaddexp2(row<double>({3, -INFINITY}), row<double>({3, 5}))), list({4, 5}));
  expect(value_of(hd::xlogy(row({0, 0, 1, 2}), row({0, NAN, 0, 1}))), list({0, NAN, -INFINITY, 0}));
  expect(value_of(hd::logit(row<double>({0, 0.5, 1, 2}))), list({-INFINITY, 0, INFINITY, NAN}));
  expect(value_of(hd::logit(row<double>({0, 0.5}), 0.5)), list({0, 0}));
}

TEST(Numeric, integers) {
  expect(value_of(hd::gcd(row<int>({12, -18, 0, 0}), row<int>({8, 12, -5, 0}))), list({4, 6, 5, 0}));
  expect(value_of(hd::lcm(row<int>({4, -6, 0}), row<int>({6, 4, 3}))), list({12, 12, 0}));
  const auto least = hd::full<std::int32_t>({1}, INT32_MIN);
  expect(value_of(hd::gcd(least, 6)), list({2}));
}

TEST(Numeric, angles) {
  expect(value_of(hd::deg2rad(row<double>({180, 0}))), list({3.14159265358979323846, 0}));
  expect(value_of(hd::rad2deg(row<double>({1}))), list({57.29577951308232}));
}

TEST(Numeric, shrinking_activations_and_glu) {
  const auto x = row({-1, -0.5, 0.25, 0.5, 2, NAN});
  expect(value_of(hd::hardshrink(x)), list({-1, 0, 0, 0, 2, NAN}));
  expect(value_of(hd::softshrink(x)), list({-0.5, 0, 0, 0, 1.5, NAN}));
  EXPECT_THROW(hd::softshrink(x, -1.0), hd::Error);
  expect(value_of(hd::glu(row<double>({3, 4, 0, -INFINITY}))), list({1.5, 0}));
  EXPECT_THROW(hd::glu(row({1, 2, 3})), hd::ShapeError);
}

TEST(Numeric, isclose) {
  const auto a = row<double>({1, 1, INFINITY, NAN, -INFINITY}), b = row<double>({1.1, 2, INFINITY, NAN, INFINITY});
  expect(value_of(hd::isclose(a, b, 0.1)), list({1, 0, 1, 0, 0}));
  expect(value_of(hd::isclose(a, b, 0, 0.2, true)), list({1, 0, 1, 1, 0}));
  EXPECT_THROW(hd::isclose(a, b, -1), hd::Error);
}

TEST(Numeric, diagonals) {
  const auto x = row({1, 2});
  expect(value_of(hd::diag_embed(x, -1)), matrix({{0, 0, 0}, {1, 0, 0}, {0, 2, 0}}));
  expect(value_of(hd::diag(hd::diag(x, 2), 2)), list({1, 2}));
  const auto both = to_tensor<float, 2>(matrix({{1, 2}, {3, 4}}));
  expect(value_of(hd::diag_embed(both, 0, hd::axes<1, 0>)(hd::_, 1, 0)), list({0, 2}));
  expect(value_of(hd::diag_embed(both, 0, hd::axes<1, 0>)(1, 1, hd::_)), list({2, 4}));
  EXPECT_EQ(hd::trace(both).item(), 5);
  expect(value_of(hd::eye<int>(2, 3)), matrix({{1, 0, 0}, {0, 1, 0}}));
  expect(value_of(hd::eye<int>(3, 2)), matrix({{1, 0}, {0, 1}, {0, 0}}));
}

TEST(Numeric, scatter_reduce) {
  const auto x = to_tensor<double, 2>(matrix({{10, 20, 30}}));
  const auto index = to_tensor<int, 2>(matrix({{0, 0, 2, 0}}));
  const auto source = to_tensor<double, 2>(matrix({{3, 5, 7, 1}}));
  using How = hd::scatter_reduction;
  const auto got = [&](How how, bool include_self) {
    return value_of(hd::scatter_reduce(x, hd::axis<1>, index, source, how, include_self));
  };
  expect(got(How::sum, true), matrix({{19, 20, 37}}));
  expect(got(How::sum, false), matrix({{9, 20, 7}}));
  expect(got(How::prod, true), matrix({{150, 20, 210}}));
  expect(got(How::prod, false), matrix({{15, 20, 7}}));
  expect(got(How::mean, true), matrix({{19 / 4.0, 20, 37 / 2.0}}));
  expect(got(How::mean, false), matrix({{3, 20, 7}}));
  expect(got(How::amin, true), matrix({{1, 20, 7}}));
  expect(got(How::amax, false), matrix({{5, 20, 7}}));
  expect(got(How::amax, true), matrix({{10, 20, 30}}));
  // Integer means are rounded down.
  const auto mean = hd::scatter_reduce(row<int>({-1}), hd::axis<0>, row<int>({0}), row<int>({-2}), How::mean);
  expect(value_of(mean), list({-2}));
}

TEST(Numeric, index_copy_and_index_fill) {
  const auto x = to_tensor<float, 2>(matrix({{1, 2, 3}, {4, 5, 6}}));
  const auto index = row<int>({2, 0});
  expect(value_of(hd::index_copy(x, hd::axis<1>, index, to_tensor<float, 2>(matrix({{7, 8}, {9, 0}})))),
         matrix({{8, 2, 7}, {0, 5, 9}}));
  expect(value_of(hd::index_fill(x, hd::axis<1>, index, -1)), matrix({{-1, 2, -1}, {-1, 5, -1}}));
  EXPECT_THROW(hd::index_fill(row<std::uint8_t>({1}), hd::axis<0>, row<int>({0}), 256), hd::Error);
  EXPECT_THROW(hd::eval(hd::index_fill(x, hd::axis<0>, index, 0)), hd::IndexError);
  EXPECT_THROW(hd::index_copy(x, hd::axis<0>, index, x.transpose()), hd::ShapeError);
}

TEST(Numeric, scans_that_leave_out_or_go_backwards) {
  const auto x = row({2, 3, 5});
  expect(value_of(hd::cumsum(x, hd::axis<0>, {.exclusive = true})), list({0, 2, 5}));
  expect(value_of(hd::cumsum(x, hd::axis<0>, {.reverse = true})), list({10, 8, 5}));
  expect(value_of(hd::cumprod(x, hd::axis<0>, {.exclusive = true, .reverse = true})), list({15, 5, 1}));
  expect(value_of(hd::cumsum(row({}), hd::axis<0>, {.exclusive = true})), list({}));
  const auto columns = to_tensor<float, 2>(matrix({{1, 2}, {3, 4}}), Layout::transposed);
  expect(value_of(hd::cumsum(columns, hd::axis<0>, {.exclusive = true})), matrix({{0, 0}, {1, 2}}));
}

TEST(Numeric, extremes_so_far) {
  const auto [most, at] = hd::cummax(row({1, 3, 3, 2, NAN, 9}), hd::axis<0>);
  expect(value_of(most), list({1, 3, 3, 3, NAN, NAN}));
  expect(value_of(at), list({0, 1, 2, 2, 4, 4}));
  const auto [least, place] = hd::cummin(row<std::int8_t>({5, 7, -2}), hd::axis<0>);
  expect(value_of(least), list({5, 5, -2}));
  expect(value_of(place), list({0, 0, 2}));
  expect(value_of(hd::logcumsumexp(row({1000, 1000, -INFINITY}), hd::axis<0>)),
         rounded_to<float>(list({1000, 1000 + std::log(2.0), 1000 + std::log(2.0)})));
}

TEST(Numeric, numbers_beyond_the_range_of_integers_are_errors) {
  EXPECT_THROW(hd::tensor<std::uint8_t>({1, 300}), hd::Error);
  EXPECT_THROW(hd::tensor<std::uint8_t>({1, 2.0, -1}), hd::Error);
  EXPECT_THROW(hd::full<std::uint8_t>({2}, 300), hd::Error);
  EXPECT_THROW(hd::full_like(row<std::int8_t>({1}), INT64_MAX), hd::Error);
  const auto x = row<std::uint8_t>({3, 9});
  EXPECT_THROW(x[0] = 256, hd::Error);
  EXPECT_THROW(hd::threshold(x, -1, 0), hd::Error);
  EXPECT_THROW(hd::threshold(x, 1, 300), hd::Error);
  expect(value_of(x), list({3, 9}));
  expect(value_of(hd::threshold(x, 5, 255)), list({255, 9}));
  // What cast does on purpose stays: floating numbers saturate, bool is x != 0.
  expect(value_of(hd::full<std::uint8_t>({1}, 300.0)), list({255}));
  expect(value_of(hd::full<bool>({1}, 300)), list({1}));
  EXPECT_TRUE(hd::fits<std::int8_t>(-128) && !hd::fits<std::int8_t>(128) && !hd::fits<std::uint64_t>(-1));
}

TEST(Numeric, assigning_operators) {
  const auto x = row<int>({7, 9});
  x %= 4;
  expect(value_of(x), list({3, 1}));
  x <<= 2;
  x |= row<int>({1, 2});
  expect(value_of(x), list({13, 6}));
  x &= 12;
  x ^= 1;
  x >>= 1;
  expect(value_of(x), list({6, 2}));
}

struct Scale {
  HEDDLE_HOST_DEVICE float operator()(float x, float by) const { return x * by; }
};

TEST(Numeric, a_functor_takes_numbers_in_its_parameters_types) {
  // Compiled with -Wconversion: 5 becomes a float before the call.
  expect(value_of(hd::map(Scale{}, row({1, 2}), 5)), list({5, 10}));
}

TEST(Numeric, shapes_are_printed) {
  std::ostringstream stream;
  stream << row({1, 2}).shape() << hd::ones<int>({2, 3}).shape();
  EXPECT_EQ(stream.str(), "(2,)(2, 3)");
}

}  // namespace
