// Which axes and which types. (Precision, extremes, NaN and nothing: ops/reduce_values_test.)
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/reduce.hpp>

#include <cmath>
#include <cstdint>

#include "harness/expect.hpp"
#include "reference/reduce.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using hd::axes;
using hd::axis;
using hd::keep_dims;
using reference::list;
using reference::List;
using reference::matrix;
using reference::reduce;

// ---- which axes: exact sums over every set of axes of every layout

template <int Rank, class... Over>
void check_sum(const Extents& shape, const reference::Axes& over, bool keep, Over... arguments) {
  for (const Layout layout : input_layouts()) {
    const auto x = exact_operand<float, 3>(shape, layout, 1);
    const Array want = reduce(reference::sum, x.values, over, keep);
    const TestTensor<float, Rank> y = hd::sum(x.tensor, arguments...);
    EXPECT_TRUE(equal(to_array(y), want)) << describe(shape, layout);
    const Output<float, Rank> output(want.shape, Layout::sliced);
    output.tensor().assign(hd::sum(x.tensor, arguments...));
    EXPECT_TRUE(equal(to_array(output.tensor()), want)) << describe(shape, layout);
    EXPECT_TRUE(output.gaps_untouched());
  }
}

TEST(ReduceAxes, every_set_of_axes) {
  for (const Extents& shape : {Extents{17, 31, 13}, Extents{5, 3, 65}, Extents{1, 129, 1}, Extents{2, 0, 3},
                               Extents{300, 2, 4}, Extents{6, 5, 72}, Extents{1, 9001, 8}, Extents{3, 35, 64}}) {
    check_sum<0>(shape, {}, false);
    check_sum<2>(shape, {0}, false, axis<0>);
    check_sum<2>(shape, {1}, false, axis<1>);
    check_sum<2>(shape, {2}, false, axis<-1>);
    check_sum<1>(shape, {0, 1}, false, axes<0, 1>);
    check_sum<1>(shape, {0, 2}, false, axes<0, 2>);
    check_sum<1>(shape, {1, 2}, false, axes<-1, 1>);
    check_sum<0>(shape, {0, 1, 2}, false, axes<0, 1, 2>);
  }
}

TEST(ReduceAxes, keep_dims) {
  const Extents shape{7, 33, 5};
  check_sum<3>(shape, {}, true, keep_dims);
  check_sum<3>(shape, {0}, true, axis<0>, keep_dims);
  check_sum<3>(shape, {2}, true, axis<2>, keep_dims);
  check_sum<3>(shape, {0, 2}, true, axes<0, 2>, keep_dims);
}

TEST(ReduceAxes, every_length) {
  for (const std::int64_t length : {1, 2, 31, 32, 33, 63, 64, 65, 127, 129, 255, 257, 1023, 1025, 4099, 70001}) {
    const auto x = to_tensor<float, 1>(integers({length}, -4, 4, 2));
    EXPECT_EQ(hd::sum(x).item(), static_cast<float>(reference::sum(to_array(x).values))) << length;
  }
  for (const Extents& shape : sample_shapes(2)) {
    const auto x = exact_operand<float, 2>(shape, Layout::contiguous, 3);
    EXPECT_TRUE(equal(value_of(hd::sum(x.tensor, axis<0>)), reduce(reference::sum, x.values, {0})));
    EXPECT_TRUE(equal(value_of(hd::sum(x.tensor, axis<1>)), reduce(reference::sum, x.values, {1})));
  }
}

TEST(ReduceAxes, of_rank_0) {
  const auto x = to_tensor<float, 0>(Array({}, 3));
  EXPECT_EQ(hd::sum(x).item(), 3.0f);
  EXPECT_EQ(hd::mean(x).item(), 3.0f);
  EXPECT_EQ(hd::argmax(x).item(), 0);
}

// ---- which types

