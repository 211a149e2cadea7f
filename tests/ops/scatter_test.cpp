#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/nonzero.hpp>
#include <heddle/ops/scatter.hpp>

#include <cstring>

#include "harness/expect.hpp"
#include "reference/rearrange.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::counting;
using reference::list;
using reference::matrix;

const Array one(Extents{}, 1.0);

template <class T, int Rank>
Operand<T, Rank> indices(const Extents& shape, std::int64_t extent, Layout layout, unsigned seed) {
  return {integers(shape, 0, static_cast<int>(extent) - 1, seed), layout};
}

template <int Axis, class T, int Rank, class I = std::int64_t>
void check_scatter(const Extents& shape, const Extents& index_shape, Layout layout) {
  SCOPED_TRACE(describe(shape, layout) + " indices " + reference::to_string(index_shape));
  const auto x = exact_operand<T, Rank>(shape, layout, 1);
  const auto source = exact_operand<T, Rank>(index_shape, layout, 2);
  const auto index = indices<I, Rank>(index_shape, shape[static_cast<std::size_t>(Axis)], layout, 3);
  expect_equal<T, Rank>([&] { return hd::scatter(x.tensor, hd::axis<Axis>, index.tensor, source.tensor); },
                        reference::scatter(x.values, index.values, source.values, Axis), "scatter");
  expect_equal<T, Rank>([&] { return hd::scatter_add<Axis>(x.tensor, index.tensor, source.tensor); },
                        rounded_to<T>(reference::scatter_add(x.values, index.values, source.values, Axis)),
                        "scatter_add");
}

TEST(Scatter, along_every_axis_in_every_layout) {
  for (const Layout layout : input_layouts()) {
    check_scatter<0, float, 3>({5, 3, 33}, {9, 3, 33}, layout);
    check_scatter<1, float, 3>({5, 3, 33}, {4, 9, 20}, layout);
    check_scatter<2, float, 3>({5, 3, 33}, {5, 2, 70}, layout);
  }
  check_scatter<0, float, 3>({5, 3, 33}, {0, 3, 33}, Layout::contiguous);
  check_scatter<1, float, 3>({5, 3, 70}, {5, 0, 70}, Layout::contiguous);
}

TEST(Scatter, lines_longer_than_a_tile) {
  check_scatter<0, float, 3>({40, 1, 1}, {5000, 1, 1}, Layout::contiguous);
  check_scatter<1, float, 3>({2, 7000, 1}, {2, 3000, 1}, Layout::contiguous);
}

template <class T>
class ScatterOf : public testing::Test {};
using ScatteredTypes = testing::Types<bool, std::uint8_t, hd::half, hd::bfloat16, double>;
TYPED_TEST_SUITE(ScatterOf, ScatteredTypes);

TYPED_TEST(ScatterOf, every_type) {
  check_scatter<1, TypeParam, 2, std::int32_t>({3, 65}, {3, 20}, Layout::contiguous);
  check_scatter<0, TypeParam, 2, std::int32_t>({9, 5}, {7, 5}, Layout::transposed);
}

TEST(Scatter, halves_add_up_in_float) {
  const auto x = to_tensor<hd::half, 1>(list({2048}));
  const auto index = to_tensor<int, 1>(Array({8}));
  EXPECT_EQ(to_array(hd::eval(hd::scatter_add<0>(x, index, to_tensor<hd::half, 1>(Array({8}, 1)))))[0], 2056);
}

