#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/pad.hpp>

#include <limits>

#include "harness/expect.hpp"
#include "reference/rearrange.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::counting;
using reference::list;
using reference::matrix;
using reference::PadMode;

const Array one(Extents{}, 1.0);

TEST(Pad, constant_in_every_layout) {
  for (const Layout layout : input_layouts()) {
    const auto x = exact_operand<float, 3>({5, 3, 33}, layout, 1);
    const std::string what = describe(x.values.shape, layout);
    expect_equal<float, 3>(
        [&] {
          return hd::pad(x.tensor, {{1, 2}, {0, 3}, {4, 0}}, 7);
        },
        reference::pad(x.values, {{1, 2}, {0, 3}, {4, 0}}, PadMode::constant, 7), what);
    expect_equal<float, 3>(
        [&] {
          return hd::pad(x.tensor, {{0, 0}, {-1, 1}, {-3, -2}});
        },
        reference::pad(x.values, {{0, 0}, {-1, 1}, {-3, -2}}, PadMode::constant), what);
  }
}

TEST(Pad, long_rows) {
  for (const Layout layout : {Layout::contiguous, Layout::offset, Layout::pitched, Layout::reversed}) {
    for (const int begin : {0, 1, 2, 3, 4, 5, 64}) {
      const auto x = exact_operand<float, 2>({7, 130}, layout, 1);
      expect_equal<float, 2>(
          [&] {
            return hd::pad(x.tensor, {{1, 0}, {begin, 3}}, -1.5);
          },
          reference::pad(x.values, {{1, 0}, {begin, 3}}, PadMode::constant, -1.5));
      for (const auto& [ours, theirs] :
           {std::pair{hd::pad_mode::reflect, PadMode::reflect}, std::pair{hd::pad_mode::replicate, PadMode::replicate},
            std::pair{hd::pad_mode::circular, PadMode::circular}}) {
        expect_equal<float, 2>(
            [&, mode = ours] {
              return hd::pad(x.tensor, {{3, 1}, {begin, 5}}, mode);
            },
            reference::pad(x.values, {{3, 1}, {begin, 5}}, theirs));
      }
    }
  }
}

template <class T>
class PadOf : public testing::Test {};
using MovedTypes = testing::Types<bool, std::int8_t, std::uint16_t, hd::half, hd::bfloat16, std::int64_t, double>;
TYPED_TEST_SUITE(PadOf, MovedTypes);

TYPED_TEST(PadOf, every_width_of_element) {
  for (const Layout layout : {Layout::contiguous, Layout::offset, Layout::transposed}) {
    const auto x = exact_operand<TypeParam, 2>({5, 131}, layout, 1);
    expect_equal<TypeParam, 2>(
        [&] {
          return hd::pad(x.tensor, {{1, 2}, {3, 5}}, 1);
        },
        reference::pad(x.values, {{1, 2}, {3, 5}}, PadMode::constant, 1));
    expect_equal<TypeParam, 2>([&] { return hd::roll(x.tensor, 3, hd::axis<1>); }, reference::roll(x.values, {1}, {3}));
  }
}

TEST(Pad, keeps_large_integers) {
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  const auto x = hd::pad(to_tensor<std::int64_t, 1>(list({5})), {{1, 0}}, large).to_vector();
  EXPECT_EQ(x[0], large);
}

TEST(Pad, of_the_last_axes_only_and_of_one_number) {
  const auto x = exact_operand<float, 3>({2, 3, 4}, Layout::contiguous, 1);
  EXPECT_TRUE(equal(value_of(hd::pad(x.tensor, {{1, 2}})),
                    reference::pad(x.values, {{0, 0}, {0, 0}, {1, 2}}, PadMode::constant)));
  EXPECT_TRUE(equal(value_of(hd::pad(x.tensor, {1, 2})),
                    reference::pad(x.values, {{0, 0}, {1, 1}, {2, 2}}, PadMode::constant)));
}

TEST(Pad, without_elements_and_what_throws) {
  const auto none = to_tensor<float, 2>(Array({0, 3}));
  EXPECT_TRUE(equal(value_of(hd::pad(none, {{1, 1}, {0, 0}}, 2)), Array({2, 3}, 2)));
  EXPECT_EQ(hd::pad(none, {{1, 2}}, hd::pad_mode::replicate).shape(), (hd::Shape<2>{0, 6}));
  EXPECT_THROW((void)hd::pad(none, {{1, 1}, {0, 0}}, hd::pad_mode::replicate), hd::ShapeError);
  const auto x = to_tensor<float, 2>(counting({2, 3}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] {
                         (void)hd::pad(x, {{3, 0}}, hd::pad_mode::reflect);
                       }),
                       {"axis 1", "(2, 3)", "3"}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { (void)hd::pad(x, {{-2, -2}}); }), {"axis 1", "(2, 3)"}));
  EXPECT_EQ(hd::pad(x, {{-2, -1}}).shape(), (hd::Shape<2>{2, 0}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] {
                         (void)hd::pad(x, {{-4, 2}});
                       }),
                       {"axis 1", "-4 and 2", "cut"}));
  EXPECT_THROW((void)hd::pad(x, {{std::numeric_limits<hd::index_t>::max(), 0}}), hd::ShapeError);
  EXPECT_THROW((void)hd::tile(x, {1, std::numeric_limits<hd::index_t>::max()}), hd::ShapeError);
  EXPECT_TRUE(equal(value_of(hd::pad(x, {{7, 8}}, hd::pad_mode::circular)),
                    reference::pad(to_array(x), {{0, 0}, {7, 8}}, PadMode::circular)));
}

