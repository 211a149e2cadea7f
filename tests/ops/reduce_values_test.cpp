// What reductions give: precision, extremes, ties, NaN, nothing.
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/compare.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/reduce.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "harness/expect.hpp"
#include "reference/reduce.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using hd::axes;
using hd::axis;
using hd::keep_dims;
using reference::list;
using reference::List;
using reference::matrix;
using reference::reduce;

// ---- precision

template <class T>
struct ReduceReal : testing::Test {};
using FloatTypes = testing::Types<hd::half, hd::bfloat16, float, double>;
TYPED_TEST_SUITE(ReduceReal, FloatTypes);

TYPED_TEST(ReduceReal, sums_are_within_the_bound) {
  const auto x = real_operand<TypeParam, 2>({129, 1025}, -1, 1, Layout::contiguous, 5);
  const Array magnitude = reference::abs(x.values);
  for (const int over : {0, 1}) {
    const Array want = reduce(reference::sum, x.values, {over});
    const Array got = over == 0 ? value_of(hd::sum(x.tensor, axis<0>)) : value_of(hd::sum(x.tensor, axis<1>));
    const std::int64_t terms = over == 0 ? 129 : 1025;
    EXPECT_TRUE(close(got, want, tolerance::sum<TypeParam>(terms, reduce(reference::sum, magnitude, {over}), want)));
  }
}

TYPED_TEST(ReduceReal, two_runs_give_the_same_bits) {
  const auto x = real_operand<TypeParam, 2>({65, 1025}, -1, 1, Layout::sliced, 6);
  EXPECT_TRUE(identical(value_of(hd::sum(x.tensor)), value_of(hd::sum(x.tensor))));
  EXPECT_TRUE(identical(value_of(hd::mean(x.tensor, axis<0>)), value_of(hd::mean(x.tensor, axis<0>))));
}

TEST(ReduceReal, R047_halves_do_not_overflow_on_the_way) {
  const auto x = to_tensor<hd::half, 2>(Array({2, 1024}, 100));
  EXPECT_EQ(static_cast<float>(hd::mean(x).item()), 100.0f);
  EXPECT_TRUE(equal(value_of(hd::mean(x, axis<1>)), list({100, 100})));
  EXPECT_TRUE(equal(value_of(hd::sum(x, axis<1>)), list({INFINITY, INFINITY})));
  // In float they are still right where the formula goes on.
  EXPECT_TRUE(equal(value_of(hd::sum(x, axis<1>) / 1024.0f), list({100, 100})));
}

// Under an emulator this is as much as a test may cost; larger ones run in the benches.
TEST(ReduceReal, R058_many_ones) {
  const std::int64_t count = on_cuda ? 2000000 : 20000000;
  const auto ones = hd::ones<float>({count, 1}, test_device());
  EXPECT_EQ(hd::mean(ones, axis<0>).item(), 1.0f);
  EXPECT_EQ(hd::sum(ones, axis<0>).item(), static_cast<float>(count));
  const auto pairs = hd::ones<float>({count / 2, 2}, test_device());
  EXPECT_TRUE(equal(value_of(hd::mean(pairs, axis<0>)), list({1, 1})));
  EXPECT_TRUE(equal(value_of(hd::sum(pairs, axis<0>)), Array({2}, static_cast<double>(count / 2))));
}

#if !HEDDLE_TEST_DEVICE_CUDA
// An emulated device would take minutes for so many.
TEST(ReduceReal, more_ones_than_float_counts) {
  EXPECT_EQ(hd::sum(hd::ones<float>({1 << 26}, test_device())).item(), 0x1p26f);
}
#endif

TEST(ReduceIntegers, R054_bytes_and_bool_add_up_in_int64) {
  const auto ones = hd::ones<float>({5000}, test_device());
  EXPECT_EQ(hd::sum(ones == 1.0f).item(), 5000);
  const auto x = hd::full<std::uint8_t>({40, 500}, 255, test_device());
  EXPECT_TRUE(equal(value_of(hd::sum(x, axis<1>)), Array({40}, 127500)));
  EXPECT_EQ(hd::sum(x).item(), 5100000);
  EXPECT_EQ(hd::mean(x).item(), 255.0f);
}

