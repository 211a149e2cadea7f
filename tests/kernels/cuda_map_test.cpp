// The map kernels on CUDA: each of them, at its edges, with operands and outputs of every layout.
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/dropout.hpp>

#include <cstdint>
#include <vector>

#include "harness/expect.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::map;

double difference(double a, double b) { return a - 2 * b; }

TEST(CudaMap, operands_and_outputs_of_every_layout) {
  for (const Extents& shape : {Extents{3, 5, 7}, {2, 33, 65}, {2, 40, 64}, {9, 8, 12}, {5, 1, 36}, {64, 3, 2}}) {
    for (const Layout left : input_layouts()) {
      const auto a = exact_operand<float, 3>(shape, left, 1);
      for (const Layout right : {Layout::contiguous, Layout::transposed, Layout::sliced, Layout::broadcast}) {
        const auto b = exact_operand<float, 3>(shape, right, 2);
        SCOPED_TRACE(describe(shape, left) + " and " + name_of(right));
        expect_equal<float, 3>([&] { return a.tensor - 2.0f * b.tensor; }, map(difference, a.values, b.values));
      }
    }
  }
}

TEST(CudaMap, permuted_axes_of_higher_rank) {
  const auto a = exact_operand<hd::half, 4>({3, 33, 10, 40}, Layout::contiguous, 1);
  const auto b = exact_operand<hd::half, 4>({3, 40, 33, 10}, Layout::contiguous, 2);
  const TestTensor<hd::half, 4> y = a.tensor + b.tensor.permute(hd::axes<0, 2, 3, 1>);
  EXPECT_TRUE(equal(to_array(y), a.values + reference::permute(b.values, {0, 2, 3, 1})));
  const TestTensor<hd::half, 4> z = a.tensor.permute(hd::axes<3, 1, 2, 0>) + b.tensor.permute(hd::axes<1, 2, 3, 0>);
  EXPECT_TRUE(
      equal(to_array(z), reference::permute(a.values, {3, 1, 2, 0}) + reference::permute(b.values, {1, 2, 3, 0})));
}

TEST(CudaMap, doubles_transposed_and_broadcast) {
  const auto a = exact_operand<double, 3>({3, 33, 70}, Layout::contiguous, 1);
  const auto b = exact_operand<double, 3>({3, 70, 33}, Layout::contiguous, 2);
  const auto c = exact_operand<double, 2>({33, 1}, Layout::contiguous, 3);
  const TestTensor<double, 3> y = a.tensor + b.tensor.transpose() * c.tensor;
  EXPECT_TRUE(equal(to_array(y), a.values + reference::transpose(b.values) * c.values));
  const TestTensor<double, 3> z = a.tensor * c.tensor;
  EXPECT_TRUE(equal(to_array(z), a.values * c.values));
}

// Rows that begin anywhere.
TEST(CudaMap, rows_of_halves_of_every_phase) {
  for (std::int64_t columns = 1000; columns < 1008; ++columns) {
    const auto a = exact_operand<hd::half, 2>({37, columns}, Layout::contiguous, 1);
    const auto row = exact_operand<float, 1>({columns}, Layout::contiguous, 2);
    const Output<hd::half, 2> y({37, columns}, Layout::contiguous);
    y.tensor().assign(a.tensor + row.tensor);
    EXPECT_TRUE(equal(to_array(y.tensor()), a.values + row.values)) << columns;
  }
}

TEST(CudaMap, broadcasts_by_rows_columns_and_numbers) {
  for (const std::int64_t rows : {1, 3, 70}) {
    for (const std::int64_t columns : {1, 4, 5, 33, 1000, 1001, 1002, 2052}) {
      const auto a = exact_operand<float, 2>({rows, columns}, Layout::contiguous, 1);
      const auto row = exact_operand<float, 1>({columns}, Layout::contiguous, 2);
      const auto wide = exact_operand<float, 2>({1, columns}, Layout::contiguous, 3);
      const auto tall = exact_operand<float, 2>({rows, 1}, Layout::contiguous, 4);
      const auto one = exact_operand<float, 0>({}, Layout::contiguous, 5);
      SCOPED_TRACE(describe({rows, columns}, Layout::contiguous));
      const auto check = [&](const TestTensor<float, 2>& got, const Array& want) {
        EXPECT_TRUE(equal(to_array(got), want));
      };
      check(a.tensor + row.tensor, a.values + row.values);
      check(a.tensor + wide.tensor, a.values + wide.values);
      check(a.tensor + tall.tensor, a.values + tall.values);
      check(a.tensor + one.tensor, a.values + one.values);
      check(tall.tensor + row.tensor, tall.values + row.values);
    }
  }
}

