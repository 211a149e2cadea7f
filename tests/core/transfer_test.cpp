// Copies between devices and types. On the CPU `to(cpu)` is the same handle.
#include <heddle/cuda/best_device.hpp>
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/equal.hpp>
#include <heddle/ops/shape.hpp>

#include <variant>

#include "harness/expect.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using hd::_;
using hd::range;
using reference::counting;
using reference::list;
using reference::matrix;

TEST(Transfer, to_the_host_and_back_keeps_the_elements_of_every_layout) {
  const Array values = integers({5, 7, 9}, -100, 100, 1);
  for (const Layout layout : output_layouts()) {
    const auto x = to_tensor<float, 3>(values, layout);
    const hd::Tensor host = x.to(hd::cpu);
    static_assert(std::is_same_v<decltype(host), const hd::Tensor<float, 3, hd::Cpu>>);
    EXPECT_TRUE(equal(to_array(host), values)) << name_of(layout);
    EXPECT_TRUE(equal(to_array(host.to(test_device())), values)) << name_of(layout);
    if (on_cuda) {
      host.fill(0);
      EXPECT_TRUE(equal(to_array(x), values)) << name_of(layout);
    }
  }
}

TEST(Transfer, of_views_read_only_and_empty_tensors) {
  const auto x = to_tensor<int, 2>(counting({6, 5}));
  EXPECT_TRUE(equal(to_array(x(range(_, _, -2), 3).to(hd::cpu)), list({28, 18, 8})));
  EXPECT_TRUE(equal(to_array(x[1].expand({2, 5}).to(hd::cpu)), matrix({{5, 6, 7, 8, 9}, {5, 6, 7, 8, 9}})));
  EXPECT_EQ((to_tensor<int, 2>(Array({0, 5})).to(hd::cpu).shape()), (hd::Shape<2>{0, 5}));
  EXPECT_EQ((to_tensor<int, 0>(Array({}, 9)).to(hd::cpu).item()), 9);
}

TEST(Transfer, keeps_the_order_of_axes) {
  const auto x = to_tensor<float, 4>(counting({2, 3, 4, 5}), Layout::channels_last);
  EXPECT_EQ(x.to(hd::cpu).strides(), x.strides());
  EXPECT_EQ(x.to(hd::cpu).to(test_device()).strides(), x.strides());
}

TEST(Transfer, copy_from_another_device) {
  const Array values = integers({5, 7}, -100, 100, 2);
  for (const Layout from : output_layouts()) {
    for (const Layout to : output_layouts()) {
      const hd::Tensor<float, 2> host = to_tensor<float, 2>(values, from).to(hd::cpu);
      const Output<float, 2> out(values.shape, to);
      out.tensor().copy_from(host);
      EXPECT_TRUE(equal(to_array(out.tensor()), values)) << name_of(from) << " to " << name_of(to);
      EXPECT_TRUE(out.gaps_untouched());
      const hd::Tensor<float, 2> back = hd::zeros<float>({5, 7});
      back.copy_from(to_tensor<float, 2>(values, from));
      EXPECT_TRUE(equal(to_array(back), values)) << name_of(from);
      const hd::Tensor<float, 2> transposed = hd::zeros<float>({7, 5}).transpose();
      transposed.copy_from(to_tensor<float, 2>(values, from));
      EXPECT_TRUE(equal(to_array(transposed), values)) << name_of(from) << " to a transposed one";
    }
  }
  const hd::Tensor<double, 2> wide = hd::zeros<double>({5, 7});
  wide.copy_from(to_tensor<float, 2>(values));
  EXPECT_TRUE(equal(to_array(wide), values));
  EXPECT_THROW(wide.copy_from(to_tensor<float, 2>(Array({1, 7}))), hd::ShapeError);
}

template <class T>
struct Conversions : testing::Test {};
using Types = testing::Types<bool, std::int8_t, std::uint16_t, std::int64_t, hd::half, hd::bfloat16, double>;
TYPED_TEST_SUITE(Conversions, Types);

TYPED_TEST(Conversions, from_and_to_float) {
  for (const Layout layout : {Layout::contiguous, Layout::sliced, Layout::reversed}) {
    const auto x = exact_operand<TypeParam, 2>({7, 33}, layout, 3);
    EXPECT_TRUE(equal(to_array(x.tensor.to(hd::dtype<float>)), x.values));
    EXPECT_TRUE(equal(to_array(x.tensor.to(hd::dtype<float>).to(hd::dtype<TypeParam>)), x.values));
    EXPECT_TRUE(equal(to_array(x.tensor.template to<float>()), x.values));
    EXPECT_EQ(x.tensor.to(hd::dtype<TypeParam>).data(), x.tensor.data());
  }
}

TEST(Transfer, a_formula_goes_to_a_device) {
  const auto x = to_tensor<float, 1>(list({1, 2, 3}));
  const hd::Tensor host = (x + 1.0f).to(hd::cpu);
  static_assert(std::is_same_v<decltype(host), const hd::Tensor<float, 1, hd::Cpu>>);
  EXPECT_TRUE(equal(to_array(host), list({2, 3, 4})));
  EXPECT_EQ((x + 1.0f).to_vector(), (std::vector<float>{2, 3, 4}));
  EXPECT_EQ((to_tensor<float, 1>(list({5})) * 2.0f).item(), 10.0f);
}

