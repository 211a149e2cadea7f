#include <heddle/ops/create.hpp>

#include <type_traits>

#include "harness/expect.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using hd::_;
using hd::range;
using reference::counting;
using reference::list;
using reference::matrix;

template <class T, int Rank>
using Tensor = TestTensor<T, Rank>;

/// Every element of x where `take` says so, in order, under a shape.
Array picked(const Array& x, const Extents& shape, const std::function<Extents(const Extents&)>& source) {
  Array result(shape);
  for (std::int64_t i = 0; i < result.size(); ++i) result[i] = x.at(source(reference::index_of(shape, i)));
  return result;
}

/// Views must be right whatever the layout of the tensor that they show.
template <class Check>
void for_each_layout(const Extents& shape, Check check) {
  for (const Layout layout : output_layouts()) {
    SCOPED_TRACE(name_of(layout));
    check(counting(shape), layout);
  }
}

TEST(View, index_takes_the_first_axis) {
  for_each_layout({4, 3, 5}, [](const Array& values, Layout layout) {
    const auto x = to_tensor<int, 3>(values, layout);
    static_assert(std::is_same_v<decltype(x[0]), Tensor<int, 2>>);
    const auto of = [&](std::int64_t i) {
      return picked(values, {3, 5}, [i](const Extents& at) { return Extents{i, at[0], at[1]}; });
    };
    EXPECT_TRUE(equal(to_array(x[2]), of(2)));
    EXPECT_TRUE(equal(to_array(x[-1]), of(3)));
    EXPECT_TRUE(equal(to_array(x[-4]), of(0)));
    EXPECT_EQ(to_array(x[1][2][3]).values[0], 28);
    EXPECT_EQ(x[1].storage().get(), x.storage().get());
  });
}

TEST(View, index_out_of_range_says_index_axis_and_extent) {
  const auto x = to_tensor<float, 3>(counting({4, 3, 5}));
  EXPECT_TRUE(mentions(message_of<hd::IndexError>([&] { x[4]; }), {"index 4", "axis 0", "extent 4", "(4, 3, 5)"}));
  EXPECT_TRUE(mentions(message_of<hd::IndexError>([&] { x[-5]; }), {"index -5", "axis 0", "extent 4"}));
  EXPECT_TRUE(mentions(message_of<hd::IndexError>([&] { (void)x(0, 3, 0); }), {"index 3", "axis 1", "extent 3"}));
  EXPECT_TRUE(mentions(message_of<hd::IndexError>([&] { x(_, _, -6); }), {"index -6", "axis 2", "extent 5"}));
  EXPECT_TRUE(mentions(message_of<hd::IndexError>([&] { x(range(0, 2), 17); }), {"index 17", "axis 1"}));
  EXPECT_THROW((void)x(0, std::size_t{18446744073709551615U}, 0), hd::IndexError);
  const auto empty = to_tensor<float, 2>(Array({0, 3}));
  EXPECT_TRUE(mentions(message_of<hd::IndexError>([&] { empty[0]; }), {"index 0", "axis 0", "extent 0"}));
}

TEST(View, call_picks_cuts_and_keeps) {
  for_each_layout({6, 4, 5}, [](const Array& values, Layout layout) {
    const auto x = to_tensor<int, 3>(values, layout);
    const auto column = x(_, 3, range(1, 5));
    static_assert(std::is_same_v<decltype(column), const Tensor<int, 2>>);
    EXPECT_TRUE(equal(to_array(column), picked(values, {6, 4}, [](const Extents& at) {
                        return Extents{at[0], 3, at[1] + 1};
                      })));
    EXPECT_TRUE(equal(to_array(x(range(0, 10, 2), _, -1)), picked(values, {3, 4}, [](const Extents& at) {
                        return Extents{2 * at[0], at[1], 4};
                      })));
    EXPECT_TRUE(equal(to_array(x(range(_, _, -1), range(-3, _))), picked(values, {6, 3, 5}, [](const Extents& at) {
                        return Extents{5 - at[0], at[1] + 1, at[2]};
                      })));
    EXPECT_TRUE(equal(to_array(x(-2)), picked(values, {4, 5}, [](const Extents& at) {
                        return Extents{4, at[0], at[1]};
                      })));
    EXPECT_TRUE(equal(to_array(x()), values));
    EXPECT_TRUE(equal(to_array(x(hd::full_extent)), values));
  });
}

