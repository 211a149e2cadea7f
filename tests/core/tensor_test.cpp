#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>

#include <type_traits>
#include <utility>

#include "harness/expect.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::counting;

template <class T, int Rank>
using Tensor = TestTensor<T, Rank>;

TEST(Tensor, says_what_it_is) {
  const auto x = to_tensor<float, 3>(counting({2, 3, 5}));
  EXPECT_EQ(x.shape(), (hd::Shape<3>{2, 3, 5}));
  EXPECT_EQ(x.strides(), (hd::Strides<3>{{15, 5, 1}}));
  EXPECT_EQ(x.size(), 30);
  EXPECT_EQ(x.extent(0), 2);
  EXPECT_EQ(x.extent(-1), 5);
  EXPECT_EQ(x.device(), test_device());
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_NE(x.data(), nullptr);
  static_assert(decltype(x)::rank == 3);
  static_assert(std::is_same_v<decltype(x)::value_type, float>);
  static_assert(std::is_same_v<decltype(x)::device_type, TestDevice>);
  static_assert(std::is_same_v<Tensor<const float, 2>::value_type, float>);
}

TEST(Tensor, extent_of_a_missing_axis_is_an_error) {
  const auto x = to_tensor<float, 2>(counting({2, 3}));
  EXPECT_TRUE(mentions(message_of<hd::IndexError>([&] { x.extent(2); }), {"axis 2", "rank 2"}));
  EXPECT_TRUE(mentions(message_of<hd::IndexError>([&] { x.extent(-3); }), {"axis -3", "rank 2"}));
}

TEST(Tensor, copies_share_the_elements) {
  const auto x = to_tensor<float, 1>(counting({5}));
  const auto y = x;
  y.fill(7);
  EXPECT_TRUE(equal(to_array(x), Array({5}, 7)));
  EXPECT_EQ(x.data(), y.data());
  EXPECT_EQ(x.storage()->use_count(), 2);
}

TEST(Tensor, const_is_shallow) {
  const auto x = to_tensor<int, 1>(counting({5}));
  x.fill(3);
  x += 1;
  EXPECT_TRUE(equal(to_array(x), Array({5}, 4)));
}

TEST(Tensor, reads_one_element) {
  const auto x = to_tensor<double, 2>(Array({1, 1}, 2.5));
  EXPECT_EQ(x.item(), 2.5);
  const auto scalar = to_tensor<int, 0>(Array({}, 7));
  EXPECT_EQ(scalar.item(), 7);
  const auto pair = to_tensor<int, 1>(Array({2}, 7));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { pair.item(); }), {"(2,)"}));
#if !HEDDLE_TEST_DEVICE_CUDA
  EXPECT_EQ(static_cast<int>(scalar), 7);
#endif
  static_assert(!std::is_convertible_v<Tensor<int, 0>, int>);
  static_assert(std::is_constructible_v<int, Tensor<int, 0>> == !on_cuda);
  static_assert(!std::is_constructible_v<int, Tensor<int, 1>>);
}

TEST(Tensor, reads_all_elements_in_row_major_order) {
  const Array values = counting({3, 4, 5});
  for (const Layout layout : output_layouts()) {
    const auto x = to_tensor<int, 3>(values, layout);
    const std::vector<int> got = x.to_vector();
    ASSERT_EQ(got.size(), 60u) << name_of(layout);
    for (int i = 0; i < 60; ++i) ASSERT_EQ(got[static_cast<std::size_t>(i)], i) << name_of(layout);
  }
  EXPECT_TRUE((to_tensor<float, 2>(Array({3, 0})).to_vector().empty()));
}

TEST(Tensor, fill_converts_floating_numbers_and_refuses_integers_out_of_range) {
  const Output<std::uint8_t, 2> out({7, 9}, Layout::sliced);
  out.tensor().fill(44);
  EXPECT_TRUE(mentions(message_of<hd::Error>([&] { out.tensor().fill(300); }), {"300", "uint8"}));
  EXPECT_TRUE(equal(to_array(out.tensor()), Array({7, 9}, 44)));
  out.tensor().fill(3.9);
  EXPECT_TRUE(equal(to_array(out.tensor()), Array({7, 9}, 3)));
  EXPECT_TRUE(out.gaps_untouched());
}

TEST(Tensor, copy_from_takes_every_layout_and_type) {
  const Array values = integers({5, 7, 3}, -4, 4, 1);
  for (const Layout from : output_layouts()) {
    for (const Layout to : output_layouts()) {
      const Output<float, 3> out(values.shape, to);
      out.tensor().copy_from(to_tensor<float, 3>(values, from));
      EXPECT_TRUE(equal(to_array(out.tensor()), values)) << name_of(from) << " to " << name_of(to);
      EXPECT_TRUE(out.gaps_untouched()) << name_of(from) << " to " << name_of(to);
    }
  }
  const Output<double, 3> wider(values.shape, Layout::contiguous);
  wider.tensor().copy_from(to_tensor<float, 3>(values));
  EXPECT_TRUE(equal(to_array(wider.tensor()), values));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] {
                         wider.tensor().copy_from(to_tensor<double, 3>(Array({5, 7, 1})));
                       }),
                       {"(5, 7, 1)", "(5, 7, 3)"}));
}