TEST(Transfer, best_device) {
  const auto best = hd::best_device();
  EXPECT_EQ(best.index(), on_cuda ? 1u : 0u);
  const double sum = hd::with_device(best, [](auto device) {
    const auto x = hd::full<float>({3}, 2, device);
    const std::vector<float> doubled = (x + x).to_vector();
    return static_cast<double>(doubled[0] + doubled[1] + doubled[2]);
  });
  EXPECT_EQ(sum, 12.0);
  EXPECT_EQ(hd::with_device(test_device(), [](auto device) { return hd::ones<int>({}, device).item(); }), 1);
}

TEST(Equal, array_equal_and_allclose) {
  const auto x = to_tensor<float, 2>(matrix({{1, 2}, {3, 4}}));
  const auto y = to_tensor<float, 2>(matrix({{1, 2}, {3, 4.0001}}));
  EXPECT_TRUE(hd::array_equal(x, x));
  EXPECT_FALSE(hd::array_equal(x, y));
  EXPECT_TRUE(hd::allclose(x, y, 1e-3));
  EXPECT_FALSE(hd::allclose(x, y));
  EXPECT_FALSE(hd::array_equal(x, x.flatten()));
  EXPECT_FALSE(hd::array_equal(x, x(range(0, 1))));
  EXPECT_TRUE(hd::array_equal(x * 2.0f, x + x));
  const auto nan = to_tensor<float, 1>(list({NAN}));
  EXPECT_FALSE(hd::array_equal(nan, nan));
  EXPECT_FALSE(hd::allclose(nan, nan));
  const auto inf = to_tensor<float, 1>(list({INFINITY}));
  EXPECT_TRUE(hd::allclose(inf, inf));
  EXPECT_FALSE(hd::allclose(inf, -inf));
  EXPECT_FALSE(hd::allclose(inf, to_tensor<float, 1>(list({1}))));
  EXPECT_FALSE(hd::allclose(to_tensor<float, 1>(list({1})), inf));
  EXPECT_TRUE(hd::array_equal(to_tensor<float, 1>(Array({0})), to_tensor<float, 1>(Array({0}))));
}

TEST(Reshape, the_function_serves_any_layout) {
  const Array values = counting({4, 3, 5});
  for (const Layout layout : output_layouts()) {
    const auto x = to_tensor<float, 3>(values, layout);
    EXPECT_TRUE(equal(value_of(hd::reshape(x, {6, -1})), counting({6, 10}))) << name_of(layout);
    EXPECT_TRUE(equal(value_of(hd::flatten(x.transpose()) + 1.0f),
                      reference::reshape(reference::transpose(values), {60}) + Array({}, 1)))
        << name_of(layout);
  }
  const auto x = to_tensor<float, 2>(counting({2, 3}));
  const hd::Tensor<float, 1, TestDevice> flat = hd::flatten(x);
  EXPECT_NE(flat.data(), x.data());
  EXPECT_THROW((void)hd::reshape(x, {4, -1}), hd::ShapeError);
}

TEST(Reshape, R021_flatten_of_a_transposed_view) {
  const auto t = to_tensor<float, 2>(counting({3, 3}));
  EXPECT_TRUE(equal(value_of(hd::flatten(t)), list({0, 1, 2, 3, 4, 5, 6, 7, 8})));
  EXPECT_TRUE(equal(value_of(hd::flatten(t.transpose())), list({0, 3, 6, 1, 4, 7, 2, 5, 8})));
}

#if HEDDLE_TEST_DEVICE_CUDA
TEST(Transfer, of_strided_device_tensors_between_devices) {
  if (hd::cuda::device_count() < 2) GTEST_SKIP() << "one device only";
  const Array values = counting({4, 5});
  for (const Layout layout : output_layouts()) {
    const auto x = to_tensor<float, 2>(values, layout);
    const auto there = x.to(hd::Cuda{1});
    EXPECT_EQ(there.device().index, 1);
    EXPECT_TRUE(equal(to_array(there), values)) << name_of(layout);
    EXPECT_TRUE(equal(to_array((there + there).to(hd::Cuda{0})), values + values)) << name_of(layout);
  }
}

TEST(Transfer, operands_on_two_devices_are_an_error) {
  if (hd::cuda::device_count() < 2) GTEST_SKIP() << "one device only";
  const auto here = hd::ones<float>({3}, hd::Cuda{0});
  const auto there = hd::ones<float>({3}, hd::Cuda{1});
  EXPECT_TRUE(mentions(message_of<hd::DeviceError>([&] { (void)(here + there); }), {"Cuda{0}", "Cuda{1}"}));
  EXPECT_THROW(here.assign(there + 1.0f), hd::DeviceError);
}
#endif

}  // namespace