TEST(Scatter, a_number_and_formulas) {
  const auto x = exact_operand<float, 2>({5, 33}, Layout::contiguous, 1);
  const auto row = exact_operand<float, 1>({33}, Layout::contiguous, 2);
  const auto index = indices<std::int64_t, 2>({5, 4}, 33, Layout::contiguous, 3);
  const Array scale = reference::expand(row.values, {5, 33});
  expect_equal<float, 2>([&] { return hd::scatter<1>(x.tensor, index.tensor, 7.0F); },
                         reference::scatter(x.values, index.values, Array({5, 4}, 7), 1));
  expect_equal<float, 2>(
      [&] { return hd::scatter_add<1>(x.tensor + 1.0F, index.tensor, x.tensor * 2.0F) * row.tensor; },
      reference::scatter_add(x.values + one, index.values, x.values * Array(Extents{}, 2.0), 1) * scale);
  expect_equal<float, 2>([&] { return hd::scatter_add<1>(x.tensor, index.tensor, 1); },
                         reference::scatter_add(x.values, index.values, Array({5, 4}, 1), 1));
}

TEST(Scatter, the_same_bits_every_time) {
  const auto source = real_operand<float, 2>({3000, 5}, -1, 1, Layout::contiguous, 1);
  const auto index = indices<std::int64_t, 1>({3000}, 7, Layout::contiguous, 2);
  const auto x = to_tensor<float, 2>(Array({7, 5}));
  const auto first = hd::index_add(x, hd::axis<0>, index.tensor, source.tensor).to_vector();
  for (int run = 0; run < 3; ++run) {
    const auto again = hd::index_add(x, hd::axis<0>, index.tensor, source.tensor).to_vector();
    EXPECT_EQ(std::memcmp(first.data(), again.data(), first.size() * sizeof(float)), 0);
  }
}

TEST(Scatter, R117_out_of_range_goes_nowhere) {
  const auto x = to_tensor<float, 1>(list({10, 20, 30, 40, 50}));
  const auto source = to_tensor<float, 1>(list({1, 2, 3}));
  for (const double bad : {5.0, -1.0}) {
    const auto index = to_tensor<std::int64_t, 1>(list({0, bad, 4}));
    const auto put = [&] { (void)hd::scatter<0>(x, index, source).to_vector(); };
    const auto add = [&] { (void)hd::scatter_add<0>(x, index, source).to_vector(); };
    const std::string number = std::to_string(static_cast<int>(bad));
    if constexpr (on_cuda) {
      EXPECT_TRUE(mentions(message_of<hd::DeviceError>(put), {"scatter", number.c_str(), "extent 5"}));
      EXPECT_TRUE(mentions(message_of<hd::DeviceError>(add), {"scatter_add", number.c_str(), "extent 5"}));
      const hd::Tensor y = hd::scatter<0>(x, index, source);
      EXPECT_THROW((void)y.to_vector(), hd::DeviceError);
      EXPECT_TRUE(equal(to_array(y), list({1, 20, 30, 40, 3})));
    } else {
      EXPECT_TRUE(mentions(message_of<hd::IndexError>(put), {"scatter", number.c_str(), "extent 5"}));
      EXPECT_TRUE(mentions(message_of<hd::IndexError>(add), {"scatter_add", number.c_str(), "extent 5"}));
    }
  }
}

TEST(Scatter, shapes_that_do_not_fit) {
  const auto x = to_tensor<float, 2>(Array({3, 5}));
  const auto of = [](Extents shape) { return to_tensor<std::int64_t, 2>(Array(shape)); };
  const auto source = to_tensor<float, 2>(Array({2, 5}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] {
                         (void)hd::scatter<0>(x, of({2, 6}), 1.0F);
                       }),
                       {"(2, 6)", "(3, 5)"}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] {
                         (void)hd::scatter<0>(x, of({3, 5}), source);
                       }),
                       {"(3, 5)", "(2, 5)"}));
}

