// R199: two shared libraries, compiled for different architectures, in one program.
#include <heddle/core/error.hpp>
#include <iostream>

float first_sum();
float second_sum();
void first_throw();
void second_throw();

template <class F>
bool throws_shape_error(F f) {
  try {
    f();
  } catch (const heddle::ShapeError&) {
    return true;
  }
  return false;
}

int main() {
  const float sums[] = {first_sum(), second_sum(), first_sum()};
  for (const float sum : sums) {
    std::cout << sum << '\n';
    if (sum != 1000.0f) {
      return 1;
    }
  }
  return throws_shape_error(first_throw) && throws_shape_error(second_throw) ? 0 : 1;
}
