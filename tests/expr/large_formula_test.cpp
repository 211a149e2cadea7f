// Formulas of many operands: more than fit into a kernel's parameters are split, and the values stay right.
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>

#include <utility>
#include <vector>

#include "harness/expect.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::counting;

/// x[0] + y[0] + x[1] + y[1] + … of 2 * Pairs operands.
template <int Pairs, class X, class Y>
auto chain(const std::vector<X>& x, const std::vector<Y>& y) {
  if constexpr (Pairs == 1)
    return x[0] + y[0];
  else
    return chain<Pairs - 1>(x, y) + x[Pairs - 1] + y[Pairs - 1];
}

TEST(LargeFormula, R163_forty_six_operands_twice) {
  std::vector<TestTensor<float, 2>> x;
  std::vector<TestTensor<float, 1>> y;
  for (int i = 0; i < 23; ++i) {
    x.push_back(hd::ones<float>({10, 10}, test_device()));
    y.push_back(hd::ones<float>({10}, test_device()));
  }
  EXPECT_TRUE(equal(value_of(chain<23>(x, y)), Array({10, 10}, 46)));
  EXPECT_TRUE(equal(value_of(chain<23>(x, y) + chain<23>(x, y)), Array({10, 10}, 92)));
}

TEST(LargeFormula, every_operand_counts) {
  std::vector<TestTensor<float, 2>> x;
  std::vector<TestTensor<float, 1>> y;
  Array want({5, 7}, 0);
  for (int i = 0; i < 17; ++i) {
    const Array a = integers({5, 7}, -4, 4, static_cast<unsigned>(i)),
                b = integers({7}, -4, 4, static_cast<unsigned>(100 + i));
    x.push_back(to_tensor<float, 2>(a, input_layouts()[static_cast<std::size_t>(i % 7)]));
    y.push_back(to_tensor<float, 1>(b));
    want = want + a + b;
  }
  EXPECT_TRUE(equal(value_of(chain<17>(x, y)), want));
}

TEST(LargeFormula, of_eight_axes) {
  const Extents shape{2, 1, 3, 2, 1, 2, 3, 2};
  const auto a = exact_operand<float, 8>(shape, Layout::transposed, 1);
  const auto b = exact_operand<float, 8>(shape, Layout::reversed, 2);
  const auto c = exact_operand<float, 8>(shape, Layout::broadcast, 3);
  expect_equal<float, 8>([&] { return a.tensor * b.tensor + c.tensor; }, a.values * b.values + c.values);
}

TEST(LargeFormula, one_tensor_many_times) {
  const auto x = to_tensor<float, 1>(counting({33}));
  const auto four = x + x + x + x;
  const auto sixteen = four + four + four + four;
  EXPECT_TRUE(equal(value_of(sixteen + sixteen), counting({33}) * Array({}, 32)));
}

}  // namespace