template <class T>
struct Reduce : testing::Test {
  // Element by element, and in vectors with a rest.
  const Operand<T, 2> x = exact_operand<T, 2>({33, 17}, Layout::transposed, 4);
  const Operand<T, 2> lines = exact_operand<T, 2>({5, 1032}, Layout::contiguous, 5);
  const Operand<T, 2> line = exact_operand<T, 2>({1, 2051}, Layout::contiguous, 6);
  const Operand<T, 2> columns = exact_operand<T, 2>({1001, 24}, Layout::contiguous, 7);

  template <class Result, class Make>
  void check(Make make, double (*f)(const List&)) {
    static_assert(std::is_same_v<typename decltype(make(x.tensor, axis<0>))::value_type, Result>);
    for (const Operand<T, 2>* one : {&x, &lines, &line, &columns}) {
      EXPECT_TRUE(equal(value_of(make(one->tensor, axis<0>)), reduce(f, one->values, {0})));
      EXPECT_TRUE(equal(value_of(make(one->tensor, axis<1>)), reduce(f, one->values, {1})));
    }
  }
};
using Types = testing::Types<bool, std::int8_t, std::uint8_t, std::int64_t, hd::half, hd::bfloat16, float, double>;
TYPED_TEST_SUITE(Reduce, Types);

TYPED_TEST(Reduce, sum) {
  this->template check<hd::sum_result_t<TypeParam>>([](const auto& of, auto over) { return hd::sum(of, over); },
                                                    reference::sum);
}
TYPED_TEST(Reduce, max) {
  this->template check<TypeParam>([](const auto& of, auto over) { return hd::max(of, over); }, reference::max);
}
TYPED_TEST(Reduce, argmax) {
  this->template check<std::int64_t>([](const auto& of, auto over) { return hd::argmax(of, over); }, reference::argmax);
}
TYPED_TEST(Reduce, mean) {
  using Result = hd::float_result_t<TypeParam>;
  const Array want = reduce(reference::mean, this->x.values, {0});
  EXPECT_TRUE(close(value_of(hd::mean(this->x.tensor, axis<0>)), want,
                    tolerance::units(tolerance::precision_of<Result>(), want, 1)));
}

TEST(ReduceMore, min_and_argmin) {
  const auto x = exact_operand<std::uint8_t, 2>({33, 17}, Layout::transposed, 4);
  EXPECT_TRUE(equal(value_of(hd::min(x.tensor, axis<1>)), reduce(reference::min, x.values, {1})));
  EXPECT_TRUE(equal(value_of(hd::argmin(x.tensor, axis<0>)), reduce(reference::argmin, x.values, {0})));
  const auto y = exact_operand<float, 2>({33, 17}, Layout::sliced, 5);
  EXPECT_TRUE(equal(value_of(hd::min(y.tensor, axis<1>)), reduce(reference::min, y.values, {1})));
  EXPECT_TRUE(equal(value_of(hd::argmin(y.tensor, axis<0>)), reduce(reference::argmin, y.values, {0})));
}

TEST(ReduceMore, any_all_count_nonzero_and_prod) {
  const auto x = to_tensor<float, 2>(matrix({{0, 0, 0}, {0, NAN, 0}, {1, 2, -3}, {-0.0, 5, 5}}));
  EXPECT_TRUE(equal(value_of(hd::any(x, axis<1>)), list({0, 1, 1, 1})));
  EXPECT_TRUE(equal(value_of(hd::all(x, axis<1>)), list({0, 0, 1, 0})));
  EXPECT_TRUE(equal(value_of(hd::count_nonzero(x, axis<1>)), list({0, 1, 3, 2})));
  EXPECT_TRUE(equal(value_of(hd::prod(x, axis<1>)), list({0, NAN, -6, 0})));
  EXPECT_EQ(hd::prod(to_tensor<std::int8_t, 1>(Array({10}, 10))).item(), INT64_C(10000000000));
  static_assert(std::is_same_v<decltype(hd::any(x))::value_type, bool>);
  static_assert(std::is_same_v<decltype(hd::count_nonzero(x))::value_type, std::int64_t>);
}

}  // namespace
