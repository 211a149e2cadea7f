// Expected texts are what NumPy 2.4 prints.
#include <heddle/io/print.hpp>
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/reduce.hpp>

#include <cmath>
#include <sstream>
#include <string>

#include "harness/expect.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;
using reference::counting;
using reference::list;
using reference::matrix;

template <class X>
std::string text_of(X&& x) {
  std::ostringstream stream;
  stream << std::forward<X>(x);
  return stream.str();
}
template <class T, int Rank>
std::string text_of_values(const Array& values, Layout layout = Layout::contiguous) {
  return text_of(to_tensor<T, Rank>(values, layout));
}

TEST(Print, floats) {
  EXPECT_EQ((text_of_values<float, 1>(list({1, 2, 3}))), "[1. 2. 3.]");
  EXPECT_EQ((text_of_values<float, 2>(matrix({{1, 2.5}, {-3, 100}}))), "[[  1.    2.5]\n [ -3.  100. ]]");
  EXPECT_EQ((text_of_values<float, 1>(list({0.1, 0.25}))), "[0.1  0.25]");
  EXPECT_EQ((text_of_values<float, 1>(list({1.0 / 3, 2.0 / 3}))), "[0.33333334 0.6666667 ]");
  EXPECT_EQ((text_of_values<double, 1>(list({1.0 / 3, 2.0 / 3}))), "[0.33333333 0.66666667]");
  EXPECT_EQ((text_of_values<float, 1>(list({0.112500004, 0.2125}))), "[0.1125 0.2125]");
  EXPECT_EQ((text_of_values<float, 1>(list({-0.013522904, 0.145}))), "[-0.0135229  0.145    ]");
  EXPECT_EQ((text_of_values<double, 1>(list({1.0 / 3, 0.1 + 1e-13}))), "[0.33333333 0.1       ]");
  EXPECT_EQ((text_of_values<double, 1>(list({1.50000000000001e-5, 2.25e5}))), "[1.50e-05 2.25e+05]");
  EXPECT_EQ((text_of_values<hd::half, 1>(list({0.1}))), "[0.1]");
  EXPECT_EQ((text_of_values<hd::bfloat16, 1>(list({1.5}))), "[1.5]");
  EXPECT_EQ((text_of_values<float, 1>(list({-0.0, 0.0}))), "[-0.  0.]");
}

TEST(Print, floats_of_very_different_size) {
  EXPECT_EQ((text_of_values<float, 1>(list({1e-5, 1}))), "[1.e-05 1.e+00]");
  EXPECT_EQ((text_of_values<float, 1>(list({1e10, 1}))), "[1.e+10 1.e+00]");
  EXPECT_EQ((text_of_values<float, 1>(list({1e-3, 999}))), "[1.00e-03 9.99e+02]");
  EXPECT_EQ((text_of_values<float, 1>(list({1.5e-10, 3e-10}))), "[1.5e-10 3.0e-10]");
}

TEST(Print, special_values) {
  EXPECT_EQ((text_of_values<float, 1>(list({NAN, INFINITY, -INFINITY, 1.5}))), "[ nan  inf -inf  1.5]");
}

TEST(Print, integers_and_bool) {
  EXPECT_EQ((text_of_values<std::int8_t, 2>(matrix({{1, -20}, {30, 4}}))), "[[  1 -20]\n [ 30   4]]");
  EXPECT_EQ((text_of_values<std::uint8_t, 1>(list({255}))), "[255]");
  EXPECT_EQ((text_of_values<std::uint64_t, 1>(list({0x1p63}))), "[9223372036854775808]");
  EXPECT_EQ((text_of_values<std::int64_t, 1>(list({-0x1p63}))), "[-9223372036854775808]");
  EXPECT_EQ((text_of_values<bool, 1>(list({1, 0}))), "[ True False]");
  EXPECT_EQ((text_of_values<bool, 2>(matrix({{1}, {0}}))), "[[ True]\n [False]]");
}

TEST(Print, rank_0) {
  EXPECT_EQ((text_of_values<int, 0>(Array({}, 7))), "7");
  EXPECT_EQ((text_of_values<float, 0>(Array({}, 2.5))), "2.5");
  EXPECT_EQ((text_of_values<float, 0>(Array({}, 3))), "3.0");
  EXPECT_EQ((text_of_values<bool, 0>(Array({}, 1))), "True");
}

TEST(Print, without_elements) {
  EXPECT_EQ((text_of_values<float, 1>(Array({0}))), "[]");
  EXPECT_EQ((text_of_values<float, 3>(Array({2, 0, 3}))), "[]");
}

TEST(Print, higher_ranks) {
  const char* const want =
      "[[[ 0  1  2  3]\n  [ 4  5  6  7]\n  [ 8  9 10 11]]\n\n [[12 13 14 15]\n  [16 17 18 19]\n  [20 21 22 23]]]";
  for (const Layout layout : output_layouts())
    EXPECT_EQ((text_of_values<int, 3>(counting({2, 3, 4}), layout)), want) << name_of(layout);
}

TEST(Print, long_tensors_are_summarised) {
  EXPECT_EQ((text_of_values<int, 1>(counting({2000}))), "[   0    1    2 ... 1997 1998 1999]");
  const std::string want =
      "[[   0    1    2 ...    5    6    7]\n [   8    9   10 ...   13   14   15]\n [  16   17   18 ...   21   22   "
      "23]\n"
      " ...\n [7984 7985 7986 ... 7989 7990 7991]\n [7992 7993 7994 ... 7997 7998 7999]\n"
      " [8000 8001 8002 ... 8005 8006 8007]]";
  EXPECT_EQ((text_of_values<int, 2>(counting({1001, 8}))), want);
  EXPECT_EQ((text_of_values<int, 2>(counting({1001, 8}), Layout::transposed)), want);
}

TEST(Print, formulas) {
  const auto x = to_tensor<float, 1>(list({1, 2, 3}));
  EXPECT_EQ(text_of(x * 2.0f), "[2. 4. 6.]");
  EXPECT_EQ(text_of(hd::sum(x)), "6.0");
  std::ostringstream several;
  several << x << '\n' << (x + 1.0f) << " end";
  EXPECT_EQ(several.str(), "[1. 2. 3.]\n[2. 3. 4.] end");
}

TEST(Print, reaches_any_ostream_and_hides_no_shift) {
  std::ostringstream text;
  std::ostream& stream = text;
  stream << to_tensor<int, 1>(list({1, 2}));
  EXPECT_EQ(text.str(), "[1 2]");
}

}  // namespace