TEST(View, call_with_all_indices_is_an_element) {
  const auto x = to_tensor<int, 2>(counting({3, 4}), Layout::reversed);
#if HEDDLE_TEST_DEVICE_CUDA
  static_assert(std::is_same_v<decltype(x(1, 2)), Tensor<int, 0>>);
  EXPECT_EQ(x(1, 2).item(), 6);
  EXPECT_EQ(x(-1, -1).item(), 11);
  x(1, 2) = 50;
#else
  static_assert(std::is_same_v<decltype(x(1, 2)), int&>);
  EXPECT_EQ(x(1, 2), 6);
  EXPECT_EQ(x(-1, -1), 11);
  x(1, 2) = 50;
  const hd::Tensor<const int, 2> read_only = x;
  static_assert(std::is_same_v<decltype(read_only(1, 2)), const int&>);
#endif
  EXPECT_EQ(to_array(x).at({1, 2}), 50);
}

TEST(View, slice_clamps_as_numpy_does) {
  for_each_layout({7, 3}, [](const Array& values, Layout layout) {
    const auto x = to_tensor<int, 2>(values, layout);
    const auto rows = [&](std::int64_t first, std::int64_t count, std::int64_t step) {
      return picked(values, {count, 3}, [=](const Extents& at) { return Extents{first + at[0] * step, at[1]}; });
    };
    EXPECT_TRUE(equal(to_array(x.slice(hd::axis<0>, range(0, 5))), rows(0, 5, 1)));
    EXPECT_TRUE(equal(to_array(x.slice(hd::axis<0>, range(5, 100))), rows(5, 2, 1)));
    EXPECT_TRUE(equal(to_array(x.slice(hd::axis<-2>, range(-3, _, 2))), rows(4, 2, 2)));
    EXPECT_TRUE(equal(to_array(x.slice(hd::axis<0>, range(_, _, -1))), rows(6, 7, -1)));
    EXPECT_TRUE(equal(to_array(x.slice(hd::axis<0>, range(5, 1, -3))), rows(5, 2, -3)));
    EXPECT_TRUE(equal(to_array(x.slice(hd::axis<0>, range(4, 2))), rows(0, 0, 1)));
    EXPECT_TRUE(equal(to_array(x.slice(hd::axis<0>, range(50, 60))), rows(0, 0, 1)));
    EXPECT_TRUE(equal(to_array(x.template slice<1>(range(1, 2))), picked(values, {7, 1}, [](const Extents& at) {
                        return Extents{at[0], 1};
                      })));
    // A slice of a slice.
    EXPECT_TRUE(equal(to_array(x.slice(hd::axis<0>, range(1, 6)).slice(hd::axis<0>, range(_, _, -2))), rows(5, 3, -2)));
  });
}

TEST(View, transpose_exchanges_the_last_two_axes) {
  for_each_layout({2, 3, 4}, [](const Array& values, Layout layout) {
    const auto x = to_tensor<int, 3>(values, layout);
    EXPECT_TRUE(equal(to_array(x.transpose()), reference::transpose(values)));
    EXPECT_EQ(x.transpose().transpose().strides(), x.strides());
  });
}

TEST(View, permute_orders_the_axes) {
  for_each_layout({2, 3, 4, 5}, [](const Array& values, Layout layout) {
    const auto x = to_tensor<int, 4>(values, layout);
    EXPECT_TRUE(equal(to_array(x.permute(hd::axes<2, 0, 3, 1>)), reference::permute(values, {2, 0, 3, 1})));
    EXPECT_TRUE(equal(to_array(x.template permute<0, -1, 1, -2>()), reference::permute(values, {0, 3, 1, 2})));
    // Permuting by the inverse is the identity.
    EXPECT_TRUE(equal(to_array(x.permute(hd::axes<2, 0, 3, 1>).permute(hd::axes<1, 3, 0, 2>)), values));
  });
  EXPECT_TRUE(equal(to_array(to_tensor<int, 0>(Array({}, 4)).permute(hd::axes<>)), Array({}, 4)));
}

