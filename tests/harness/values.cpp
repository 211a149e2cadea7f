#include "harness/values.hpp"

#include <random>

namespace heddle_test {

Array integers(const Extents& shape, int low, int high, unsigned seed) {
  std::mt19937 generator(seed);
  Array result(shape);
  const auto choices = static_cast<unsigned>(high - low + 1);
  for (double& value : result.values) value = low + static_cast<int>(generator() % choices);
  return result;
}

Array uniform(const Extents& shape, double low, double high, unsigned seed) {
  std::mt19937 generator(seed);
  Array result(shape);
  for (double& value : result.values) value = low + (high - low) * static_cast<double>(generator()) * 0x1p-32;
  return result;
}

const std::vector<Extents>& sample_shapes(int rank) {
  static const std::vector<std::vector<Extents>> shapes{
      {{}},
      {{0}, {1}, {2}, {7}, {8}, {9}, {31}, {33}, {63}, {65}, {127}, {129}, {1025}, {4099}},
      {{0, 3}, {3, 0}, {1, 1}, {1, 17}, {17, 1}, {17, 31}, {33, 65}, {64, 128}, {127, 129}},
      {{2, 0, 3}, {1, 1, 1}, {1, 5, 1}, {17, 31, 13}, {8, 7, 9}, {3, 1, 33}},
      {{1, 1, 1, 1}, {2, 3, 5, 7}, {0, 1, 2, 3}, {3, 8, 1, 33}},
      {{2, 3, 2, 5, 3}},
  };
  return shapes.at(static_cast<std::size_t>(rank));
}

const std::vector<Extents>& few_shapes(int rank) {
  static const std::vector<std::vector<Extents>> shapes{{{}},
                                                        {{0}, {1}, {33}, {257}},
                                                        {{3, 0}, {1, 1}, {17, 31}, {9, 64}},
                                                        {{2, 0, 3}, {7, 1, 13}, {5, 3, 33}},
                                                        {{2, 3, 5, 7}}};
  return shapes.at(static_cast<std::size_t>(rank));
}

const std::vector<ShapePair>& broadcast_patterns() {
  static const std::vector<ShapePair> pairs = [] {
    const Extents full{5, 7, 33};
    std::vector<ShapePair> all;
    // Which axes have extent 1 in a and in b, three bits each.
    for (unsigned a = 0; a < 8; ++a) {
      for (unsigned b = 0; b < 8; ++b) {
        ShapePair pair{full, full};
        for (unsigned axis = 0; axis < 3; ++axis) {
          if ((a >> axis & 1) != 0) pair.a[axis] = 1;
          if ((b >> axis & 1) != 0) pair.b[axis] = 1;
        }
        all.push_back(pair);
      }
    }
    all.push_back({{1, 1, 1}, {0, 1, 1}});
    all.push_back({{0, 7, 1}, {1, 7, 33}});
    return all;
  }();
  return pairs;
}

}  // namespace heddle_test
