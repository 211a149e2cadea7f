#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "harness/expect.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::counting;
using reference::list;
using reference::matrix;

const TestDevice device = test_device();

TEST(Create, zeros_ones_full_and_empty) {
  EXPECT_TRUE(equal(to_array(hd::zeros<float>({2, 3}, device)), Array({2, 3}, 0)));
  EXPECT_TRUE(equal(to_array(hd::ones<std::int8_t>({1025}, device)), Array({1025}, 1)));
  EXPECT_TRUE(equal(to_array(hd::full<double>({17, 31, 13}, 2.5, device)), Array({17, 31, 13}, 2.5)));
  EXPECT_TRUE(equal(to_array(hd::full<hd::half>({5}, 0.1, device)), rounded_to<hd::half>(Array({5}, 0.1))));
  EXPECT_TRUE(mentions(message_of<hd::Error>([] { hd::full<std::uint8_t>({5}, -1, device); }), {"-1", "uint8"}));
  EXPECT_TRUE(equal(to_array(hd::ones<bool>({33}, device)), Array({33}, 1)));
  EXPECT_EQ(hd::empty<float>({2, 3}, device).shape(), (hd::Shape<2>{2, 3}));
  EXPECT_TRUE(hd::empty<float>({2, 3}, device).is_contiguous());
}

TEST(Create, of_rank_0_and_without_elements) {
  EXPECT_EQ(hd::full<int>({}, 7, device).item(), 7);
  EXPECT_EQ(hd::ones<float>({}, device).item(), 1.0f);
  static_assert(decltype(hd::zeros<float>({}, device))::rank == 0);
  EXPECT_EQ(hd::ones<float>({3, 0, 2}, device).shape(), (hd::Shape<3>{3, 0, 2}));
  EXPECT_EQ(hd::zeros<float>({0}, device).size(), 0);
}

TEST(Create, takes_shapes_and_any_integers) {
  const std::size_t rows = 2;
  const unsigned char columns = 3;
  EXPECT_TRUE(equal(to_array(hd::ones<float>({rows, columns}, device)), Array({2, 3}, 1)));
  EXPECT_TRUE(equal(to_array(hd::ones<float>(hd::Shape<2>{2, 3}, device)), Array({2, 3}, 1)));
  EXPECT_TRUE(equal(to_array(hd::ones<float>(hd::zeros<int>({2, 3}).shape(), device)), Array({2, 3}, 1)));
}

TEST(Create, is_on_the_cpu_where_no_device_is_named) {
  static_assert(std::is_same_v<decltype(hd::zeros<float>({2, 3})), hd::Tensor<float, 2, hd::Cpu>>);
  static_assert(std::is_same_v<decltype(hd::tensor<float>({1, 2})), hd::Tensor<float, 1, hd::Cpu>>);
  static_assert(std::is_same_v<decltype(hd::arange<float>(5)), hd::Tensor<float, 1, hd::Cpu>>);
  EXPECT_EQ(hd::arange<int>(3, 5).to_vector(), (std::vector<int>{3, 4}));
  EXPECT_EQ(hd::arange<float>(0, 1, 0.25).to_vector(), (std::vector<float>{0, 0.25f, 0.5f, 0.75f}));
}

TEST(Create, a_shape_that_cannot_be_is_an_error) {
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([] { hd::zeros<float>({2, -3}, device); }), {"negative", "(2, -3)"}));
  const auto huge = std::int64_t{1} << 40;
  EXPECT_THROW(hd::empty<float>({huge, huge}, device), hd::ShapeError);
}

TEST(Create, more_memory_than_there_is_is_an_error) {
  try {
    hd::empty<float>({std::int64_t{1} << 55}, device);
    FAIL() << "2^57 bytes were given";
  } catch (const hd::OutOfMemory& error) {
    EXPECT_EQ(error.bytes_asked(), std::size_t{1} << 57);
    EXPECT_TRUE(mentions(error.what(), {"144115188075855872"}));
  }
  // The library works on.
  EXPECT_TRUE(equal(to_array(hd::ones<float>({5}, device)), Array({5}, 1)));
}

TEST(Create, like_another) {
  const auto x = to_tensor<hd::half, 3>(counting({4, 3, 5}), Layout::channels_last);
  const auto zeros = hd::zeros_like(x);
  static_assert(std::is_same_v<decltype(zeros), const TestTensor<hd::half, 3>>);
  EXPECT_EQ(zeros.strides(), x.strides());
  EXPECT_TRUE(equal(to_array(zeros), Array({4, 3, 5}, 0)));
  EXPECT_TRUE(equal(to_array(hd::ones_like(x)), Array({4, 3, 5}, 1)));
  EXPECT_TRUE(equal(to_array(hd::full_like(x, -3)), Array({4, 3, 5}, -3)));
  EXPECT_EQ(hd::empty_like(x).shape(), x.shape());
  EXPECT_NE(hd::empty_like(x).data(), x.data());
  const auto read_only = to_tensor<float, 1>(list({3})).expand({7});
  static_assert(std::is_same_v<decltype(hd::zeros_like(read_only)), TestTensor<float, 1>>);
  EXPECT_TRUE(equal(to_array(hd::ones_like(read_only)), Array({7}, 1)));
  EXPECT_TRUE(equal(to_array(hd::ones_like(x + x)), Array({4, 3, 5}, 1)));
}

