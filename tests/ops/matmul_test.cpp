#include <heddle/ops/activation.hpp>
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/matmul.hpp>

#include <cmath>
#include <cstdint>

#include "harness/expect.hpp"
#include "reference/matmul.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using hd::_;
using hd::range;
using reference::counting;
using reference::list;
using reference::matrix;

/// Small integers, whose products add up exactly.
template <class T, int RankA, int RankB, int Rank>
void check_exact(const Extents& a_shape, const Extents& b_shape, Layout left, Layout right) {
  const auto a = exact_operand<T, RankA>(a_shape, left, 1);
  const auto b = exact_operand<T, RankB>(b_shape, right, 2);
  const TestTensor<T, Rank> y = hd::matmul(a.tensor, b.tensor);
  const Array want = rounded_to<T>(reference::matmul(a.values, b.values));
  EXPECT_TRUE(equal(to_array(y), want)) << describe(a_shape, left) << " times " << describe(b_shape, right);
}

template <class T>
struct Matmul : testing::Test {};
using Types = testing::Types<hd::half, hd::bfloat16, float, double, std::int32_t>;
TYPED_TEST_SUITE(Matmul, Types);

TYPED_TEST(Matmul, R166_every_small_size) {
  for (const std::int64_t m : {1, 3, 8, 17})
    for (const std::int64_t k : {1, 3, 16, 17})
      for (const std::int64_t n : {1, 5, 8, 17})
        check_exact<TypeParam, 2, 2, 2>({m, k}, {k, n}, Layout::contiguous, Layout::contiguous);
}

TYPED_TEST(Matmul, every_layout) {
  const Layout layouts[] = {Layout::contiguous, Layout::transposed, Layout::sliced, Layout::reversed,
                            Layout::broadcast};
  for (const Layout left : layouts)
    for (const Layout right : layouts) check_exact<TypeParam, 2, 2, 2>({17, 13}, {13, 31}, left, right);
}

TYPED_TEST(Matmul, off_the_tiles) {
  for (const std::int64_t extent : {31, 33, 63, 65, 127, 129})
    check_exact<TypeParam, 2, 2, 2>({extent, 19}, {19, 66}, Layout::contiguous, Layout::transposed);
  check_exact<TypeParam, 2, 2, 2>({65, 129}, {129, 67}, Layout::offset, Layout::pitched);
}

TYPED_TEST(Matmul, into_outputs_of_every_layout) {
  const auto a = exact_operand<TypeParam, 2>({19, 23}, Layout::contiguous, 3);
  const auto b = exact_operand<TypeParam, 2>({23, 35}, Layout::transposed, 4);
  expect_equal<TypeParam, 2>([&] { return hd::matmul(a.tensor, b.tensor); }, reference::matmul(a.values, b.values));
}

TYPED_TEST(Matmul, batches_broadcast) {
  check_exact<TypeParam, 3, 3, 3>({3, 5, 7}, {3, 7, 9}, Layout::contiguous, Layout::transposed);
  check_exact<TypeParam, 3, 2, 3>({3, 5, 7}, {7, 9}, Layout::sliced, Layout::contiguous);
  check_exact<TypeParam, 2, 3, 3>({5, 7}, {3, 7, 9}, Layout::contiguous, Layout::reversed);
  check_exact<TypeParam, 4, 3, 4>({2, 1, 5, 7}, {3, 7, 4}, Layout::contiguous, Layout::contiguous);
  check_exact<TypeParam, 4, 4, 4>({2, 1, 5, 7}, {1, 3, 7, 4}, Layout::transposed, Layout::broadcast);
}

TYPED_TEST(Matmul, vectors) {
  check_exact<TypeParam, 1, 1, 0>({129}, {129}, Layout::contiguous, Layout::reversed);
  check_exact<TypeParam, 2, 1, 1>({65, 33}, {33}, Layout::transposed, Layout::sliced);
  check_exact<TypeParam, 1, 2, 1>({33}, {33, 65}, Layout::sliced, Layout::contiguous);
  check_exact<TypeParam, 3, 1, 2>({3, 5, 7}, {7}, Layout::contiguous, Layout::contiguous);
  check_exact<TypeParam, 1, 3, 2>({7}, {3, 7, 5}, Layout::contiguous, Layout::transposed);
}

