// A formula equals its steps, and becomes as few kernels as the architecture says: counted on a CUDA device.
#include <heddle/heddle.hpp>

#include <cmath>
#include <map>
#include <string>

#include "harness/expect.hpp"
#include "reference/matmul.hpp"
#include "reference/reduce.hpp"
#include "reference/softmax.hpp"
#include "tolerance/tolerance.hpp"

#if HEDDLE_TEST_DEVICE_CUDA
#include "cuda/call_counter.hpp"
#endif

namespace {

namespace hd = heddle;
using namespace heddle_test;
using hd::axis;
using reference::list;
using Calls = std::map<std::string, int>;

/// What a piece of code asks of the CUDA runtime the second time it runs; on the CPU nothing, but it runs twice too.
struct Count {
  int launches = 0;
  int allocations = 0;
  int frees = 0;
  Calls all;
};
template <class F>
Count count(F f) {
  f();
  Count result;
#if HEDDLE_TEST_DEVICE_CUDA
  Calls calls = calls_of(f);
  result.launches = calls["cudaLaunchKernel"] + calls["cudaLaunchKernelExC"];
  result.allocations = calls["cudaMallocAsync"] + calls["cudaMalloc"];
  result.frees = calls["cudaFreeAsync"] + calls["cudaFree"];
  if (hd::cuda::device_count() > 1) calls["cudaGetDevice"] = 0;  // with several, the current one is asked for
  for (const auto& [name, times] : calls)
    if (times > 0) result.all[name] = times;
#else
  f();
#endif
  return result;
}
/// Kernels where there are any.
constexpr int on_device(int number) { return on_cuda ? number : 0; }

struct Fusion : testing::Test {
  template <int Rank>
  static Operand<float, Rank> exact(const Extents& shape, unsigned seed) {
    return {integers(shape, -4, 4, seed), Layout::contiguous};
  }
  const Operand<float, 2> x = exact<2>({33, 17}, 1), y = exact<2>({33, 17}, 2), w = exact<2>({17, 35}, 3);
  const Operand<float, 1> b = exact<1>({35}, 4), row = exact<1>({17}, 5);
};

TEST_F(Fusion, maps_are_one_kernel) {
  TestTensor<float, 2> z;
  const Count calls = count([&] { z = x.tensor * y.tensor + row.tensor; });
  EXPECT_TRUE(equal(to_array(z), x.values * y.values + row.values));
  EXPECT_EQ(calls.launches, on_device(1));
}

TEST_F(Fusion, a_warm_formula_asks_for_nothing_else) {
  TestTensor<float, 2> z;
  const Count fresh = count([&] {
    z = TestTensor<float, 2>();
    z = hd::relu(x.tensor * y.tensor + row.tensor);
  });
  EXPECT_TRUE(equal(to_array(z), reference::relu(x.values * y.values + row.values)));
  const Calls want_fresh{{"cudaFreeAsync", 1}, {"cudaLaunchKernel", 1}, {"cudaMallocAsync", 1}};
  EXPECT_EQ(fresh.all, on_cuda ? want_fresh : Calls{});
  const Count in_place = count([&] { z = hd::relu(x.tensor * y.tensor + row.tensor); });
  const Calls want_in_place{{"cudaLaunchKernel", 1}};
  EXPECT_EQ(in_place.all, on_cuda ? want_in_place : Calls{});
}

TEST_F(Fusion, bias_and_activation_ride_in_the_products_epilogue) {
  TestTensor<float, 2> z;
  const Count calls = count([&] {
    z = TestTensor<float, 2>();
    z = hd::relu(hd::matmul(x.tensor, w.tensor) + b.tensor);
  });
  EXPECT_TRUE(equal(to_array(z), reference::relu(reference::matmul(x.values, w.values) + b.values)));
  const Calls want{{"cudaFreeAsync", 1}, {"cudaLaunchKernel", 1}, {"cudaMallocAsync", 1}};
  EXPECT_EQ(calls.all, on_cuda ? want : Calls{});
}

TEST_F(Fusion, a_product_is_added_in_place_by_one_kernel) {
  const TestTensor<float, 2> z = to_tensor<float, 2>(Array({33, 35}, 1));
  const Count calls = count([&] { z += hd::matmul(x.tensor, w.tensor); });
  const Array product = reference::matmul(x.values, w.values);
  EXPECT_TRUE(equal(to_array(z), Array({33, 35}, 1) + product + product));
  EXPECT_EQ(calls.launches, on_device(1));
  EXPECT_EQ(calls.allocations, 0);
}

TEST_F(Fusion, maps_below_a_reduction_ride_in_its_prologue) {
  TestTensor<float, 0> total;
  const Count calls = count([&] { total = hd::sum(hd::square(x.tensor - y.tensor)); });
  const Array difference = x.values - y.values;
  EXPECT_EQ(total.item(), static_cast<float>(reference::sum((difference * difference).values)));
  EXPECT_LE(calls.launches, 2);
  EXPECT_GE(calls.launches, on_device(1));

  TestTensor<float, 1> deviation;
  const auto eps = 0.5f;
  const Count rows = count([&] { deviation = hd::sqrt(hd::mean(hd::square(x.tensor - row.tensor), axis<1>) + eps); });
  const Array centred = x.values - row.values;
  const Array want = reference::map([](double v) { return std::sqrt(v + 0.5); },
                                    reference::reduce(reference::mean, centred * centred, {1}));
  EXPECT_TRUE(close(to_array(deviation), want, tolerance::composite<float>(want)));
  EXPECT_EQ(rows.launches, on_device(1));
}

TEST_F(Fusion, maps_below_and_above_softmax_are_one_kernel) {
  TestTensor<float, 2> z;
  const Count calls = count([&] { z = hd::softmax(x.tensor / 4.0f + row.tensor, axis<-1>) * 2.0f; });
  const Array want = reference::softmax(x.values / Array({}, 4) + row.values, 1) * Array({}, 2);
  EXPECT_TRUE(close(to_array(z), want, tolerance::composite<float>(want)));
  EXPECT_EQ(calls.launches, on_device(1));
}

TEST_F(Fusion, of_nested_producers_the_outer_one_keeps_the_epilogue) {
  const Operand<float, 2> v = exact<2>({35, 9}, 6);
  TestTensor<float, 2> z;
  const Count calls = count([&] {
    z = TestTensor<float, 2>();
    z = hd::matmul(hd::relu(hd::matmul(x.tensor, w.tensor) + b.tensor), v.tensor) - 1.0f;
  });
  const Array hidden = reference::relu(reference::matmul(x.values, w.values) + b.values);
  EXPECT_TRUE(equal(to_array(z), reference::matmul(hidden, v.values) - Array({}, 1)));
  EXPECT_EQ(calls.launches, on_device(2));
  EXPECT_EQ(calls.allocations, on_device(2));
}

TEST_F(Fusion, side_by_side_the_greater_work_keeps_the_epilogue) {
  TestTensor<float, 2> z;
  const Count two_products = count([&] { z = hd::matmul(x.tensor, w.tensor) + hd::matmul(y.tensor, w.tensor) * 2.0f; });
  const Array first = reference::matmul(x.values, w.values), second = reference::matmul(y.values, w.values);
  EXPECT_TRUE(equal(to_array(z), first + second + second));
  EXPECT_EQ(two_products.launches, on_device(2));

  const Operand<float, 2> c = exact<2>({9, 35}, 7);
  const Count with_sum = count([&] { z = hd::sum(c.tensor, axis<0>) + hd::matmul(x.tensor, w.tensor); });
  EXPECT_TRUE(equal(to_array(z), reference::reduce(reference::sum, c.values, {0}) + first));
  EXPECT_EQ(with_sum.launches, on_device(2));
}

TEST_F(Fusion, a_producer_smaller_than_the_output_is_computed_first) {
  TestTensor<float, 2> z;
  const Count calls = count([&] { z = x.tensor - hd::max(x.tensor, axis<1>, hd::keep_dims); });
  EXPECT_TRUE(equal(to_array(z), x.values - reference::reduce(reference::max, x.values, {1}, true)));
  EXPECT_EQ(calls.launches, on_device(2));

  // Only the extents, known when the program runs, tell that this product is broadcast.
  const Operand<float, 2> one_row = exact<2>({1, 17}, 8), many = exact<2>({33, 35}, 9);
  const Count product = count([&] { z = hd::matmul(one_row.tensor, w.tensor) + many.tensor; });
  EXPECT_TRUE(equal(to_array(z), reference::matmul(one_row.values, w.values) + many.values));
  EXPECT_EQ(product.launches, on_device(2));
}

TEST_F(Fusion, a_reduction_of_a_product_reads_it_once) {
  TestTensor<float, 1> z;
  const Count calls = count([&] { z = hd::sum(hd::matmul(x.tensor, w.tensor), axis<1>) * 0.5f; });
  EXPECT_TRUE(equal(to_array(z),
                    reference::reduce(reference::sum, reference::matmul(x.values, w.values), {1}) * Array({}, 0.5)));
  EXPECT_EQ(calls.launches, on_device(2));
}

TEST_F(Fusion, an_epilogue_may_change_the_type_and_read_other_types) {
  const auto bias = to_tensor<hd::half, 1>(b.values);
  hd::Tensor<hd::half, 2, TestDevice> z;
  const Count calls = count([&] { z = hd::cast<hd::half>(hd::matmul(x.tensor, w.tensor) + bias); });
  EXPECT_TRUE(equal(to_array(z), reference::matmul(x.values, w.values) + b.values));
  EXPECT_EQ(calls.launches, on_device(1));
  hd::Tensor<bool, 2, TestDevice> positive;
  const Count compared = count([&] { positive = hd::matmul(x.tensor, w.tensor) > 0.0f; });
  EXPECT_TRUE(
      equal(to_array(positive), reference::map([](double v) { return v > 0; }, reference::matmul(x.values, w.values))));
  EXPECT_EQ(compared.launches, on_device(1));
}

TEST_F(Fusion, writing_through_a_view_is_one_kernel_without_memory) {
  const auto z = x.tensor.clone();
  const Count calls = count([&] { z[3] = row.tensor * 2.0f; });
  EXPECT_TRUE(equal(to_array(z[3]), row.values + row.values));
  EXPECT_EQ(calls.launches, on_device(1));
  EXPECT_EQ(calls.allocations, 0);
  EXPECT_EQ(count([&] { z.fill(1); }).launches, on_device(1));
  EXPECT_EQ(count([&] { z *= 2.0f; }).launches, on_device(1));
}

TEST_F(Fusion, nothing_is_launched_for_nothing) {
  const auto empty = to_tensor<float, 2>(Array({0, 17}));
  const auto none = to_tensor<float, 2>(Array({33, 0}));
  EXPECT_EQ(count([&] { hd::eval(empty + 1.0f); }).launches, 0);
  EXPECT_EQ(count([&] { hd::eval(hd::matmul(empty, w.tensor)); }).launches, 0);
  EXPECT_EQ(count([&] { hd::eval(hd::softmax(none, axis<0>)); }).launches, 0);
  EXPECT_EQ(count([&] { hd::eval(hd::sum(empty, axis<1>)); }).launches, 0);
}

TEST_F(Fusion, copies_of_dense_tensors_are_no_kernels) {
  const auto dense = x.tensor.clone();
  EXPECT_EQ(count([&] { dense.clone(); }).launches, 0);
  EXPECT_EQ(count([&] { dense.transpose().clone(); }).launches, 0);
  EXPECT_EQ(count([&] { dense.to(hd::cpu); }).launches, 0);
  EXPECT_EQ(count([&] { dense.contiguous(); }).allocations, 0);
  EXPECT_EQ(count([&] { dense.flatten().to_vector(); }).launches, 0);
}

TEST(FusionProperties, a_formula_equals_its_steps) {
  const auto x = real_operand<double, 2>({17, 33}, -2, 2, Layout::transposed, 1);
  const auto y = real_operand<double, 1>({33}, 1, 2, Layout::sliced, 2);
  const hd::Tensor sum = x.tensor + y.tensor;
  const hd::Tensor e = hd::exp(sum);
  const hd::Tensor quotient = e / y.tensor;
  const hd::Tensor steps = hd::tanh(quotient) * 3.0;
  const Array want = to_array(steps);
  EXPECT_TRUE(close(value_of(hd::tanh(hd::exp(x.tensor + y.tensor) / y.tensor) * 3.0), want,
                    tolerance::units(tolerance::precision_of<double>(), want, 2)));
}

// ---- R007: a formula holds what it needs

auto unevaluated(const TestTensor<float, 1>& data) {
  const float c = 2 * 3.14159265f * 0.01f;
  const auto doubled = data + 0.0f;
  auto s = hd::sin(doubled * c);
  return hd::square(s);
}

TEST(FormulaLifetime, R007_scalars_and_temporaries_are_held_by_value) {
  auto formula = unevaluated(to_tensor<float, 1>(list({1, 2, 3, 4, 4, 3, 2, 1})));
  const Array want = list({0.0039426, 0.0157084, 0.0351118, 0.0618467, 0.0618467, 0.0351118, 0.0157084, 0.0039426});
  EXPECT_TRUE(close(value_of(formula), want, Array({8}, 1e-6)));
  EXPECT_TRUE(close(value_of(formula * 2.0f), want + want, Array({8}, 2e-6)));
}

TEST(FormulaLifetime, a_producer_formula_may_be_moved) {
  const auto x = to_tensor<float, 2>(Array({3, 3}, 2));
  auto formula = hd::matmul(x, x) + 1.0f;
  static_assert(!std::is_copy_constructible_v<decltype(formula)>);
  static_assert(std::is_move_constructible_v<decltype(formula)>);
  EXPECT_TRUE(equal(to_array(hd::eval(std::move(formula))), Array({3, 3}, 13)));
}

}  // namespace
