#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/compare.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/index.hpp>

#include "harness/expect.hpp"
#include "reference/rearrange.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::counting;
using reference::list;
using reference::matrix;

const Array one(Extents{}, 1.0);

/// Indices below `extent`, as a tensor.
template <class T, int Rank>
Operand<T, Rank> indices(const Extents& shape, int extent, Layout layout, unsigned seed) {
  return {integers(shape, 0, extent - 1, seed), layout};
}

template <int Axis, class T, int Rank, class I = std::int64_t>
void check_gather(const Extents& shape, const Extents& index_shape, Layout layout) {
  const auto x = exact_operand<T, Rank>(shape, layout, 1);
  const auto index = indices<I, Rank>(index_shape, static_cast<int>(shape[static_cast<std::size_t>(Axis)]), layout, 2);
  expect_equal<T, Rank>([&] { return hd::gather(x.tensor, hd::axis<Axis>, index.tensor); },
                        reference::gather(x.values, index.values, Axis), describe(shape, layout));
}

TEST(Gather, along_every_axis_in_every_layout) {
  for (const Layout layout : input_layouts()) {
    check_gather<0, float, 3>({5, 3, 33}, {7, 3, 33}, layout);
    check_gather<1, float, 3>({5, 3, 33}, {4, 9, 20}, layout);
    check_gather<2, float, 3>({5, 3, 33}, {5, 2, 70}, layout);
  }
  check_gather<0, float, 3>({5, 3, 33}, {0, 3, 33}, Layout::contiguous);
}

template <class T>
class GatherOf : public testing::Test {};
using MovedTypes = testing::Types<bool, std::uint8_t, hd::half, hd::bfloat16, std::int64_t, double>;
TYPED_TEST_SUITE(GatherOf, MovedTypes);

TYPED_TEST(GatherOf, elements_and_rows) {
  for (const Layout layout : {Layout::contiguous, Layout::offset, Layout::sliced, Layout::transposed}) {
    check_gather<1, TypeParam, 2, std::int32_t>({3, 65}, {3, 100}, layout);
    // Rows of 131 elements begin at any byte.
    const auto x = exact_operand<TypeParam, 2>({9, 131}, layout, 1);
    const auto rows = indices<std::int32_t, 1>({20}, 9, layout, 2);
    expect_equal<TypeParam, 2>([&] { return hd::index_select(x.tensor, hd::axis<0>, rows.tensor); },
                               reference::take(x.values, rows.values, 0), describe({9, 131}, layout));
  }
}

TEST(Gather, spellings_and_shapes) {
  const auto x = to_tensor<float, 2>(counting({2, 3}));
  const auto index = to_tensor<std::int64_t, 2>(matrix({{2, 0}}));
  const Array want = matrix({{2, 0}});
  EXPECT_TRUE(equal(value_of(hd::gather(x, hd::axis<-1>, index)), want));
  EXPECT_TRUE(equal(value_of(hd::gather(x, index, hd::axis<1>)), want));
  EXPECT_TRUE(equal(value_of(hd::gather<1>(x, index)), want));
  EXPECT_TRUE(equal(value_of(hd::gather<1>(x, hd::cast<std::int8_t>(index))), want));
  const auto tall = to_tensor<std::int64_t, 2>(Array({3, 1}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::gather<1>(x, tall); }), {"(3, 1)", "(2, 3)"}));
}

TEST(Gather, fuses_what_is_above_and_below) {
  const auto x = exact_operand<float, 2>({5, 33}, Layout::contiguous, 1);
  const auto row = exact_operand<float, 1>({70}, Layout::contiguous, 2);
  const auto index = indices<std::int64_t, 2>({5, 70}, 33, Layout::contiguous, 3);
  expect_equal<float, 2>([&] { return hd::gather<1>(x.tensor + 1.0F, index.tensor) * row.tensor; },
                         reference::gather(x.values + one, index.values, 1) * reference::expand(row.values, {5, 70}));
  expect_equal<float, 2>([&] { return hd::gather<1>(x.tensor, (index.tensor + 1L) - 1L) + 1.0F; },
                         reference::gather(x.values, index.values, 1) + one);
}

