#include "harness/compare.hpp"

#include <cmath>
#include <limits>

namespace heddle_test {
namespace {

testing::AssertionResult compare(const Array& got, const Array& want, const Array& allowed, bool signs_of_zeros) {
  if (got.shape != want.shape)
    return testing::AssertionFailure() << "the shape is " << reference::to_string(got.shape) << ", not "
                                       << reference::to_string(want.shape);
  std::int64_t differing = 0;
  std::int64_t worst = -1;
  double worst_difference = -1;
  for (std::int64_t i = 0; i < want.size(); ++i) {
    const bool same = got[i] == want[i] ? !signs_of_zeros || std::signbit(got[i]) == std::signbit(want[i])
                                        : std::isnan(got[i]) && std::isnan(want[i]);
    double difference = std::fabs(got[i] - want[i]);
    if (same || (difference <= allowed[i] && !(signs_of_zeros && difference == 0))) continue;
    if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
    ++differing;
    if (difference > worst_difference) {
      worst_difference = difference;
      worst = i;
    }
  }
  if (differing == 0) return testing::AssertionSuccess();
  testing::AssertionResult failure = testing::AssertionFailure();
  failure.operator<<(differing) << " of " << want.size() << " elements differ; the greatest difference is "
                                << worst_difference << " at "
                                << reference::to_string(reference::index_of(want.shape, worst));
  const auto digits = [](double value) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.17g", value);
    return std::string(text);
  };
  return failure << ": got " << digits(got[worst]) << ", want " << digits(want[worst]) << ", allowed "
                 << digits(allowed[worst]) << ", shape " << reference::to_string(want.shape);
}

}  // namespace

testing::AssertionResult close(const Array& got, const Array& want, const Array& allowed) {
  return compare(got, want, allowed, false);
}

testing::AssertionResult equal(const Array& got, const Array& want) {
  return compare(got, want, Array(want.shape), false);
}

testing::AssertionResult identical(const Array& got, const Array& want) {
  return compare(got, want, Array(want.shape), true);
}

}  // namespace heddle_test