TEST(Pad, fuses_what_is_above_and_below) {
  const auto x = exact_operand<float, 2>({5, 70}, Layout::contiguous, 1);
  const auto row = exact_operand<float, 1>({72}, Layout::contiguous, 2);
  const Array padded = reference::pad(x.values + one, {{0, 0}, {1, 1}}, PadMode::constant, 9);
  expect_equal<float, 2>(
      [&] {
        return hd::pad(x.tensor + 1.0F, {{1, 1}}, 9) * row.tensor;
      },
      padded * reference::expand(row.values, {5, 72}));
}

TEST(Roll, along_axes_and_through_all) {
  for (const Layout layout : input_layouts()) {
    const auto x = exact_operand<float, 3>({3, 5, 67}, layout, 1);
    for (const int shift : {0, 1, -1, 4, 66, -70, 200})
      expect_equal<float, 3>([&] { return hd::roll(x.tensor, shift, hd::axis<2>); },
                             reference::roll(x.values, {2}, {shift}));
    expect_equal<float, 3>(
        [&] {
          return hd::roll(x.tensor, {1, -2}, hd::axes<0, 1>);
        },
        reference::roll(x.values, {0, 1}, {1, -2}));
    const Array flat = reference::roll(reference::reshape(x.values, {3 * 5 * 67}), {0}, {100});
    EXPECT_TRUE(equal(value_of(hd::roll(x.tensor, 100)), reference::reshape(flat, {3, 5, 67})));
  }
  EXPECT_TRUE(
      equal(value_of(hd::roll(to_tensor<float, 1>(counting({4})), {1, 1}, hd::axes<0, 0>)), list({2, 3, 0, 1})));
  EXPECT_EQ(hd::roll(to_tensor<float, 2>(Array({0, 3})), 2, hd::axis<0>).shape(), (hd::Shape<2>{0, 3}));
}

TEST(Tile, whole_tensors) {
  for (const Layout layout : input_layouts()) {
    const auto x = exact_operand<float, 2>({3, 35}, layout, 1);
    expect_equal<float, 2>([&] { return hd::tile(x.tensor, {2, 3}); }, reference::tile(x.values, {2, 3}));
    expect_equal<float, 2>([&] { return hd::tile(x.tensor, {4}); }, reference::tile(x.values, {1, 4}));
    expect_equal<float, 3>([&] { return hd::repeat(x.tensor, {2, 1, 3}); }, reference::tile(x.values, {2, 1, 3}));
  }
  const auto column = to_tensor<float, 2>(matrix({{1}, {2}}));
  EXPECT_TRUE(equal(value_of(hd::tile(column, {1, 70})), reference::tile(to_array(column), {1, 70})));
  EXPECT_EQ(hd::tile(column, {0, 2}).eval().shape(), (hd::Shape<2>{0, 2}));
  EXPECT_TRUE(equal(value_of(hd::repeat(to_tensor<float, 0>(Array(Extents{}, 5)), {3})), list({5, 5, 5})));
  EXPECT_THROW((void)hd::tile(column, {-1}), hd::ShapeError);
}

TEST(Triangle, lower_and_upper) {
  for (const Layout layout : input_layouts()) {
    for (const Extents& shape : {Extents{2, 7, 67}, Extents{2, 9, 4}, Extents{1, 1, 5}}) {
      const auto x = exact_operand<float, 3>(shape, layout, 1);
      for (const int diagonal : {0, 1, -1, 5, -8, 100}) {
        expect_equal<float, 3>([&] { return hd::tril(x.tensor, diagonal); }, reference::tril(x.values, diagonal));
        expect_equal<float, 3>([&] { return hd::triu(x.tensor + 1.0F, diagonal); },
                               reference::triu(x.values + one, diagonal));
      }
    }
  }
  EXPECT_EQ(hd::tril(to_tensor<float, 2>(Array({0, 3}))).eval().shape(), (hd::Shape<2>{0, 3}));
}

}  // namespace