template <class T>
Array progression(double start, double step, std::int64_t count) {
  Array x({count});
  for (std::int64_t i = 0; i < count; ++i) x[i] = start + static_cast<double>(i) * step;
  return rounded_to<T>(x);
}

TEST(Create, arange) {
  EXPECT_TRUE(equal(to_array(hd::arange<int>(10, device)), counting({10})));
  EXPECT_TRUE(equal(to_array(hd::arange<float>(3, 8, device)), progression<float>(3, 1, 5)));
  EXPECT_TRUE(equal(to_array(hd::arange<std::int64_t>(10, -5, -4, device)), list({10, 6, 2, -2})));
  EXPECT_TRUE(equal(to_array(hd::arange<float>(0, 1, 0.25, device)), list({0, 0.25, 0.5, 0.75})));
  EXPECT_TRUE(equal(to_array(hd::arange<float>(5, 5, device)), Array({0})));
  EXPECT_TRUE(equal(to_array(hd::arange<float>(5, 3, device)), Array({0})));
  EXPECT_TRUE(equal(to_array(hd::arange<int>(2049, device)), counting({2049})));
  EXPECT_THROW(hd::arange<int>(0, 5, 0, device), hd::ShapeError);
  EXPECT_THROW(hd::arange<float>(0, std::numeric_limits<double>::infinity(), 1, device), hd::ShapeError);
  EXPECT_THROW(hd::arange<float>(0, 1, std::numeric_limits<double>::quiet_NaN(), device), hd::ShapeError);
}

TEST(Create, arange_over_all_of_64_bits) {
  constexpr auto low = std::numeric_limits<std::int64_t>::min(), high = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(hd::arange<std::int64_t>(low, high, high, device).to_vector(),
            (std::vector<std::int64_t>{low, -1, high - 1}));
  EXPECT_EQ(hd::arange<std::int64_t>(high, low, low, device).to_vector(), (std::vector<std::int64_t>{high, -1}));
  const std::uint64_t quarter = std::uint64_t{1} << 62;
  EXPECT_EQ(hd::arange<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max(), quarter, device).to_vector(),
            (std::vector<std::uint64_t>{0, quarter, 2 * quarter, 3 * quarter}));
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] { hd::arange<std::int64_t>(low, high, device); }),
                       {"18446744073709551615"}));
}

TEST(Create, arange_does_not_add_up_errors) {
  EXPECT_TRUE(equal(to_array(hd::arange<float>(0, 1000, 0.1, device)), progression<float>(0, 0.1, 10000)));
  EXPECT_TRUE(equal(to_array(hd::arange<hd::half>(0, 300, 1, device)), progression<hd::half>(0, 1, 300)));
}

TEST(Create, linspace_is_exact_at_both_ends) {
  EXPECT_TRUE(equal(to_array(hd::linspace<float>(0, 1, 5, device)), list({0, 0.25, 0.5, 0.75, 1})));
  const Array x = to_array(hd::linspace<float>(0.1, 0.7, 1000, device));
  EXPECT_EQ(x[0], 0.1f);
  EXPECT_EQ(x[999], 0.7f);
  for (std::int64_t i = 0; i < 1000; ++i) ASSERT_NEAR(x[i], 0.1 + 0.6 * static_cast<double>(i) / 999, 1e-7);
  EXPECT_TRUE(equal(to_array(hd::linspace<double>(2, 3, 1, device)), list({2})));
  EXPECT_TRUE(equal(to_array(hd::linspace<double>(2, 3, 0, device)), Array({0})));
  EXPECT_THROW(hd::linspace<double>(2, 3, -1, device), hd::ShapeError);
  EXPECT_TRUE(equal(to_array(hd::linspace<double>(-1e308, 1e308, 3, device)), list({-1e308, 0, 1e308})));
}

TEST(Create, eye) {
  EXPECT_TRUE(equal(to_array(hd::eye<int>(3, device)), matrix({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}})));
  EXPECT_TRUE(equal(to_array(hd::eye<float>(0, device)), Array({0, 0})));
  EXPECT_THROW(hd::eye<float>(-1, device), hd::ShapeError);
}

