// What every map goes through, tested by the simplest of them: layouts, sizes, alignments, types.
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/map.hpp>

#include "harness/expect.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using hd::range;
using reference::counting;
using reference::list;

template <class T>
struct Map : testing::Test {};
using Types =
    testing::Types<bool, std::int8_t, std::uint16_t, std::int32_t, std::int64_t, hd::half, hd::bfloat16, float, double>;
TYPED_TEST_SUITE(Map, Types);

TYPED_TEST(Map, copies_every_shape_from_and_to_every_layout) {
  for (const Extents& shape : few_shapes(3)) {
    for (const Layout layout : input_layouts()) {
      const auto x = exact_operand<TypeParam, 3>(shape, layout, 1);
      expect_equal<TypeParam, 3>([&] { return hd::cast<TypeParam>(x.tensor); }, x.values, describe(shape, layout));
    }
  }
}

// A kernel reads and writes up to 16 bytes at once, where both sides are aligned; the ends are not.
TYPED_TEST(Map, R164_every_offset_and_length) {
  const Array values = exact_operand<TypeParam, 1>({80}, Layout::contiguous, 2).values;
  const auto x = to_tensor<TypeParam, 1>(values);
  for (std::int64_t from = 0; from < 8; ++from) {
    for (const std::int64_t to : {0, 1, 3, 7}) {
      for (const std::int64_t length : {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 64}) {
        const Output<TypeParam, 1> output({80}, Layout::contiguous);
        output.tensor()(range(to, to + length)).assign(hd::cast<TypeParam>(x(range(from, from + length))));
        const Array got = to_array(output.tensor());
        for (std::int64_t i = 0; i < length; ++i)
          ASSERT_EQ(got[to + i], values[from + i])
              << length << " elements from " << from << " to " << to << ", element " << i;
        const Array untouched = to_array(Output<TypeParam, 1>({1}, Layout::contiguous).tensor());
        for (std::int64_t i = 0; i < 80; ++i) {
          if (i >= to && i < to + length) continue;
          ASSERT_TRUE(equal(Array({1}, reference::List{got[i]}), untouched))
              << length << " elements from " << from << " to " << to << " wrote element " << i;
        }
      }
    }
  }
}

#if !HEDDLE_TEST_DEVICE_CUDA
// The CPU writes large outputs around its caches, whole cache lines at a time.
TEST(MapShapes, of_many_elements) {
  constexpr std::int64_t count = (1 << 23) + 21;
  const hd::Tensor<float, 1> x = hd::cast<float>(hd::arange<std::int32_t>(count, hd::cpu));
  auto y = hd::zeros<float>({count + 1}, hd::cpu);
  for (const std::int64_t from : {0, 1}) {  // aligned and not
    y(range(from, from + count)).assign(x + 1.0f);
    for (std::int64_t i = 0; i < count; ++i) ASSERT_EQ(y.data()[from + i], static_cast<float>(i + 1)) << i;
  }
  EXPECT_EQ(y.data()[0], 1);  // what stood before the second
}
#endif

TEST(MapShapes, of_every_rank) {
  const auto check = [](auto rank, const Extents& shape) {
    constexpr int Rank = decltype(rank)::value;
    for (const Layout layout : input_layouts()) {
      const auto x = exact_operand<float, Rank>(shape, layout, 3);
      expect_equal<float, Rank>([&] { return x.tensor + 1.0f; }, x.values + Array({}, 1), describe(shape, layout));
    }
  };
  for (const Extents& shape : sample_shapes(0)) check(std::integral_constant<int, 0>(), shape);
  for (const Extents& shape : sample_shapes(1)) check(std::integral_constant<int, 1>(), shape);
  for (const Extents& shape : sample_shapes(2)) check(std::integral_constant<int, 2>(), shape);
  for (const Extents& shape : sample_shapes(4)) check(std::integral_constant<int, 4>(), shape);
  for (const Extents& shape : sample_shapes(5)) check(std::integral_constant<int, 5>(), shape);
}

TEST(MapShapes, two_operands_of_different_layouts) {
  for (const Layout left : input_layouts()) {
    for (const Layout right : input_layouts()) {
      const auto a = exact_operand<float, 3>({5, 7, 33}, left, 4);
      const auto b = exact_operand<float, 3>({5, 7, 33}, right, 5);
      expect_equal<float, 3>([&] { return a.tensor + b.tensor; }, a.values + b.values,
                             std::string(name_of(left)) + " and " + name_of(right));
    }
  }
}

TEST(MapShapes, more_elements_than_one_thread_or_block_takes) {
  const Array values = integers({300, 1001}, -4, 4, 6);
  const auto x = to_tensor<float, 2>(values);
  EXPECT_TRUE(equal(value_of(x + x.transpose().transpose()), values + values));
  EXPECT_TRUE(equal(value_of(x.transpose() * 2.0f), reference::transpose(values + values)));
}

TEST(MapShapes, R155_permutations_of_a_long_axis) {
  const Array values = counting({7000, 4, 9});
  const auto x = to_tensor<float, 3>(values);
  EXPECT_TRUE(equal(value_of(x.permute(hd::axes<2, 0, 1>) + 0.0f), reference::permute(values, {2, 0, 1})));
  EXPECT_TRUE(equal(to_array(x.permute(hd::axes<1, 2, 0>).contiguous()), reference::permute(values, {1, 2, 0})));
}

TEST(MapShapes, evaluates_without_elements) {
  const auto x = to_tensor<float, 2>(Array({0, 5}));
  EXPECT_EQ(hd::eval(x + 1.0f).shape(), (hd::Shape<2>{0, 5}));
  x += 1.0f;
}

TEST(MapShapes, eval_of_a_formula_and_of_a_tensor) {
  const auto x = to_tensor<float, 1>(list({1, 2}));
  auto formula = x + 1.0f;
  static_assert(decltype(formula)::rank == 1);
  static_assert(std::is_same_v<decltype(formula)::value_type, float>);
  static_assert(std::is_same_v<decltype(formula)::device_type, TestDevice>);
  EXPECT_EQ(formula.shape(), (hd::Shape<1>{2}));
  EXPECT_TRUE(equal(to_array(formula.eval()), list({2, 3})));
  // A formula of maps may be used again, and sees what the tensor then holds.
  x.fill(5);
  EXPECT_TRUE(equal(to_array(hd::eval(formula * formula)), list({36, 36})));
}

}  // namespace