TYPED_TEST(Matmul, R030_of_inner_extent_0_is_zeros) {
  const auto check = [](const auto& a, const auto& b, const Extents& shape) {
    EXPECT_TRUE(equal(value_of(hd::matmul(a, b)), Array(shape, 0)));
  };
  check(to_tensor<TypeParam, 2>(Array({4, 0})), to_tensor<TypeParam, 2>(Array({0, 4})), {4, 4});
  check(to_tensor<TypeParam, 3>(Array({3, 2, 0})), to_tensor<TypeParam, 3>(Array({3, 0, 3})), {3, 2, 3});
  check(to_tensor<TypeParam, 1>(Array({0})), to_tensor<TypeParam, 1>(Array({0})), {});
  check(to_tensor<TypeParam, 2>(Array({0, 3})), to_tensor<TypeParam, 2>(Array({3, 4})), {0, 4});
  check(to_tensor<TypeParam, 3>(Array({0, 2, 3})), to_tensor<TypeParam, 2>(Array({3, 4})), {0, 2, 4});
}

template <class T>
struct MatmulReal : testing::Test {};
using FloatTypes = testing::Types<hd::half, hd::bfloat16, float, double>;
TYPED_TEST_SUITE(MatmulReal, FloatTypes);

TYPED_TEST(MatmulReal, sums_are_within_the_bound) {
  for (const std::int64_t k : {17, 257, 1025}) {
    const auto a = real_operand<TypeParam, 2>({33, k}, -1, 1, Layout::contiguous, 5);
    const auto b = real_operand<TypeParam, 2>({k, 19}, -1, 1, Layout::contiguous, 6);
    const Array want = reference::matmul(a.values, b.values);
    const Array magnitude = reference::matmul(reference::abs(a.values), reference::abs(b.values));
    const Array got = value_of(hd::matmul(a.tensor, b.tensor));
    EXPECT_TRUE(close(got, want, tolerance::sum<TypeParam>(k, magnitude, want))) << k;
    EXPECT_TRUE(identical(got, value_of(hd::matmul(a.tensor, b.tensor)))) << "two runs, " << k;
  }
}

TYPED_TEST(MatmulReal, an_epilogue_sees_the_unrounded_sums) {
  const auto a = real_operand<TypeParam, 2>({33, 65}, -1, 1, Layout::contiguous, 7);
  const auto b = real_operand<TypeParam, 2>({65, 35}, -1, 1, Layout::contiguous, 8);
  const auto bias = real_operand<TypeParam, 1>({35}, -1, 1, Layout::contiguous, 9);
  const Array product = reference::matmul(a.values, b.values);
  const Array magnitude =
      reference::matmul(reference::abs(a.values), reference::abs(b.values)) + reference::abs(bias.values);
  const Array want = reference::relu(product + bias.values);
  expect_close<TypeParam, 2>([&] { return hd::relu(hd::matmul(a.tensor, b.tensor) + bias.tensor); }, want,
                             tolerance::sum<TypeParam>(66, magnitude, want));
}

// As many large tiles as a device has multiprocessors, columns that come in vectors of 16 bytes or not, and operands of
// the epilogue that move with rows, with columns and with both.
TEST(MatmulCases, an_epilogue_of_large_products) {
  for (const std::int64_t n : {256, 254}) {
    const auto a = exact_operand<float, 3>({27, 224, 24}, Layout::contiguous, 20);
    const auto b = exact_operand<float, 2>({24, n}, n == 256 ? Layout::contiguous : Layout::transposed, 21);
    const auto bias = exact_operand<float, 1>({n}, Layout::contiguous, 22);
    const auto column = exact_operand<float, 2>({224, 1}, Layout::contiguous, 23);
    const auto skip = exact_operand<float, 3>({27, 224, n}, Layout::contiguous, 24);
    const TestTensor<float, 3> y = hd::relu(hd::matmul(a.tensor, b.tensor) + bias.tensor) + skip.tensor * column.tensor;
    EXPECT_TRUE(equal(to_array(y), reference::relu(reference::matmul(a.values, b.values) + bias.values) +
                                       skip.values * column.values))
        << n;
  }
}

TEST(MatmulCases, R027_a_column_slice_as_operand) {
  const auto big = to_tensor<float, 2>(counting({4, 6}));
  const auto s = big(_, range(1, 4));
  EXPECT_TRUE(
      equal(value_of(hd::matmul(s.transpose(), s)), matrix({{580, 620, 660}, {620, 664, 708}, {660, 708, 756}})));
  EXPECT_TRUE(equal(value_of(hd::matmul(s, to_tensor<float, 1>(list({1, 10, 100})))), list({321, 987, 1653, 2319})));
}

TEST(MatmulCases, R166_halves_of_odd_sizes) {
  const auto a = to_tensor<hd::half, 2>(counting({2, 3}));
  const auto b = to_tensor<hd::half, 2>(counting({3, 4}));
  EXPECT_TRUE(equal(value_of(hd::matmul(a, b)), matrix({{20, 23, 26, 29}, {56, 68, 80, 92}})));
}

