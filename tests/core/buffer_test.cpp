// The owner of memory: moves, copies to and from the host, and gives its memory to a tensor.
#include <heddle/core/buffer.hpp>
#include <heddle/ops/create.hpp>

#include <vector>

#include "harness/expect.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using FloatBuffer = hd::Buffer<float, TestDevice>;

static_assert(!std::is_copy_constructible_v<FloatBuffer> && !std::is_copy_assignable_v<FloatBuffer>);
static_assert(std::is_nothrow_move_constructible_v<FloatBuffer> && std::is_nothrow_move_assignable_v<FloatBuffer>);

TEST(Buffer, copies_in_and_out) {
  const std::vector<float> values{1.5f, -2.0f, 3.25f};
  FloatBuffer buffer(3, test_device());
  buffer.copy_from(values);
  std::vector<float> back(3, -99.0f);
  buffer.copy_to(back);
  EXPECT_EQ(back, values);
  EXPECT_EQ(buffer.size(), 3);
  EXPECT_TRUE(buffer.device() == test_device());
  EXPECT_FALSE(buffer.is_pinned());
}

TEST(Buffer, another_count_is_refused_before_anything_is_written) {
  FloatBuffer buffer(3, test_device());
  std::vector<float> two(2, 7.0f);
  EXPECT_THROW(buffer.copy_from(two), hd::ShapeError);
  EXPECT_THROW(buffer.copy_to(two), hd::ShapeError);
  EXPECT_EQ(two, std::vector<float>(2, 7.0f));
  EXPECT_THROW(FloatBuffer(-1, test_device()), hd::ShapeError);
}

TEST(Buffer, moving_leaves_nothing_behind) {
  FloatBuffer first(4, test_device());
  const float* const memory = first.data();
  FloatBuffer second(std::move(first));
  EXPECT_EQ(second.data(), memory);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move): what is left is the point
  EXPECT_EQ(first.size(), 0);
  FloatBuffer third;
  third = std::move(second);
  EXPECT_EQ(third.data(), memory);
  EXPECT_EQ(third.size(), 4);
}

TEST(Buffer, a_tensor_takes_the_memory_over) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  FloatBuffer buffer(6, test_device());
  buffer.copy_from(values);
  const float* const memory = buffer.data();
  const hd::Tensor<float, 2, TestDevice> x(std::move(buffer), {2, 3});
  EXPECT_EQ(x.data(), memory);
  EXPECT_EQ(x.transpose().to_vector(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  FloatBuffer wrong(5, test_device());
  EXPECT_THROW((hd::Tensor<float, 2, TestDevice>(std::move(wrong), hd::Shape<2>{2, 3})), hd::ShapeError);
}

TEST(Buffer, empty_and_pinned) {
  FloatBuffer none(0, test_device());
  EXPECT_EQ(none.size(), 0);
  none.copy_from(std::vector<float>{});
  auto pinned = hd::Buffer<float>::pinned(8);
  EXPECT_EQ(pinned.is_pinned(), on_cuda);
  const std::vector<float> values(8, 2.5f);
  pinned.copy_from(values);
  EXPECT_EQ(std::vector<float>(pinned.data(), pinned.data() + 8), values);
  const auto tensor = hd::empty_pinned<float>({2, 4});
  EXPECT_EQ(tensor.storage()->pinned, on_cuda);
  EXPECT_TRUE(tensor.is_contiguous());
}

}  // namespace
