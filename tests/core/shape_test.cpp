#include <gtest/gtest.h>
#include <heddle/core/shape.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

namespace hd = heddle;
using hd::index_t;

template <int Rank>
std::string text_of(const hd::Shape<Rank>& shape) {
  return (hd::Message{} << shape).text();
}

TEST(Shape, takes_any_integers) {
  const unsigned char byte = 200;
  const hd::Shape<3> mixed{byte, std::size_t{7}, -1};
  EXPECT_EQ(mixed[0], 200);
  EXPECT_EQ(mixed[1], 7);
  EXPECT_EQ(mixed[2], -1);
  const hd::Shape deduced{2, 3L};
  static_assert(std::is_same_v<decltype(deduced), const hd::Shape<2>>);
  EXPECT_EQ(deduced, (hd::Shape<2>{2, 3}));
  EXPECT_FALSE(deduced == (hd::Shape<2>{3, 2}));
}

TEST(Shape, counts_its_elements) {
  EXPECT_EQ((hd::Shape<3>{2, 3, 5}).size(), 30);
  EXPECT_EQ((hd::Shape<3>{2, 0, 5}).size(), 0);
  EXPECT_EQ(hd::Shape<0>{}.size(), 1);
  EXPECT_EQ((hd::Shape<2>{65536, 65537}).size(), INT64_C(4295032832));
}

TEST(Shape, of_rank_0_is_empty) {
  const hd::Shape<0> shape{};
  EXPECT_EQ(shape.begin(), shape.end());
  EXPECT_EQ(shape, hd::Shape<0>{});
}

TEST(Shape, prints_as_python_does) {
  EXPECT_EQ(text_of(hd::Shape<2>{2, 3}), "(2, 3)");
  EXPECT_EQ(text_of(hd::Shape<1>{3}), "(3,)");
  EXPECT_EQ(text_of(hd::Shape<0>{}), "()");
  EXPECT_EQ(text_of(hd::Shape<1>{INT64_C(5000000000)}), "(5000000000,)");
}

TEST(Shape, of_a_tensor_is_checked) {
  EXPECT_EQ(hd::checked_shape(hd::Shape<2>{2, 3}), (hd::Shape<2>{2, 3}));
  EXPECT_EQ(hd::checked_shape(hd::Shape<2>{100000, 100000}), (hd::Shape<2>{100000, 100000}));
  const index_t huge = INT64_C(1) << 40;
  EXPECT_EQ(hd::checked_shape(hd::Shape<3>{huge, huge, 0}).size(), 0);
  EXPECT_THROW(hd::checked_shape(hd::Shape<2>{huge, huge}), hd::ShapeError);
  try {
    hd::checked_shape(hd::Shape<3>{4, -2, 3});
    FAIL();
  } catch (const hd::ShapeError& error) {
    EXPECT_STREQ(error.what(), "negative extent in shape (4, -2, 3)");
  }
}

// The rule of Python's slice.indices, from its documentation.
std::vector<index_t> python_slice(index_t extent, const index_t* start, const index_t* stop, index_t step) {
  const index_t lower = step > 0 ? 0 : -1, upper = step > 0 ? extent : extent - 1;
  const auto adjusted = [&](index_t i) { return i < 0 ? std::max(i + extent, lower) : std::min(i, upper); };
  index_t i = start != nullptr ? adjusted(*start) : (step > 0 ? lower : upper);
  const index_t end = stop != nullptr ? adjusted(*stop) : (step > 0 ? upper : lower);
  std::vector<index_t> taken;
  for (; step > 0 ? i < end : i > end; i += step) taken.push_back(i);
  return taken;
}

TEST(Range, is_pythons_slice) {
  std::vector<const index_t*> bounds{nullptr};
  std::vector<index_t> values;
  for (index_t i = -8; i <= 8; ++i) values.push_back(i);
  for (const index_t& value : values) bounds.push_back(&value);
  for (index_t extent = 0; extent <= 6; ++extent) {
    for (const index_t* start : bounds) {
      for (const index_t* stop : bounds) {
        for (index_t step = -3; step <= 3; ++step) {
          if (step == 0) continue;
          const auto bound = [](const index_t* value) {
            return value != nullptr ? hd::RangeBound(*value) : hd::RangeBound(hd::_);
          };
          const hd::ResolvedRange got = hd::resolve(hd::range(bound(start), bound(stop), step), extent);
          std::vector<index_t> indices;
          for (index_t i = 0; i < got.count; ++i) indices.push_back(got.first + i * got.step);
          ASSERT_EQ(indices, python_slice(extent, start, stop, step))
              << "extent " << extent << ", step " << step << ", start " << (start != nullptr ? *start : 99) << ", stop "
              << (stop != nullptr ? *stop : 99);
        }
      }
    }
  }
}

TEST(Range, takes_the_greatest_steps_and_bounds) {
  constexpr index_t most = std::numeric_limits<index_t>::max(), least = std::numeric_limits<index_t>::min();
  EXPECT_EQ(hd::resolve(hd::range(0, 5, most), 5).count, 1);
  EXPECT_EQ(hd::resolve(hd::range(4, hd::_, least), 5).count, 1);
  EXPECT_EQ(hd::resolve(hd::range(least, most), 5).count, 5);
  EXPECT_EQ(hd::resolve(hd::range(most, least, -1), 5).count, 5);
  EXPECT_EQ(hd::resolve(hd::range(1, INT64_C(1) << 40, 2), INT64_C(1) << 40).count, INT64_C(1) << 39);
}

TEST(Range, of_step_0_is_an_error) { EXPECT_THROW(hd::resolve(hd::range(0, 5, 0), 5), hd::IndexError); }

static_assert(hd::normalized_axis<-1, 3>() == 2);
static_assert(hd::normalized_axis<0, 1>() == 0);
static_assert(hd::axis<-1>.value == -1);
static_assert(hd::axes<2, 0, 1>.count == 3);

}  // namespace
