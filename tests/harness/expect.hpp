// One body for every test of an operation: compute it into a new tensor and into poisoned outputs of every layout, and
// compare each with the reference.
#pragma once

#include <heddle/ops/map.hpp>

#include <string>

#include "harness/compare.hpp"
#include "harness/tensors.hpp"
#include "harness/values.hpp"
#include "reference/map.hpp"

namespace heddle_test {

/// An input: the tensor, and what is in it.
template <class T, int Rank>
struct Operand {
  TestTensor<T, Rank> tensor;
  Array values;

  Operand(const Array& wanted, Layout layout) : tensor(to_tensor<T, Rank>(wanted, layout)), values(to_array(tensor)) {}
};

/// Small integers, at most 4 in size, not negative where T has no sign.
template <class T, int Rank>
Operand<T, Rank> exact_operand(const Extents& shape, Layout layout, unsigned seed) {
  constexpr bool is_signed = hd::kind_of<T> == hd::kind::floating || std::is_signed_v<T>;
  constexpr int high = std::is_same_v<T, bool> ? 1 : 4;
  return {integers(shape, is_signed ? -high : 0, high, seed), layout};
}

template <class T, int Rank>
Operand<T, Rank> real_operand(const Extents& shape, double low, double high, Layout layout, unsigned seed) {
  return {uniform(shape, low, high, seed), layout};
}

/// The value of a tensor or a formula.
template <hd::Expression E>
Array value_of(E&& e) {
  return to_array(hd::eval(std::forward<E>(e)));
}

/// `make()` gives the formula, as often as it is called.
template <class T, int Rank, class Make>
void expect_close(Make make, const Array& want, const Array& allowed, const std::string& what = "") {
  SCOPED_TRACE(what);
  {
    const TestTensor<T, Rank> fresh = make();
    EXPECT_TRUE(close(to_array(fresh), want, allowed)) << "into a new tensor";
  }
  for (const Layout layout : output_layouts()) {
    const Output<T, Rank> output(want.shape, layout);
    output.tensor().assign(make());
    EXPECT_TRUE(close(to_array(output.tensor()), want, allowed)) << "into an output that is " << name_of(layout);
    EXPECT_TRUE(output.gaps_untouched()) << "into an output that is " << name_of(layout);
    if (Rank == 0) break;
  }
}
template <class T, int Rank, class Make>
void expect_equal(Make make, const Array& want, const std::string& what = "") {
  expect_close<T, Rank>(make, want, Array(want.shape), what);
}

/// "shape (2, 3), transposed": where a failure happened.
inline std::string describe(const Extents& shape, Layout layout) {
  return "shape " + reference::to_string(shape) + ", " + name_of(layout);
}

/// The text of the exception that f throws, which must be an E; "" and a failure where it throws none.
template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return "";
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

/// Succeeds if `text` contains each of the parts.
inline testing::AssertionResult mentions(const std::string& text, std::initializer_list<const char*> parts) {
  for (const char* part : parts)
    if (text.find(part) == std::string::npos)
      return testing::AssertionFailure() << '"' << text << "\" does not contain \"" << part << '"';
  return testing::AssertionSuccess();
}

}  // namespace heddle_test