TEST(Create, from_nested_lists) {
  EXPECT_TRUE(equal(to_array(hd::tensor<float>({1, 2, 3}, device)), list({1, 2, 3})));
  EXPECT_TRUE(equal(to_array(hd::tensor<float>({{1, 2}, {3, 4}, {5, 6}}, device)), matrix({{1, 2}, {3, 4}, {5, 6}})));
  EXPECT_TRUE(equal(to_array(hd::tensor<int>({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}, device)),
                    counting({2, 2, 2}) + Array({}, 1)));
  EXPECT_TRUE(
      equal(to_array(hd::tensor<int>({{{{1}, {2}}, {{3}, {4}}}}, device)), counting({1, 2, 2, 1}) + Array({}, 1)));
  static_assert(decltype(hd::tensor<float>({{{1}}}))::rank == 3);
  EXPECT_TRUE(equal(to_array(hd::tensor<float>({{1}, {2}}, device)), matrix({{1}, {2}})));
  EXPECT_TRUE(equal(to_array(hd::tensor<bool>({true, false}, device)), list({1, 0})));
  EXPECT_TRUE(equal(to_array(hd::tensor<hd::half>({0.5, 1.5}, device)), list({0.5, 1.5})));
  EXPECT_TRUE(equal(to_array(hd::tensor<std::int64_t>({1, -1}, device)), list({1, -1})));
  static_assert(decltype(hd::tensor<float>({{1, 2}, {3, 4}}))::rank == 2);
}

TEST(Create, from_lists_of_mixed_numbers) {
  EXPECT_TRUE(equal(to_array(hd::tensor<float>({1, 2.5, 3.5f}, device)), list({1, 2.5, 3.5})));
  EXPECT_TRUE(equal(to_array(hd::tensor<double>({{1, 2.5}, {3.5f, 4L}}, device)), matrix({{1, 2.5}, {3.5, 4}})));
}

TEST(Create, ragged_lists_are_an_error) {
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([] {
                         hd::tensor<float>({{1, 2, 3}, {4, 5}}, device);
                       }),
                       {"ragged", "3", "2"}));
  EXPECT_THROW(hd::tensor<float>({{{1, 2}, {3, 4}}, {{5, 6}}}, device), hd::ShapeError);
}

TEST(Create, from_host_copies) {
  std::vector<float> values{1, 2, 3, 4, 5, 6};
  const auto x = hd::from_host<float>(values, {2, 3}, device);
  values[0] = 99;
  EXPECT_TRUE(equal(to_array(x), matrix({{1, 2, 3}, {4, 5, 6}})));
  const std::array<int, 2> pair{7, 8};
  EXPECT_TRUE(equal(to_array(hd::from_host<int>(pair, hd::Shape<1>{2}, device)), list({7, 8})));
  EXPECT_TRUE(equal(to_array(hd::from_host<float>(std::span<const float>(), {0, 4}, device)), Array({0, 4})));
  EXPECT_EQ(hd::from_host<float>(std::span<const float>(values).first(1), {}, device).item(), 99.0f);
  EXPECT_TRUE(mentions(message_of<hd::ShapeError>([&] {
                         hd::from_host<float>(values, {2, 4}, device);
                       }),
                       {"6", "(2, 4)"}));
}

TEST(Create, from_blob_borrows) {
  float mine[6] = {0, 1, 2, 3, 4, 5};
  {
    const auto x = hd::from_blob<float>(mine, {2, 3});
    EXPECT_EQ(x.data(), mine);
    x(1, 2) = 50;
    x += 1.0f;
  }
  EXPECT_EQ(mine[0], 1.0f);
  EXPECT_EQ(mine[5], 51.0f);
  const auto transposed = hd::from_blob<float>(mine, {3, 2}, {1, 3});
  EXPECT_TRUE(equal(to_array(transposed), matrix({{1, 4}, {2, 5}, {3, 51}})));
  const auto backwards = hd::from_blob<float>(mine + 5, {6}, {-1});
  EXPECT_EQ(to_array(backwards)[0], 51.0);
  EXPECT_EQ(hd::from_blob<float>(mine + 5, {}).item(), 51.0f);
  const float constant[2] = {7, 8};
  static_assert(std::is_same_v<decltype(hd::from_blob<const float>(constant, {2})), hd::Tensor<const float, 1>>);
  EXPECT_TRUE(equal(to_array(hd::from_blob<const float>(constant, {2})), list({7, 8})));
}

TEST(Create, R006_from_blob_with_overlapping_strides_is_read_only) {
  float mine[3] = {1, 2, 3};
  EXPECT_THROW(hd::from_blob<float>(mine, {10}, {0}), hd::ShapeError);
  EXPECT_THROW(hd::from_blob<float>(mine, {2, 2}, {1, 1}), hd::ShapeError);
  EXPECT_TRUE(equal(to_array(hd::from_blob<const float>(mine, {2, 2}, {1, 1})), matrix({{1, 2}, {2, 3}})));
  EXPECT_THROW(hd::from_blob<float>(nullptr, {3}), hd::ShapeError);
}

TEST(Create, pinned_memory_is_a_cpu_tensor) {
  const auto x = hd::empty_pinned<float>({3, 4});
  static_assert(std::is_same_v<decltype(x), const hd::Tensor<float, 2, hd::Cpu>>);
  x.fill(3);
  EXPECT_TRUE(equal(to_array(x), Array({3, 4}, 3)));
  EXPECT_EQ(x.storage()->pinned, on_cuda);
  EXPECT_TRUE(equal(to_array(x.to(device)), Array({3, 4}, 3)));
}

}  // namespace