TEST(Tensor, view_for_kernels_is_trivially_copyable) {
  static_assert(std::is_trivially_copyable_v<hd::TensorView<float, 3>>);
  const auto x = to_tensor<float, 2>(counting({3, 4}), Layout::transposed);
  const hd::TensorView<float, 2> view = x.view();
  EXPECT_EQ(view.data, x.data());
  EXPECT_EQ(view.extent(1), 4);
  EXPECT_EQ(view.size(), 12);
  if constexpr (!on_cuda) {
    EXPECT_EQ(view(2, 1), 9.0f);
    view(2, 1) = -1;
    EXPECT_EQ(to_array(x).at({2, 1}), -1);
  }
}

TEST(Tensor, that_holds_nothing_refuses_all_but_assignment) {
  const auto refuses = [](Tensor<float, 2>& x) {
    const auto y = to_tensor<float, 2>(counting({2, 2}));
    const auto expect_error = [](auto f) { EXPECT_TRUE(mentions(message_of<hd::Error>(f), {"holds nothing"})); };
    expect_error([&] { x.shape(); });
    expect_error([&] { x.strides(); });
    expect_error([&] { x.size(); });
    expect_error([&] { x.extent(0); });
    expect_error([&] { x.data(); });
    expect_error([&] { x.device(); });
    expect_error([&] { x.is_contiguous(); });
    expect_error([&] { x.view(); });
    expect_error([&] { x[0]; });
    expect_error([&] { (void)x(0, 0); });
    expect_error([&] { x(hd::_, 0); });
    expect_error([&] { x.slice(hd::axis<0>, hd::range(0, 1)); });
    expect_error([&] { x.transpose(); });
    expect_error([&] { x.permute(hd::axes<1, 0>); });
    expect_error([&] { x.reshape({4}); });
    expect_error([&] { x.flatten(); });
    expect_error([&] { x.squeeze(hd::axis<0>); });
    expect_error([&] { x.unsqueeze(hd::axis<0>); });
    expect_error([&] { x.expand({2, 2, 2}); });
    expect_error([&] { x.diagonal(); });
    expect_error([&] { x.to(test_device()); });
    expect_error([&] { x.to(hd::dtype<double>); });
    expect_error([&] { x.to(hd::dtype<float>); });
    expect_error([&] { x.clone(); });
    expect_error([&] { x.contiguous(); });
    expect_error([&] { x.item(); });
    expect_error([&] { x.to_vector(); });
    expect_error([&] { x.fill(1); });
    expect_error([&] { x.assign(y); });
    expect_error([&] { y.assign(x); });
    expect_error([&] { x.copy_from(y); });
    expect_error([&] { y.copy_from(x); });
    expect_error([&] { x += y; });
    expect_error([&] { y += x; });
    expect_error([&] { (void)(x + y); });
    EXPECT_TRUE(equal(to_array(y), counting({2, 2})));
    x = y;
    EXPECT_EQ(x.data(), y.data());
  };
  Tensor<float, 2> fresh;
  refuses(fresh);
  auto source = to_tensor<float, 2>(counting({2, 2}));
  const auto taken = std::move(source);
  refuses(source);
  Tensor<float, 2> assigned_from = to_tensor<float, 2>(counting({2, 2}));
  Tensor<float, 2> target;
  target = std::move(assigned_from);
  refuses(assigned_from);
  EXPECT_TRUE(equal(to_array(target), counting({2, 2})));
}

TEST(Tensor, assigned_to_itself_stays) {
  auto x = to_tensor<float, 1>(counting({5}));
  auto& same = x;
  x = same;
  EXPECT_TRUE(equal(to_array(x), counting({5})));
}

struct Weights : TestTensor<float, 1> {
  explicit Weights(const TestTensor<float, 1>& x) : TestTensor<float, 1>(x) {}
};

TEST(Tensor, derived_classes_are_tensors_too) {
  static_assert(hd::Expression<Weights>);
  const Weights w(to_tensor<float, 1>(counting({5})));
  const Tensor<float, 1> y = w + w;
  EXPECT_TRUE(equal(to_array(y), counting({5}) + counting({5})));
}

static_assert(hd::Expression<Tensor<float, 2>&>);
static_assert(!hd::Expression<int>);
static_assert(!hd::Expression<hd::Shape<2>>);
static_assert(std::is_nothrow_move_constructible_v<Tensor<float, 2>>);
static_assert(std::is_nothrow_move_assignable_v<Tensor<float, 2>>);
static_assert(std::is_nothrow_destructible_v<Tensor<float, 2>>);
// The tag of a device takes no room; which GPU does.
static_assert(sizeof(hd::Tensor<float, 1, hd::Cpu>) <= sizeof(hd::Tensor<float, 1, hd::Cuda>));

}  // namespace