TEST(MatmulCases, R151_old_memory_does_not_leak) {
  for (int round = 0; round < 3; ++round) {
    hd::full<float>({33, 5}, NAN, test_device());
    EXPECT_TRUE(
        equal(value_of(hd::matmul(hd::ones<float>({33, 17}, test_device()), hd::ones<float>({17, 5}, test_device()))),
              Array({33, 5}, 17)));
    hd::full<float>({2, 33, 5}, NAN, test_device());
    const auto bias = hd::full<float>({5}, 3, test_device());
    EXPECT_TRUE(equal(
        value_of(hd::matmul(hd::ones<float>({2, 33, 17}, test_device()), hd::ones<float>({17, 5}, test_device())) +
                 bias),
        Array({2, 33, 5}, 20)));
  }
}

TEST(MatmulCases, R195_float_means_float) {
  EXPECT_TRUE(
      equal(value_of(hd::matmul(to_tensor<float, 2>(matrix({{1024.5}})), hd::ones<float>({1, 1}, test_device()))),
            matrix({{1024.5}})));
  EXPECT_TRUE(
      equal(value_of(hd::matmul(hd::full<float>({1, 64}, 1024.5, test_device()), hd::eye<float>(64, test_device()))),
            Array({1, 64}, 1024.5)));
}

TEST(MatmulCases, R158_many_batches) {
  const std::int64_t batches = 65537;
  const auto a = hd::ones<float>({batches, 2, 4}, test_device());
  const auto b = hd::ones<float>({batches, 4, 1}, test_device());
  EXPECT_TRUE(equal(value_of(hd::matmul(a, b)), Array({batches, 2, 1}, 4)));
}

TEST(MatmulCases, integers_add_up_in_int64_and_wrap) {
  const auto a = hd::full<std::int8_t>({1, 1000}, 100, test_device());
  EXPECT_TRUE(equal(value_of(hd::matmul(a, a.transpose())),
                    matrix({{static_cast<double>(static_cast<std::int8_t>(10000000))}})));
  const auto b = hd::full<std::int32_t>({2, 2}, 100000, test_device());
  EXPECT_TRUE(
      equal(value_of(hd::matmul(b, b)), Array({2, 2}, static_cast<double>(static_cast<std::int32_t>(20000000000)))));
}

TEST(MatmulCases, operands_of_different_types_and_formulas) {
  const auto a = to_tensor<float, 2>(counting({3, 4}));
  const auto b = to_tensor<hd::half, 2>(counting({4, 2}));
  const Array product = reference::matmul(counting({3, 4}), counting({4, 2}));
  static_assert(std::is_same_v<decltype(hd::matmul(a, b))::value_type, float>);
  EXPECT_TRUE(equal(value_of(hd::matmul(a, b)), product));
  EXPECT_TRUE(equal(value_of(hd::matmul(a * 2.0f, b + 0.0f)), product + product));
  EXPECT_TRUE(equal(value_of(hd::matmul(hd::matmul(a, b), b.transpose())),
                    reference::matmul(product, reference::transpose(counting({4, 2})))));
}

TEST(MatmulCases, nan_and_infinity_pass) {
  const auto a = to_tensor<float, 2>(matrix({{1, NAN}, {INFINITY, 0}}));
  const auto b = to_tensor<float, 2>(matrix({{1, 0}, {0, 1}}));
  EXPECT_TRUE(equal(value_of(hd::matmul(a, b)), matrix({{NAN, NAN}, {INFINITY, NAN}})));
}

TEST(MatmulCases, a_mismatch_names_the_operation_and_both_shapes) {
  const auto a = to_tensor<float, 2>(counting({2, 3}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::matmul(a, a); }), {"matmul", "(2, 3)", "3", "2"}));
  const auto batch = to_tensor<float, 3>(counting({4, 3, 2}));
  const auto other = to_tensor<float, 3>(counting({5, 2, 3}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::matmul(batch, other); }),
                       {"matmul", "(4, 3, 2)", "(5, 2, 3)"}));
  EXPECT_THROW((void)hd::matmul(a, to_tensor<float, 1>(list({1, 2}))), hd::ShapeError);
}

TEST(MatmulProperties, is_linear) {
  const auto a = exact_operand<float, 2>({17, 19}, Layout::contiguous, 10);
  const auto b = exact_operand<float, 2>({19, 23}, Layout::contiguous, 11);
  const auto c = exact_operand<float, 2>({19, 23}, Layout::contiguous, 12);
  EXPECT_TRUE(equal(value_of(hd::matmul(a.tensor, b.tensor + c.tensor)),
                    value_of(hd::matmul(a.tensor, b.tensor) + hd::matmul(a.tensor, c.tensor))));
}

}  // namespace
