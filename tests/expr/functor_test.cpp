// User functors: structs at namespace scope, fused like the library's own functions.
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/map.hpp>
#include <heddle/ops/matmul.hpp>
#include <heddle/ops/reduce.hpp>

#include <cstdint>
#include <type_traits>

#include "harness/expect.hpp"
#include "reference/matmul.hpp"

namespace functors {

struct Twice {
  HEDDLE_HOST_DEVICE float operator()(float x) const { return 2 * x; }
};
struct Axpy {
  float factor;
  HEDDLE_HOST_DEVICE float operator()(float x, float y) const { return factor * x + y; }
};
struct Square {
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T x) const {
    return x * x;
  }
};
struct IsEven {
  HEDDLE_HOST_DEVICE bool operator()(std::int32_t x) const { return x % 2 == 0; }
};
struct Select {
  HEDDLE_HOST_DEVICE double operator()(bool first, double x, float y, std::int64_t z, int w) const {
    return first ? x + w : static_cast<double>(y) + static_cast<double>(z);
  }
};
struct Table {
  float values[16];
  HEDDLE_HOST_DEVICE float operator()(std::uint8_t i) const { return values[i & 15]; }
};

}  // namespace functors

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::counting;
using reference::list;
using reference::map;

TEST(Functor, of_one_operand) {
  for (const Layout layout : input_layouts()) {
    const auto x = exact_operand<float, 2>({17, 33}, layout, 1);
    expect_equal<float, 2>([&] { return hd::map(functors::Twice{}, x.tensor); }, x.values + x.values, name_of(layout));
  }
}

TEST(Functor, with_a_state_and_a_broadcast_operand) {
  const auto x = exact_operand<float, 2>({17, 33}, Layout::transposed, 2);
  const auto y = exact_operand<float, 1>({33}, Layout::contiguous, 3);
  expect_equal<float, 2>([&] { return hd::map(functors::Axpy{3}, x.tensor, y.tensor); },
                         Array({}, 3) * x.values + y.values);
  expect_equal<float, 2>([&] { return hd::map(functors::Axpy{-1}, x.tensor, 5.0f); }, Array({}, 5) - x.values);
}

TEST(Functor, the_result_has_the_type_that_the_call_returns) {
  const auto x = to_tensor<std::int32_t, 1>(counting({5}));
  static_assert(std::is_same_v<decltype(hd::map(functors::IsEven{}, x))::value_type, bool>);
  EXPECT_TRUE(equal(value_of(hd::map(functors::IsEven{}, x)), list({1, 0, 1, 0, 1})));
  static_assert(std::is_same_v<decltype(hd::map(functors::Square{}, x))::value_type, std::int32_t>);
  EXPECT_TRUE(equal(value_of(hd::map(functors::Square{}, x)), list({0, 1, 4, 9, 16})));
}

TEST(Functor, sixteen_bit_floats_come_as_float) {
  const auto x = to_tensor<hd::half, 1>(list({300, -2}));
  static_assert(std::is_same_v<decltype(hd::map(functors::Square{}, x))::value_type, float>);
  EXPECT_TRUE(equal(value_of(hd::map(functors::Square{}, x)), list({90000, 4})));
}

TEST(Functor, of_five_operands_of_different_types) {
  const auto c = to_tensor<bool, 1>(list({1, 0, 1}));
  const auto x = to_tensor<double, 1>(list({0.5, 1.5, 2.5}));
  const auto y = to_tensor<float, 1>(list({10, 20, 30}));
  const auto z = to_tensor<std::int64_t, 1>(list({100, 200, 300}));
  EXPECT_TRUE(equal(value_of(hd::map(functors::Select{}, c, x, y, z, 7)), list({7.5, 220, 9.5})));
}

TEST(Functor, carries_a_table) {
  functors::Table table;
  for (int i = 0; i < 16; ++i) table.values[i] = static_cast<float>(100 - i);
  const auto x = to_tensor<std::uint8_t, 1>(list({0, 3, 15}));
  EXPECT_TRUE(equal(value_of(hd::map(table, x)), list({100, 97, 85})));
}

TEST(Functor, fuses_with_the_rest) {
  const auto x = exact_operand<float, 2>({17, 9}, Layout::contiguous, 4);
  const auto w = exact_operand<float, 2>({9, 13}, Layout::contiguous, 5);
  const Array doubled = x.values + x.values;
  EXPECT_TRUE(
      equal(value_of(hd::map(functors::Twice{}, x.tensor - 1.0f) * x.tensor), (doubled - Array({}, 2)) * x.values));
  EXPECT_TRUE(equal(value_of(hd::map(functors::Twice{}, hd::matmul(x.tensor, w.tensor))),
                    reference::matmul(doubled, w.values)));
  EXPECT_EQ(hd::sum(hd::map(functors::Square{}, x.tensor)).item(), static_cast<float>([&] {
              double total = 0;
              for (const double v : x.values.values) total += v * v;
              return total;
            }()));
}

#if !HEDDLE_TEST_DEVICE_CUDA
TEST(Functor, lambdas_and_local_structs_serve_on_the_cpu) {
  const auto x = to_tensor<float, 1>(counting({100}));
  const float offset = 3;
  EXPECT_TRUE(equal(value_of(hd::map([offset](float v) { return v + offset; }, x)), counting({100}) + Array({}, 3)));
  struct Local {
    float operator()(float v) const { return -v; }
  };
  EXPECT_TRUE(equal(value_of(hd::map(Local{}, x)), Array({}, 0) - counting({100})));
}
#endif

}  // namespace