template <class T>
struct CudaMapSizes : testing::Test {};
using Types = testing::Types<std::int8_t, hd::half, double>;
TYPED_TEST_SUITE(CudaMapSizes, Types);

TYPED_TEST(CudaMapSizes, around_those_of_vectors_and_blocks) {
  for (const std::int64_t size : {1, 2, 3, 15, 16, 17, 255, 256, 257, 1023, 1025, 2048, 4097, 300007}) {
    const auto a = exact_operand<TypeParam, 1>({size}, Layout::contiguous, 1);
    const auto b = exact_operand<TypeParam, 1>({size}, Layout::contiguous, 2);
    const Output<TypeParam, 1> y({size}, Layout::contiguous);
    y.tensor().assign(a.tensor + b.tensor);
    EXPECT_TRUE(equal(to_array(y.tensor()), a.values + b.values)) << size;
    EXPECT_TRUE(y.gaps_untouched()) << size;
    const auto c = a.tensor.clone(), d = b.tensor.clone();  // aligned
    const TestTensor<TypeParam, 1> z = c + d;
    EXPECT_TRUE(equal(to_array(z), a.values + b.values)) << size;
  }
}

TEST(CudaMap, few_blocks_take_many_tiles) {
  using Form = hd::map_form<hd::add_function, float, float, hd::leaf_form<float, 0>, hd::leaf_form<float, 1>>;
  const std::int64_t tile = hd::on_cuda::flat_block * hd::on_cuda::flat_unroll<Form, 2, 4> * 4;
  for (const std::int64_t size : {tile * 7, tile * 8 + 5, tile * 9 - 1}) {
    const auto left = exact_operand<float, 1>({size}, Layout::contiguous, 1);
    const auto right = exact_operand<float, 1>({size}, Layout::contiguous, 2);
    const auto a = left.tensor.clone(), b = right.tensor.clone();
    const auto y = hd::full<float>({size}, 99, test_device());
    const hd::on_cuda::flat_arguments<Form, float, 2> arguments{.form = {},
                                                                .out = y.data(),
                                                                .data = {a.data(), b.data()},
                                                                .size = size,
                                                                .tiles = static_cast<std::uint32_t>(size / tile)};
    hd::on_cuda::launch(hd::on_cuda::map_flat<Form, float, 2, 4>, 3, hd::on_cuda::flat_block, 0,
                        hd::on_cuda::current_context(test_device().index), arguments);
    EXPECT_TRUE(equal(to_array(y), left.values + right.values)) << size;
  }
}

TEST(CudaMap, numbers_of_elements_in_every_kernel) {
  const hd::RandomState state{1, 2};
  const auto ones = [](const Extents& shape, Layout layout) { return to_tensor<float, 2>(Array(shape, 1), layout); };
  const Extents shape{40, 72};
  const TestTensor<float, 2> want = hd::dropout(ones(shape, Layout::contiguous), 0.5, state);
  for (const Layout layout : {Layout::transposed, Layout::pitched, Layout::sliced, Layout::reversed}) {
    const Output<float, 2> y(shape, layout);
    y.tensor().assign(hd::dropout(ones(shape, Layout::contiguous), 0.5, state));
    EXPECT_TRUE(equal(to_array(y.tensor()), to_array(want))) << "into " << name_of(layout);
    y.tensor().assign(hd::dropout(ones(shape, layout), 0.5, state));
    EXPECT_TRUE(equal(to_array(y.tensor()), to_array(want))) << "from and into " << name_of(layout);
    const TestTensor<float, 2> z = hd::dropout(ones(shape, layout), 0.5, state) + ones(shape, Layout::contiguous);
    EXPECT_TRUE(equal(to_array(z), to_array(want) + Array({}, 1))) << "from " << name_of(layout);
  }
}

}  // namespace