TEST(View, reshape_keeps_the_elements) {
  const auto x = to_tensor<int, 3>(counting({4, 3, 2}));
  EXPECT_TRUE(equal(to_array(x.reshape({2, 12})), counting({2, 12})));
  EXPECT_TRUE(equal(to_array(x.reshape({-1})), counting({24})));
  EXPECT_TRUE(equal(to_array(x.reshape({2, -1, 3, 1})), counting({2, 4, 3, 1})));
  EXPECT_TRUE(equal(to_array(x.reshape(hd::Shape<2>{8, 3})), counting({8, 3})));
  EXPECT_EQ(x.reshape({24}).data(), x.data());
  EXPECT_TRUE(equal(to_array(to_tensor<int, 2>(Array({1, 1}, 4)).reshape({})), Array({}, 4)));
  EXPECT_TRUE(equal(to_array(to_tensor<int, 0>(Array({}, 4)).reshape({1, 1})), Array({1, 1}, 4)));
  // Leading axes of a cut tensor still lie evenly.
  const auto cut = x(_, _, 1);
  EXPECT_TRUE(equal(to_array(cut.reshape({12})), picked(counting({12, 2}), {12}, [](const Extents& at) {
                      return Extents{at[0], 1};
                    })));
}

TEST(View, reshape_refuses_what_does_not_fit) {
  const auto x = to_tensor<int, 2>(counting({4, 3}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { x.reshape({5, 3}); }), {"(4, 3)", "(5, 3)", "12"}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { x.reshape({-1, 5}); }), {"(4, 3)", "(-1, 5)"}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { x.reshape({-1, -1}); }), {"more than one -1", "(-1, -1)"}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { x.reshape({-2, 6}); }), {"negative", "(-2, 6)"}));
  EXPECT_TRUE(
      mentions(message_of<hd::ShapeError>([&] { x.transpose().reshape({12}); }), {"(3, 4)", "(12,)", "contiguous()"}));
}

TEST(View, more_elements_than_can_be_addressed_are_refused) {
  const hd::index_t many = hd::index_t{1} << 32;  // whose square is 0 in 64 bits
  const auto none = to_tensor<float, 1>(Array({0}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { none.reshape({many, many}); }), {"(0,)", "4294967296"}));
  EXPECT_THROW((to_tensor<float, 1>(Array({1})).expand({many, many})), hd::ShapeError);
  EXPECT_EQ(none.reshape({0, many, many}).size(), 0);
}

TEST(View, R034_reshape_without_elements) {
  EXPECT_THROW((to_tensor<float, 4>(Array({1, 0, 32, 64})).reshape({1, 0, -1})), hd::ShapeError);
  const auto x = to_tensor<float, 2>(Array({0, 3}));
  EXPECT_THROW(x.reshape({0, -1}), hd::ShapeError);
  EXPECT_EQ(x.reshape({-1, 3}).shape(), (hd::Shape<2>{0, 3}));
  EXPECT_EQ((to_tensor<float, 1>(Array({0})).reshape({-1}).shape()), (hd::Shape<1>{0}));
}

TEST(View, R021_flatten_of_a_transposed_view) {
  const auto t = to_tensor<float, 2>(counting({3, 3}));
  EXPECT_TRUE(equal(to_array(t.flatten()), list({0, 1, 2, 3, 4, 5, 6, 7, 8})));
  // The member is a view or an error; through a copy the order is that of the view.
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { t.transpose().flatten(); }), {"contiguous()"}));
  EXPECT_TRUE(equal(to_array(t.transpose().contiguous().flatten()), list({0, 3, 6, 1, 4, 7, 2, 5, 8})));
}