TEST(ReduceIntegers, sums_wrap_and_means_do_not) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> values{most, 1};
  EXPECT_EQ(hd::sum(hd::from_host<std::int64_t>(values, {2}, test_device())).item(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(hd::mean(to_tensor<std::int32_t, 1>(list({2147483647, 2147483647}))).item(), 2147483648.0f);
  EXPECT_EQ(hd::mean(to_tensor<std::int32_t, 1>(list({1, 2}))).item(), 1.5f);
  const std::vector<std::int64_t> greatest{most, most};
  EXPECT_EQ(hd::mean(hd::from_host<std::int64_t>(greatest, {2}, test_device())).item(), 0x1p63f);
  const std::vector<std::uint64_t> beyond{std::uint64_t{1} << 63, std::uint64_t{1} << 63};
  EXPECT_EQ(hd::mean(hd::from_host<std::uint64_t>(beyond, {2}, test_device())).item(), 0x1p63f);
}

TEST(ReduceProduct, no_factors_order_leaves_the_range) {
  for (const hd::index_t count : {2, 256, 700, 5000, 100000}) {
    SCOPED_TRACE(count);
    auto x = hd::full<float>({count}, 8.0f, test_device());
    x.slice(axis<0>, hd::range(0, hd::_, 2)).fill(0.125f);
    EXPECT_EQ(hd::prod(x).item(), 1.0f);
    x.slice(axis<0>, hd::range(0, 1)).fill(-1.0f);
    EXPECT_EQ(hd::prod(x).item(), -8.0f);
    x.slice(axis<0>, hd::range(1, 2)).fill(0.0f);
    EXPECT_EQ(std::fabs(hd::prod(x).item()), 0.0f);
    x.slice(axis<0>, hd::range(1, 2)).fill(std::numeric_limits<float>::infinity());
    EXPECT_EQ(hd::prod(x).item(), -std::numeric_limits<float>::infinity());
  }
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(hd::prod(to_tensor<double, 1>(list({least, 1e300, 3e30, 1e-16}))).item(), least * 3e300 * 1e14);
  EXPECT_EQ(hd::prod(to_tensor<float, 1>(list({1e30, 1e30}))).item(), std::numeric_limits<float>::infinity());
}

TEST(ReduceIntegers, R070_sum_of_a_comparison) {
  const auto d = to_tensor<float, 2>(matrix({{0, 1, 2, 3}, {0, 2, 1, 0}, {1, 8, 9, 11}, {15, 2, 6, 7}}));
  EXPECT_TRUE(equal(value_of(hd::sum(hd::cast<int>(d < 2.1f), axis<0>)), list({3, 3, 2, 1})));
  EXPECT_TRUE(equal(value_of(hd::sum(hd::cast<int>(d < 2.1f), axis<0>, keep_dims)), matrix({{3, 3, 2, 1}})));
}

// ---- views, extremes, ties, NaN, nothing

TEST(ReduceViews, R072_offsets_count) {
  Array r({32, 2});
  for (std::int64_t i = 0; i < 64; ++i) r[i] = static_cast<double>(i / 2);
  EXPECT_EQ(hd::max(to_tensor<float, 2>(r)(hd::range(0, 20))).item(), 19.0f);
  EXPECT_EQ(hd::sum(to_tensor<float, 1>(Array({4}, -1))(hd::range(2, 3))).item(), -1.0f);
}

TEST(ReduceExtremes, R074_of_negative_and_infinite_elements) {
  EXPECT_EQ(hd::max(to_tensor<float, 1>(list({-2, -1}))).item(), -1.0f);
  EXPECT_EQ(hd::min(to_tensor<float, 1>(list({INFINITY, INFINITY}))).item(), INFINITY);
  EXPECT_EQ(hd::max(to_tensor<float, 1>(list({-INFINITY, -INFINITY}))).item(), -INFINITY);
  EXPECT_EQ(hd::max(to_tensor<std::int8_t, 1>(list({-128, -100}))).item(), -100);
  EXPECT_EQ(hd::max(to_tensor<std::int64_t, 1>(list({-5, -7}))).item(), -5);
  EXPECT_EQ(hd::argmax(to_tensor<float, 1>(list({-INFINITY, -INFINITY}))).item(), 0);
}

template <class T>
void check_extreme_itself() {
  constexpr T least = std::numeric_limits<T>::lowest(), most = std::numeric_limits<T>::max();
  for (const T value : {least, most}) {
    const std::array<T, 3> values{value, value, value};
    const auto x = hd::from_host<T>(values, {3}, test_device());
    EXPECT_EQ(hd::max(x).item(), value);
    EXPECT_EQ(hd::min(x).item(), value);
    EXPECT_EQ(hd::argmax(x).item(), 0);
    EXPECT_EQ(hd::argmin(x).item(), 0);
  }
}

TEST(ReduceExtremes, R079_of_the_types_extremes) {
  check_extreme_itself<std::int32_t>();
  check_extreme_itself<std::uint8_t>();
  check_extreme_itself<std::int64_t>();
  check_extreme_itself<bool>();
  EXPECT_EQ(static_cast<float>(hd::max(to_tensor<hd::half, 1>(list({-65504}))).item()), -65504.0f);
  EXPECT_EQ(static_cast<float>(hd::min(to_tensor<hd::half, 1>(list({65504}))).item()), 65504.0f);
}

TEST(ReduceTies, R080_the_first_of_equals) {
  EXPECT_TRUE(equal(value_of(hd::argmax(hd::zeros<float>({1, 2001}, test_device()), axis<1>)), list({0})));
  EXPECT_EQ(hd::argmax(hd::full<float>({16}, 3, test_device())).item(), 0);
  const auto x = to_tensor<float, 2>(matrix({{2, 3, 0, 3, 3}, {1, 3, 1, 3, 1}}));
  EXPECT_TRUE(equal(value_of(hd::argmax(x, axis<1>)), list({1, 1})));
  EXPECT_EQ(hd::argmax(to_tensor<float, 1>(list({-0.0, 0.0}))).item(), 0);
  EXPECT_EQ(hd::argmax(to_tensor<float, 1>(list({0.0, -0.0}))).item(), 0);
  for (const std::int64_t length : {33, 257, 1025, 5000}) {
    Array values({length});
    values[length / 2] = values[length - 1] = 1;
    EXPECT_EQ(hd::argmax(to_tensor<float, 1>(values)).item(), length / 2) << length;
    EXPECT_EQ(hd::argmin(to_tensor<float, 1>(values)).item(), 0) << length;
  }
}

TEST(ReduceNaN, R035_argmax_finds_the_first) {
  const std::vector<std::pair<List, double>> cases{{{0, 1, NAN}, 2},   {{3, NAN, 1, 5}, 1},
                                                   {{NAN, 1, 2}, 0},   {{INFINITY, NAN, -INFINITY}, 1},
                                                   {{-1, -2, NAN}, 2}, {{NAN, NAN}, 0}};
  for (const auto& [values, place] : cases) {
    const auto x = to_tensor<float, 1>(list(values));
    EXPECT_EQ(hd::argmax(x).item(), place);
    EXPECT_EQ(hd::argmin(x).item(), place);
  }
  for (const std::int64_t length : {3, 33, 1000, 5000}) {
    Array values = integers({length}, -4, 4, 7);
    values[length / 2] = NAN;
    EXPECT_EQ(hd::argmax(to_tensor<float, 1>(values)).item(), length / 2);
    EXPECT_EQ(hd::argmin(to_tensor<hd::half, 1>(values)).item(), length / 2);
  }
  // Down columns: the first of equals, of signed zeros too, where all are the least; the first NaN of several.
  Array columns({500, 8}, -INFINITY);
  const auto at = [&](std::int64_t row, std::int64_t column) -> double& { return columns[row * 8 + column]; };
  at(499, 1) = at(321, 1) = -1;
  at(3, 2) = at(77, 2) = NAN;
  at(78, 2) = INFINITY;
  for (std::int64_t row = 0; row < 500; ++row) at(row, 3) = row % 2 == 0 ? -0.0 : 0.0;
  at(0, 4) = at(1, 4) = 5;
  const Array want = list({0, 321, 3, 0, 0, 0, 0, 0});
  EXPECT_TRUE(equal(value_of(hd::argmax(to_tensor<float, 2>(columns), axis<0>)), want));
  EXPECT_TRUE(equal(value_of(hd::argmin(-to_tensor<hd::half, 2>(columns), axis<0>)), want));
}

TEST(ReduceNaN, R039_max_min_sum_and_mean_propagate) {
  const auto x = to_tensor<float, 2>(matrix({{1, NAN, 3}, {4, 5, 6}}));
  EXPECT_TRUE(equal(value_of(hd::max(x, axis<1>)), list({NAN, 6})));
  EXPECT_TRUE(equal(value_of(hd::min(x, axis<1>)), list({NAN, 4})));
  EXPECT_TRUE(equal(value_of(hd::max(x, axis<0>)), list({4, NAN, 6})));
  Array many({100000}, 1);
  many[77777] = NAN;
  const auto y = to_tensor<float, 1>(many);
  EXPECT_TRUE(std::isnan(hd::max(y).item()));
  EXPECT_TRUE(std::isnan(hd::min(y).item()));
  EXPECT_TRUE(std::isnan(hd::sum(y).item()));
  EXPECT_TRUE(std::isnan(hd::mean(y).item()));
}

template <class T>
void check_extremes_of_nothing() {
  const auto x = to_tensor<T, 3>(Array({2, 0, 4}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::max(x); }), {"max", "(2, 0, 4)"}));
  EXPECT_THROW((void)hd::max(x, axis<1>), hd::ShapeError);
  EXPECT_THROW((void)hd::min(x, axes<0, 1>), hd::ShapeError);
  EXPECT_EQ(hd::eval(hd::max(x, axis<0>)).shape(), (hd::Shape<2>{0, 4}));
  EXPECT_THROW((void)hd::argmax(x, axis<1>), hd::ShapeError);
  EXPECT_EQ(hd::eval(hd::argmax(x, axis<2>)).shape(), (hd::Shape<2>{2, 0}));
}

TEST(ReduceNothing, R028_has_no_extreme) {
  check_extremes_of_nothing<float>();
  check_extremes_of_nothing<std::int32_t>();
}

TEST(ReduceNothing, has_the_identity) {
  const auto x = to_tensor<float, 2>(Array({3, 0}));
  EXPECT_TRUE(equal(value_of(hd::sum(x, axis<1>)), Array({3}, 0)));
  EXPECT_TRUE(equal(value_of(hd::prod(x, axis<1>)), Array({3}, 1)));
  EXPECT_TRUE(equal(value_of(hd::mean(x, axis<1>)), Array({3}, NAN)));
  EXPECT_TRUE(equal(value_of(hd::any(x, axis<1>)), Array({3}, 0)));
  EXPECT_TRUE(equal(value_of(hd::all(x, axis<1>)), Array({3}, 1)));
  EXPECT_EQ(hd::sum(x).item(), 0.0f);
  EXPECT_EQ(hd::eval(hd::sum(x, axis<0>)).shape(), (hd::Shape<1>{0}));
  EXPECT_TRUE(std::isnan(hd::mean(to_tensor<int, 1>(Array({0}))).item()));
}

}  // namespace