TEST(Take, slices_along_every_axis) {
  for (const Layout layout : input_layouts()) {
    const auto x = exact_operand<float, 3>({5, 7, 66}, layout, 1);
    const Array wanted = integers({3, 2}, -5, 4, 2);
    const Operand<std::int64_t, 2> index(wanted, layout);
    expect_equal<float, 4>([&] { return hd::take(x.tensor, hd::axis<0>, index.tensor); },
                           reference::take(x.values, index.values, 0), describe(x.values.shape, layout));
    expect_equal<float, 4>([&] { return hd::take(x.tensor, index.tensor, hd::axis<1>); },
                           reference::take(x.values, index.values, 1), describe(x.values.shape, layout));
    expect_equal<float, 4>([&] { return hd::take(x.tensor, hd::axis<2>, index.tensor); },
                           reference::take(x.values, index.values, 2), describe(x.values.shape, layout));
  }
  const auto x = to_tensor<float, 2>(counting({2, 3}));
  EXPECT_TRUE(equal(value_of(hd::take(x, to_tensor<int, 1>(list({5, -1, 0})))), list({5, 5, 0})));
  EXPECT_TRUE(equal(value_of(hd::take(x, hd::axis<0>, to_tensor<int, 0>(Array(Extents{}, 1)))), list({3, 4, 5})));
}

TEST(Take, R117_index_select_and_embedding) {
  const auto table = to_tensor<float, 1>(list({10, 20, 30, 40, 50}));
  EXPECT_TRUE(
      equal(value_of(hd::take(table, hd::axis<0>, to_tensor<int, 1>(list({0, 4, -1, -5})))), list({10, 50, 50, 10})));
  for (const Layout layout : {Layout::contiguous, Layout::transposed, Layout::sliced}) {
    const auto weight = exact_operand<float, 2>({11, 67}, layout, 1);
    const auto tokens = indices<std::int64_t, 2>({3, 5}, 11, layout, 2);
    expect_equal<float, 3>([&] { return hd::embedding(tokens.tensor, weight.tensor); },
                           reference::take(weight.values, tokens.values, 0));
    expect_equal<float, 3>([&] { return hd::embedding(weight.tensor, tokens.tensor) * 2.0F; },
                           reference::take(weight.values, tokens.values, 0) * Array(Extents{}, 2.0));
    const auto columns = indices<std::int32_t, 1>({4}, 67, layout, 3);
    expect_equal<float, 2>([&] { return hd::index_select<1>(weight.tensor, columns.tensor); },
                           reference::take(weight.values, columns.values, 1));
  }
  EXPECT_EQ(hd::index_select<0>(table, to_tensor<int, 1>(Array({0}))).eval().size(), 0);
}

/// An index out of range: an IndexError at once on Cpu, a DeviceError at the next synchronisation on Cuda.
template <class F>
std::string fault_of(F f) {
  if constexpr (on_cuda)
    return message_of<hd::DeviceError>(f);
  else
    return message_of<hd::IndexError>(f);
}

TEST(Index, R117_out_of_range_is_an_error) {
  const auto table = to_tensor<float, 1>(list({10, 20, 30, 40, 50}));
  const auto matrix_table = to_tensor<float, 2>(counting({5, 70}));
  for (const double bad : {5.0, -1.0, 1e9, -6.0}) {
    const auto index = to_tensor<std::int64_t, 1>(list({0, 1, 2, 3, bad, 4}));
    const std::string number = std::to_string(static_cast<std::int64_t>(bad));
    EXPECT_TRUE(mentions(fault_of([&] { (void)hd::gather<0>(table, index).to_vector(); }),
                         {"gather", number.c_str(), "axis 0", "extent 5"}));
    EXPECT_TRUE(mentions(fault_of([&] { (void)hd::index_select<0>(matrix_table, index).to(hd::cpu); }),
                         {"index_select", number.c_str(), "axis 0", "extent 5"}));
    EXPECT_TRUE(mentions(fault_of([&] { (void)(hd::embedding(index, matrix_table) + 1.0F).to(hd::cpu); }),
                         {"embedding", number.c_str(), "extent 5"}));
    EXPECT_TRUE(
        mentions(fault_of([&] { (void)hd::one_hot(index, 5).to_vector(); }), {"one_hot", number.c_str(), "extent 5"}));
    if (bad == -1.0) continue;
    EXPECT_TRUE(mentions(fault_of([&] { (void)hd::take(table, index).to_vector(); }), {"take", number.c_str()}));
  }
  // The fault is told once, and later work is not touched by it.
  EXPECT_TRUE(equal(value_of(hd::gather<0>(table, to_tensor<int, 1>(list({4})))), list({50})));
}

