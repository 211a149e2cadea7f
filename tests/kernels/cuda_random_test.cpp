// The CUDA random number kernel by itself, against the generator computed on the host.
#include "heddle/kernels/cuda/random.cuh"

#include <cmath>

#include "kernels/cuda_arrays.hpp"

namespace {

using namespace heddle_test;
namespace on_cuda = heddle::on_cuda;

constexpr std::uint64_t seed = 0x123456789abcdef0, offset = (std::uint64_t{1} << 40) + 3;

template <class T>
constexpr std::uint64_t group_width = sizeof(T) == 8 ? 2 : 4;

template <class T>
T uniform_on_host(std::uint64_t i) {
  const heddle::philox_words bits = heddle::philox4x32(i / group_width<T>, offset, seed);
  if constexpr (sizeof(T) == 8) {
    return heddle::philox_uniform<T>(heddle::philox_join(bits.word[i % 2 * 2], bits.word[i % 2 * 2 + 1]));
  } else {
    return heddle::philox_uniform<T>(bits.word[i % 4]);
  }
}

template <class T>
double normal_on_host(std::uint64_t i) {
  const heddle::philox_words bits = heddle::philox4x32(i / group_width<T>, offset, seed);
  double radius = 0, turn = 0;
  if constexpr (sizeof(T) == 8) {
    radius = heddle::philox_radius(heddle::philox_join(bits.word[0], bits.word[1]));
    turn = heddle::philox_turn(heddle::philox_join(bits.word[2], bits.word[3]));
  } else {
    radius = static_cast<double>(heddle::philox_radius(bits.word[i % 4 / 2 * 2]));
    turn = static_cast<double>(heddle::philox_turn(bits.word[i % 4 / 2 * 2 + 1]));
  }
  const double length = std::sqrt(-2 * std::log(radius)), angle = 2 * 3.14159265358979323846 * turn;
  return length * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

template <class T>
class CudaRandom : public testing::Test {};
using Types = testing::Types<float, double, heddle::half, heddle::bfloat16>;
TYPED_TEST_SUITE(CudaRandom, Types);

// Every length around a group, and every alignment of the first element; what lies around stays as it was.
TYPED_TEST(CudaRandom, UniformHasTheHostsBits) {
  using T = TypeParam;
  for (const index_t first : {0, 1, 2, 3, 5}) {
    for (const index_t count : {1, 2, 3, 4, 5, 7, 8, 9, 1023, 1024, 1025, 5003}) {
      const DeviceArray<T> array(first + count + 3);
      const std::vector<T> before = array.to_vector();
      on_cuda::fill_uniform(array.data() + first, count, seed, offset, on_cuda::current_context(0));
      std::vector<T> expected = before;
      for (index_t i = 0; i < count; ++i) {
        expected[static_cast<std::size_t>(first + i)] = uniform_on_host<T>(static_cast<std::uint64_t>(i));
      }
      EXPECT_TRUE(same_bits(array.to_vector(), expected)) << first << ", " << count;
    }
  }
}

TYPED_TEST(CudaRandom, NormalIsTheHostsButForRounding) {
  using T = TypeParam;
  const index_t count = 4099;
  const DeviceArray<T> array(count);
  on_cuda::fill_normal(array.data(), count, seed, offset, on_cuda::current_context(0));
  const double unit = sizeof(T) == 8                    ? 0x1p-52
                      : sizeof(T) == 4                  ? 0x1p-23
                      : std::is_same_v<T, heddle::half> ? 0x1p-10
                                                        : 0x1p-7;
  const std::vector<T> values = array.to_vector();
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = static_cast<double>(values[i]), expected = normal_on_host<T>(i);
    ASSERT_NEAR(value, expected, 8 * unit) << i;
    sum += value, squares += value * value;
  }
  EXPECT_NEAR(sum / count, 0, 0.06);
  EXPECT_NEAR(squares / count, 1, 0.08);
}

TEST(CudaRandomRange, ManyNumbersStayBelowOne) {
  const index_t count = 1 << 20;
  const DeviceArray<float> array(count);
  on_cuda::fill_uniform(array.data(), count, seed, 0, on_cuda::current_context(0));
  double sum = 0;
  for (const float x : array.to_vector()) {
    ASSERT_TRUE(x >= 0 && x < 1) << x;
    sum += static_cast<double>(x);
  }
  EXPECT_NEAR(sum / count, 0.5, 0.002);
}

TEST(CudaRandomRange, NothingIsLaunchedForNothing) {
  on_cuda::fill_uniform(static_cast<float*>(nullptr), 0, seed, offset, on_cuda::current_context(0));
}

}  // namespace