TEST(IndexAdd, along_every_axis) {
  for (const Layout layout : {Layout::contiguous, Layout::transposed, Layout::sliced, Layout::reversed}) {
    const auto x = exact_operand<float, 3>({5, 7, 33}, layout, 1);
    const auto along_0 = exact_operand<float, 3>({12, 7, 33}, layout, 2);
    const auto along_2 = exact_operand<float, 3>({5, 7, 90}, layout, 3);
    const auto rows = indices<std::int32_t, 1>({12}, 5, layout, 4);
    const auto columns = indices<std::int64_t, 1>({90}, 33, layout, 5);
    expect_equal<float, 3>([&] { return hd::index_add(x.tensor, hd::axis<0>, rows.tensor, along_0.tensor); },
                           reference::index_add(x.values, rows.values, along_0.values, 0));
    expect_equal<float, 3>([&] { return hd::index_add(x.tensor, hd::axis<-1>, columns.tensor, along_2.tensor); },
                           reference::index_add(x.values, columns.values, along_2.values, 2));
  }
  const auto x = to_tensor<float, 2>(Array({3, 5}));
  EXPECT_TRUE(mentions(
      message_of<hd::ShapeError>([&] { (void)hd::index_add(x, hd::axis<0>, to_tensor<int, 1>(Array({2})), x); }),
      {"(3, 5)", "(2, 5)"}));
}

TEST(Gradient, R115_repeated_indices_add_up) {
  const auto dy = to_tensor<float, 1>(rounded_to<float>(list({0.25, 0.5})));
  const auto index = to_tensor<int, 1>(list({0, 0}));
  EXPECT_TRUE(equal(value_of(hd::gather_grad(dy, hd::axis<0>, index, hd::Shape<1>{3})), list({0.75, 0, 0})));
  EXPECT_TRUE(equal(value_of(hd::index_select_grad(dy, hd::axis<0>, index, hd::Shape<1>{3})), list({0.75, 0, 0})));
}

TEST(Gradient, of_gather_and_embedding) {
  const auto index = indices<std::int64_t, 2>({5, 9}, 13, Layout::contiguous, 1);
  const auto dy = exact_operand<float, 2>({5, 9}, Layout::sliced, 2);
  expect_equal<float, 2>(
      [&] {
        return hd::gather_grad(dy.tensor, hd::axis<1>, index.tensor, hd::Shape<2>{5, 13});
      },
      reference::scatter_add(Array({5, 13}), index.values, dy.values, 1));
  const auto wide = exact_operand<float, 3>({5, 9, 33}, Layout::contiguous, 3);
  const Array flat_index = reference::reshape(index.values, {45});
  const Array flat_dy = reference::reshape(wide.values, {45, 33});
  expect_equal<float, 2>([&] { return hd::embedding_grad(wide.tensor, index.tensor, 20); },
                         reference::index_add(Array({20, 33}), flat_index, flat_dy, 0));
  Array without_padding = reference::index_add(Array({20, 33}), flat_index, flat_dy, 0);
  for (std::int64_t i = 0; i < 33; ++i) without_padding[4 * 33 + i] = 0;
  EXPECT_TRUE(equal(value_of(hd::embedding_grad(wide.tensor, index.tensor, 20, 4)), without_padding));
}

TEST(Nonzero, coordinates_in_order) {
  for (const Layout layout : {Layout::contiguous, Layout::transposed, Layout::sliced, Layout::broadcast}) {
    const auto x = exact_operand<float, 3>({5, 7, 33}, layout, 1);
    const auto places = hd::nonzero(x.tensor);
    EXPECT_TRUE(equal(to_array(places), reference::nonzero(x.values)));
  }
  EXPECT_EQ(hd::nonzero(to_tensor<float, 2>(Array({3, 4}))).shape(), (hd::Shape<2>{0, 2}));
  EXPECT_EQ(hd::nonzero(to_tensor<float, 2>(Array({0, 4}))).shape(), (hd::Shape<2>{0, 2}));
  EXPECT_EQ(hd::nonzero(to_tensor<float, 0>(Array(Extents{}, 2))).shape(), (hd::Shape<2>{1, 0}));
  const auto x = to_tensor<float, 2>(counting({2, 3}));
  const auto mask = to_tensor<bool, 1>(list({1, 0, 1}));
  EXPECT_TRUE(equal(to_array(hd::masked_select(x, mask)), list({0, 2, 3, 5})));
}

}  // namespace
