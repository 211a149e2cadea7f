#include <gtest/gtest.h>
#include <heddle/core/layout.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace {

namespace hd = heddle;
using hd::index_t;

template <int Rank>
using Strides = hd::Strides<Rank>;

/// The offsets of all elements in row-major order, by counting.
template <int Rank>
std::vector<index_t> offsets(const hd::Shape<Rank>& shape, const Strides<Rank>& strides) {
  std::vector<index_t> all{0};
  for (int axis = 0; axis < Rank; ++axis) {
    std::vector<index_t> next;
    for (const index_t base : all)
      for (index_t i = 0; i < shape[axis]; ++i) next.push_back(base + i * strides[axis]);
    all = next;
  }
  return all;
}

TEST(Layout, row_major_strides) {
  EXPECT_EQ(hd::row_major(hd::Shape<3>{2, 3, 5}), (Strides<3>{{15, 5, 1}}));
  EXPECT_EQ(hd::row_major(hd::Shape<3>{2, 0, 5}), (Strides<3>{{5, 5, 1}}));
  EXPECT_EQ(hd::row_major(hd::Shape<0>{}), Strides<0>{});
  EXPECT_EQ(hd::row_major(hd::Shape<3>{3, 70000, 70000}), (Strides<3>{{INT64_C(4900000000), 70000, 1}}));
}

TEST(Layout, contiguous_means_c_order_without_gaps) {
  const hd::Shape<3> shape{2, 3, 5};
  EXPECT_TRUE(hd::is_contiguous(shape, Strides<3>{{15, 5, 1}}));
  EXPECT_FALSE(hd::is_contiguous(shape, Strides<3>{{15, 1, 3}}));
  EXPECT_FALSE(hd::is_contiguous(shape, Strides<3>{{16, 5, 1}}));
  EXPECT_FALSE(hd::is_contiguous(shape, Strides<3>{{15, 5, -1}}));
  EXPECT_FALSE(hd::is_contiguous(shape, Strides<3>{{0, 5, 1}}));
  EXPECT_TRUE(hd::is_contiguous(hd::Shape<0>{}, Strides<0>{}));
}

TEST(Layout, R025_axes_of_extent_1_have_no_say) {
  EXPECT_TRUE(hd::is_contiguous(hd::Shape<3>{2, 1, 5}, Strides<3>{{5, 777, 1}}));
  EXPECT_TRUE(hd::is_contiguous(hd::Shape<2>{1, 1}, Strides<2>{{0, -9}}));
  EXPECT_TRUE(hd::is_dense(hd::Shape<3>{5, 1, 3}, Strides<3>{{1, 99, 5}}));
}

TEST(Layout, without_elements_is_contiguous) {
  EXPECT_TRUE(hd::is_contiguous(hd::Shape<3>{2, 0, 5}, Strides<3>{{1, 2, 3}}));
  EXPECT_TRUE(hd::is_dense(hd::Shape<2>{0, 4}, Strides<2>{{0, 0}}));
  EXPECT_FALSE(hd::may_overlap_itself(hd::Shape<2>{0, 4}, Strides<2>{{0, 0}}));
}

TEST(Layout, dense_strides_keep_the_order_of_axes) {
  const hd::Shape<4> images{2, 3, 4, 5};
  const Strides<4> channels_last{{60, 1, 15, 3}};
  EXPECT_EQ(hd::dense_like(images, channels_last), channels_last);
  EXPECT_EQ(hd::dense_like(images, Strides<4>{{600, 2, 120, 8}}), channels_last);
  EXPECT_EQ(hd::dense_like(images, Strides<4>{{-60, 1, -15, 3}}), channels_last);
  EXPECT_EQ(hd::dense_like(hd::Shape<2>{3, 4}, Strides<2>{{1, 3}}), (Strides<2>{{1, 3}}));
  EXPECT_EQ(hd::dense_like(hd::Shape<2>{3, 4}, Strides<2>{{0, 1}}), (Strides<2>{{4, 1}}));
  EXPECT_EQ(hd::dense_like(hd::Shape<3>{2, 1, 3}, Strides<3>{{3, 0, 1}}), (Strides<3>{{3, 3, 1}}));
  // Channels-last images one pixel high.
  EXPECT_EQ(hd::dense_like(hd::Shape<4>{2, 3, 1, 5}, Strides<4>{{15, 1, 15, 3}}), (Strides<4>{{15, 1, 1, 3}}));
}

TEST(Layout, permuted_dense_tensors_are_dense) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    hd::Shape<4> box, shape;
    for (int i = 0; i < 4; ++i) box[i] = static_cast<index_t>(random() % 4) + 1;
    int order[4] = {0, 1, 2, 3};
    std::shuffle(order, order + 4, random);
    Strides<4> strides;
    for (int i = 0; i < 4; ++i) {
      shape[i] = box[order[i]];
      strides[i] = hd::row_major(box)[order[i]];
    }
    ASSERT_TRUE(hd::is_dense(shape, strides)) << (hd::Message{} << shape).text();
    ASSERT_EQ(offsets(shape, hd::dense_like(shape, strides)), offsets(shape, strides));
  }
}

TEST(Layout, dense_strides_give_every_element_a_place_without_gaps) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    hd::Shape<4> shape;
    Strides<4> strides;
    for (int i = 0; i < 4; ++i) {
      shape[i] = static_cast<index_t>(random() % 4) + 1;
      strides[i] = static_cast<index_t>(random() % 13) - 6;
    }
    std::vector<index_t> places = offsets(shape, hd::dense_like(shape, strides));
    std::sort(places.begin(), places.end());
    for (std::size_t i = 0; i < places.size(); ++i) ASSERT_EQ(places[i], static_cast<index_t>(i));
  }
}