TEST(View, squeeze_and_unsqueeze) {
  for_each_layout({2, 1, 3}, [](const Array& values, Layout layout) {
    const auto x = to_tensor<int, 3>(values, layout);
    EXPECT_TRUE(equal(to_array(x.squeeze(hd::axis<1>)), reference::reshape(values, {2, 3})));
    EXPECT_TRUE(equal(to_array(x.template squeeze<-2>()), reference::reshape(values, {2, 3})));
    EXPECT_TRUE(equal(to_array(x.unsqueeze(hd::axis<0>)), reference::reshape(values, {1, 2, 1, 3})));
    EXPECT_TRUE(equal(to_array(x.unsqueeze(hd::axis<-1>)), reference::reshape(values, {2, 1, 3, 1})));
    EXPECT_TRUE(equal(to_array(x.template unsqueeze<2>()), reference::reshape(values, {2, 1, 1, 3})));
  });
  const auto x = to_tensor<float, 3>(counting({2, 1, 3}));
  EXPECT_TRUE(x.unsqueeze(hd::axis<0>).is_contiguous());
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { x.squeeze(hd::axis<0>); }), {"axis 0", "(2, 1, 3)"}));
  EXPECT_TRUE(equal(to_array(to_tensor<int, 0>(Array({}, 4)).unsqueeze(hd::axis<0>)), Array({1}, 4)));
}

TEST(View, expand_repeats_axes_of_extent_1) {
  for_each_layout({3, 1, 2}, [](const Array& values, Layout layout) {
    const auto x = to_tensor<int, 3>(values, layout);
    const auto wide = x.expand({5, 3, 4, 2});
    static_assert(std::is_same_v<decltype(wide), const Tensor<const int, 4>>);
    EXPECT_TRUE(equal(to_array(wide), reference::expand(values, {5, 3, 4, 2})));
    EXPECT_TRUE(equal(to_array(x.expand({-1, 4, -1})), reference::expand(values, {3, 4, 2})));
    EXPECT_TRUE(equal(to_array(x.expand({3, 0, 2})), Array({3, 0, 2})));
  });
}

TEST(View, R018_expand_to_a_smaller_shape_is_an_error) {
  const auto x = to_tensor<float, 2>(Array({2, 3}, 1));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { x.expand({1, 3}); }), {"(2, 3)", "(1, 3)"}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { x.expand({2, 1}); }), {"(2, 3)", "(2, 1)"}));
  EXPECT_THROW(x.expand({3}), hd::ShapeError);
  EXPECT_THROW(x.expand({-1, 2, 3}), hd::ShapeError);
  EXPECT_TRUE(equal(to_array(x.expand({4, 2, 3})), Array({4, 2, 3}, 1)));
}

TEST(View, diagonal_of_the_last_two_axes) {
  for_each_layout({2, 3, 4}, [](const Array& values, Layout layout) {
    const auto x = to_tensor<int, 3>(values, layout);
    EXPECT_TRUE(equal(to_array(x.diagonal()), picked(values, {2, 3}, [](const Extents& at) {
                        return Extents{at[0], at[1], at[1]};
                      })));
    EXPECT_TRUE(equal(to_array(x.transpose().diagonal()), picked(values, {2, 3}, [](const Extents& at) {
                        return Extents{at[0], at[1], at[1]};
                      })));
  });
  const auto square = to_tensor<int, 2>(counting({3, 3}));
  square.diagonal().fill(-1);
  EXPECT_TRUE(equal(to_array(square), matrix({{-1, 1, 2}, {3, -1, 5}, {6, 7, -1}})));
}