#if HEDDLE_TEST_DEVICE_CUDA
TEST(Index, the_device_gives_0_for_what_is_out_of_range) {
  const auto x = to_tensor<float, 2>(Array({4, 70}, 3));
  const hd::Tensor y = hd::index_select<0>(x, to_tensor<int, 1>(list({0, 9, 1})));
  EXPECT_THROW((void)to_array(y), hd::DeviceError);
  const Array got = to_array(y);
  EXPECT_EQ(got[0], 3);
  for (std::int64_t i = 70; i < 140; ++i) EXPECT_EQ(got[i], 0);
  EXPECT_EQ(got[140], 3);
}
#else
TEST(Index, nothing_is_written_before_the_error) {
  const auto x = to_tensor<float, 1>(list({1, 2}));
  const Output<float, 1> output({3}, Layout::contiguous);
  EXPECT_THROW(output.tensor().assign(hd::gather<0>(x, to_tensor<int, 1>(list({0, 1, 2})))), hd::IndexError);
  EXPECT_TRUE(std::isnan(to_array(output.tensor())[0]));
}
#endif

TEST(OneHot, of_every_shape) {
  for (const Layout layout : {Layout::contiguous, Layout::transposed, Layout::sliced, Layout::broadcast}) {
    const auto labels = indices<std::int64_t, 2>({3, 5}, 7, layout, 1);
    expect_equal<std::int64_t, 3>([&] { return hd::one_hot(labels.tensor, 7); }, reference::one_hot(labels.values, 7));
    expect_equal<float, 3>([&] { return hd::one_hot<float>(labels.tensor, 90) * 2.0F; },
                           reference::one_hot(labels.values, 90) * Array(Extents{}, 2.0));
  }
  EXPECT_TRUE(equal(value_of(hd::one_hot<bool>(to_tensor<int, 0>(Array(Extents{}, 1)), 3)), list({0, 1, 0})));
}

TEST(MaskedFill, keeps_the_type) {
  const auto x = exact_operand<hd::half, 2>({5, 33}, Layout::contiguous, 1);
  const auto mask = exact_operand<bool, 1>({33}, Layout::contiguous, 2);
  const Array want = reference::map([](double m, double v) { return m != 0 ? -7.0 : v; },
                                    reference::expand(mask.values, {5, 33}), x.values);
  expect_equal<hd::half, 2>([&] { return hd::masked_fill(x.tensor, mask.tensor, -7.0); }, want);
  EXPECT_TRUE(equal(value_of(hd::masked_fill(to_tensor<int, 1>(list({1, 2})), to_tensor<bool, 1>(list({0, 1})), 9)),
                    list({1, 9})));
}

TEST(RepeatInterleave, along_axes) {
  const auto x = to_tensor<float, 2>(counting({2, 3}));
  EXPECT_TRUE(
      equal(value_of(hd::repeat_interleave(x, 2, hd::axis<1>)), matrix({{0, 0, 1, 1, 2, 2}, {3, 3, 4, 4, 5, 5}})));
  EXPECT_TRUE(
      equal(value_of(hd::repeat_interleave(x, 2, hd::axis<0>)), matrix({{0, 1, 2}, {0, 1, 2}, {3, 4, 5}, {3, 4, 5}})));
  EXPECT_THROW((void)hd::repeat_interleave(x, INT64_MAX, hd::axis<0>), hd::ShapeError);
}

}  // namespace