TEST(Layout, span_of_offsets) {
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    hd::Shape<3> shape;
    Strides<3> strides;
    for (int i = 0; i < 3; ++i) {
      shape[i] = static_cast<index_t>(random() % 4) + 1;
      strides[i] = static_cast<index_t>(random() % 21) - 10;
    }
    const std::vector<index_t> places = offsets(shape, strides);
    const hd::OffsetSpan span = hd::offset_span(shape, strides);
    ASSERT_EQ(span.lowest, *std::min_element(places.begin(), places.end()));
    ASSERT_EQ(span.highest, *std::max_element(places.begin(), places.end()));
  }
  const hd::OffsetSpan far = hd::offset_span(hd::Shape<2>{70000, 70000}, Strides<2>{{-70000, 1}});
  EXPECT_EQ(far.lowest, INT64_C(-4899930000));
  EXPECT_EQ(far.highest, 69999);
}

TEST(Layout, overlapping_elements_are_always_found) {
  std::mt19937 random(3);
  for (int round = 0; round < 5000; ++round) {
    hd::Shape<3> shape;
    Strides<3> strides;
    for (int i = 0; i < 3; ++i) {
      shape[i] = static_cast<index_t>(random() % 4) + 1;
      strides[i] = static_cast<index_t>(random() % 25) - 12;
    }
    const std::vector<index_t> places = offsets(shape, strides);
    const bool overlap = std::set<index_t>(places.begin(), places.end()).size() != places.size();
    if (overlap) {
      ASSERT_TRUE(hd::may_overlap_itself(shape, strides));
    }
  }
  // No false alarm for slices of dense tensors, in any order of axes and direction.
  EXPECT_FALSE(hd::may_overlap_itself(hd::Shape<3>{4, 3, 2}, Strides<3>{{2, -16, 100}}));
  EXPECT_FALSE(hd::may_overlap_itself(hd::Shape<2>{1, 5}, Strides<2>{{0, 1}}));
  EXPECT_TRUE(hd::may_overlap_itself(hd::Shape<2>{2, 5}, Strides<2>{{0, 1}}));
}

/// Whether any strides show these places in this order under a shape; they follow from each axis' second element.
template <int Rank>
bool strides_exist(const std::vector<index_t>& places, const hd::Shape<Rank>& shape) {
  Strides<Rank> strides;
  index_t step = 1;
  for (int i = Rank - 1; i >= 0; --i) {
    if (shape[i] > 1) strides[i] = places[static_cast<std::size_t>(step)] - places[0];
    step *= shape[i];
  }
  std::vector<index_t> shown = offsets(shape, strides);
  for (index_t& place : shown) place += places[0];
  return shown == places;
}

template <int To, int From>
int check_reshape(const hd::Shape<From>& from, const Strides<From>& strides, const hd::Shape<To>& to) {
  Strides<To> result;
  const bool possible = hd::reshaped_strides(from, strides, to, result);
  const std::vector<index_t> places = offsets(from, strides);
  EXPECT_EQ(possible, strides_exist(places, to)) << (hd::Message{} << from << " to " << to).text();
  if (possible) {
    EXPECT_EQ(offsets(to, result), places) << (hd::Message{} << from << " to " << to).text();
  }
  return possible ? 1 : 0;
}

TEST(Layout, reshape_is_a_view_exactly_where_strides_exist) {
  std::mt19937 random(4);
  int views = 0, rounds = 0;
  for (int round = 0; round < 4000; ++round) {
    // A permuted, sliced, reversed part of a dense tensor whose extents have few prime factors.
    hd::Shape<3> box, shape;
    for (int i = 0; i < 3; ++i) box[i] = index_t{1} << (random() % 3);
    const Strides<3> dense = hd::row_major(box);
    int order[3] = {0, 1, 2};
    if (random() % 2 == 0) std::shuffle(order, order + 3, random);
    Strides<3> strides;
    for (int i = 0; i < 3; ++i) {
      shape[i] = box[order[i]];
      strides[i] = dense[order[i]];
      if (random() % 6 == 0) strides[i] *= 2, shape[i] = (shape[i] + 1) / 2;
      if (random() % 6 == 0) strides[i] = -strides[i];
      if (random() % 9 == 0) strides[i] = 0;
    }
    const index_t size = shape.size();
    views += check_reshape(shape, strides, hd::Shape<1>{size});
    for (index_t a = 1; a <= size; a *= 2) {
      views += check_reshape(shape, strides, hd::Shape<2>{a, size / a});
      views += check_reshape(shape, strides, hd::Shape<3>{a, 1, size / a});
      if (size / a >= 2) views += check_reshape(shape, strides, hd::Shape<4>{1, a, 2, size / a / 2});
      ++rounds;
    }
  }
  EXPECT_GT(views, rounds);
  EXPECT_LT(views, 4 * rounds);
}

TEST(Layout, reshape_of_no_elements_is_a_view) {
  Strides<2> result;
  EXPECT_TRUE(hd::reshaped_strides(hd::Shape<3>{2, 0, 3}, Strides<3>{{1, 7, 5}}, hd::Shape<2>{0, 4}, result));
}

}  // namespace