TEST(View, diagonal_of_two_axes_with_an_offset) {
  const auto x = to_tensor<float, 3>(reference::counting({2, 3, 4}));
  // Elements are 12 i + 4 j + k.
  EXPECT_TRUE(equal(to_array(x.diagonal(1)), reference::matrix({{1, 6, 11}, {13, 18, 23}})));
  EXPECT_TRUE(equal(to_array(x.diagonal(-1)), reference::matrix({{4, 9}, {16, 21}})));
  EXPECT_TRUE(equal(to_array(x.diagonal(2, hd::axes<0, 2>)), reference::matrix({{2, 15}, {6, 19}, {10, 23}})));
  EXPECT_TRUE(equal(to_array(x.diagonal(0, hd::axes<-1, 0>)), reference::matrix({{0, 13}, {4, 17}, {8, 21}})));
  EXPECT_EQ(x.diagonal(4).size() + x.diagonal(-3).size() + x.diagonal(INT64_MIN).size(), 0);
}

TEST(View, of_no_elements) {
  const auto x = to_tensor<float, 3>(Array({2, 0, 3}));
  EXPECT_EQ(x[1].shape(), (hd::Shape<2>{0, 3}));
  EXPECT_EQ(x(_, range(0, 5)).shape(), (hd::Shape<3>{2, 0, 3}));
  EXPECT_EQ(x.transpose().shape(), (hd::Shape<3>{2, 3, 0}));
  EXPECT_EQ(x.flatten().shape(), (hd::Shape<1>{0}));
  EXPECT_EQ(x.diagonal().shape(), (hd::Shape<2>{2, 0}));
  EXPECT_EQ(x.clone().shape(), (hd::Shape<3>{2, 0, 3}));
  EXPECT_TRUE(x.to_vector().empty());
}

TEST(View, keeps_the_memory_alive) {
  const auto make = [] { return to_tensor<float, 1>(counting({4})); };
  const auto view = make().slice(hd::axis<0>, range(0, 4, 2));
  const auto other = to_tensor<float, 1>(Array({4}, 99));
  EXPECT_TRUE(equal(to_array(view), list({0, 2})));
  EXPECT_TRUE(equal(to_array(other), Array({4}, 99)));
}

TEST(View, R009_of_a_temporary_is_used_later) {
  const auto make = [] { return to_tensor<float, 1>(counting({4})); };
  const auto v = make()(range(0, 4, 2));
  const hd::Tensor copy = v.clone();
  EXPECT_TRUE(equal(to_array(copy), list({0, 2})));
}

TEST(View, R020_column_slices) {
  const auto a = to_tensor<float, 2>(matrix({{9, 6, 3}, {8, 5, 2}, {7, 4, 1}}));
  const auto b = a(_, range(0, 1)).clone();
  EXPECT_TRUE(equal(to_array(b), matrix({{9}, {8}, {7}})));
  EXPECT_TRUE(equal(to_array(a(_, range(0, 2)).contiguous()), matrix({{9, 6}, {8, 5}, {7, 4}})));
}

TEST(View, R025_contiguous_has_canonical_strides) {
  const auto x = to_tensor<float, 5>(counting({1, 2, 3, 4, 5}));
  const auto y = x.permute(hd::axes<1, 0, 2, 3, 4>).contiguous();
  EXPECT_EQ(y.shape(), (hd::Shape<5>{2, 1, 3, 4, 5}));
  EXPECT_EQ(y.strides(), (hd::Strides<5>{{60, 60, 20, 5, 1}}));
  EXPECT_TRUE(y.is_contiguous());
}

TEST(View, copies_commute_with_views) {
  for_each_layout({4, 6, 5}, [](const Array& values, Layout layout) {
    const auto x = to_tensor<int, 3>(values, layout);
    const auto view = [](const auto& t) { return t.permute(hd::axes<2, 0, 1>)(range(_, _, -1), 1, range(1, _, 2)); };
    const Array want = to_array(view(x));
    EXPECT_TRUE(equal(to_array(view(x.clone())), want));
    EXPECT_TRUE(equal(to_array(view(x).clone()), want));
    EXPECT_TRUE(equal(to_array(view(x.contiguous())), want));
    EXPECT_TRUE(equal(to_array(view(x).contiguous()), want));
    EXPECT_TRUE(equal(to_array(view(x.to(hd::cpu))), want));
    EXPECT_TRUE(equal(to_array(view(x).to(hd::cpu)), want));
  });
}

}  // namespace
