// Mean and spread in one pass, for the kernels of every device.
#pragma once

#include <type_traits>

#include "heddle/config.hpp"

namespace heddle {
inline namespace HEDDLE_BUILD {

/// How many numbers there are, and what is known of their distribution: `sum` is of the distances from `shift`, the
/// first number, `squares` of the squared distances from their mean. Youngs and Cramer's update, Chan's combination
/// ("Updating Formulae and a Pairwise Algorithm for Computing Sample Variances", 1979). Distances are taken from the
/// first number, so that a mean far from 0 costs no digits.
template <class Real>
struct moments {
  Real shift, sum, squares, count;

  HEDDLE_HOST_DEVICE void add(Real x) {
    shift = count == Real{0} ? x : shift;
    const Real distance = x - shift;
    const Real before = count;
    count += Real{1};
    sum += distance;
    const Real error = count * distance - sum;
    squares += quotient(error * error, count * (before > Real{0} ? before : Real{1}));
  }
  HEDDLE_HOST_DEVICE void combine(const moments& right) {
    if (right.count == Real{0}) return;
    if (count == Real{0}) {
      *this = right;
      return;
    }
    const Real apart = right.shift - shift;
    const Real all = count + right.count;
    const Real between = apart + right.sum / right.count - sum / count;
    squares += right.squares + between * between * count * (right.count / all);
    sum += right.sum + apart * right.count;
    count = all;
  }

 private:
  /// A quotient that need not be rounded correctly.
  static HEDDLE_HOST_DEVICE Real quotient(Real x, Real y) {
#if defined(__CUDA_ARCH__)
    if constexpr (std::is_same_v<Real, float>) return __fdividef(x, y);
#endif
    return x / y;
  }
};

/// As moments, for reductions, which add short runs of numbers and combine what they get: cheaper to add to, since
/// squares are of the distances from `shift`. It is the first number of a run (so that a run's squares exceed those
/// from its mean by no more than its length), and from the first combination on the mean of all, as near as it gets.
template <class Real>
struct shifted_moments {
  Real shift, sum, squares, count;

  HEDDLE_HOST_DEVICE void add(Real x) {
    shift = count == Real{0} ? x : shift;
    const Real distance = x - shift;
    count += Real{1};
    sum += distance;
    squares += distance * distance;
  }
  HEDDLE_HOST_DEVICE void combine(const shifted_moments& right) {
    if (right.count == Real{0}) return;
    if (count == Real{0}) {
      *this = right;
      return;
    }
    const Real all = count + right.count, share = right.count / all;
    const Real left_mean = sum / count, right_mean = right.sum / right.count;
    const Real between = (right.shift - shift) + (right_mean - left_mean);
    squares =
        (squares - sum * left_mean) + (right.squares - right.sum * right_mean) + between * between * count * share;
    const Real mean = left_mean + between * share;
    const Real center = shift + mean;
    const Real rest = mean - (center - shift);
    shift = center;
    sum = rest * all;
    squares += rest * sum;
    count = all;
  }
  /// The sum of the squared distances from the mean.
  HEDDLE_HOST_DEVICE Real spread() const { return count == Real{0} ? Real{0} : squares - sum * (sum / count); }
};

}  // namespace HEDDLE_BUILD
}  // namespace heddle
