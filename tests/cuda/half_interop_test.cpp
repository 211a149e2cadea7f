#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "cuda/on_device.cuh"
#include "heddle/core/half.hpp"

namespace {

// cuda_fp16.h has a global name `half`.
template <class T>
struct Pair;
template <>
struct Pair<heddle::half> {
  using cuda_type = __half;
  static constexpr std::uint16_t infinity = 0x7c00;
  __host__ __device__ static __half from_float(float value) { return __float2half_rn(value); }
  __host__ __device__ static float to_float(__half value) { return __half2float(value); }
};
template <>
struct Pair<heddle::bfloat16> {
  using cuda_type = __nv_bfloat16;
  static constexpr std::uint16_t infinity = 0x7f80;
  __host__ __device__ static __nv_bfloat16 from_float(float value) { return __float2bfloat16_rn(value); }
  __host__ __device__ static float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }
};
template <class T>
using cuda_type = typename Pair<T>::cuda_type;

template <class T>
__host__ __device__ std::uint16_t cuda_bits(cuda_type<T> value) {
  std::uint16_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
template <class T>
__host__ __device__ cuda_type<T> cuda_from_bits(std::uint16_t bits) {
  cuda_type<T> value;
  memcpy(&value, &bits, sizeof bits);
  return value;
}

// The functions that run on both sides.
template <class T>
struct ToCudaType {
  __host__ __device__ std::uint16_t operator()(std::uint16_t bits) const {
    return cuda_bits<T>(static_cast<cuda_type<T>>(T::from_bits(bits)));
  }
};
template <class T>
struct FromCudaType {
  __host__ __device__ std::uint16_t operator()(std::uint16_t bits) const {
    const T value = cuda_from_bits<T>(bits);
    return value.bits();
  }
};
template <class T>
struct Widen {
  __host__ __device__ float operator()(std::uint16_t bits) const { return T::from_bits(bits); }
};
template <class T>
struct CudaWiden {
  __host__ __device__ float operator()(std::uint16_t bits) const { return Pair<T>::to_float(cuda_from_bits<T>(bits)); }
};
template <class T>
struct Round {
  template <class Number>
  __host__ __device__ std::uint16_t operator()(Number value) const {
    return T(value).bits();
  }
};
template <class T>
struct CudaRound {
  __host__ __device__ std::uint16_t operator()(float value) const { return cuda_bits<T>(Pair<T>::from_float(value)); }
};
template <class T>
struct Accumulate {
  __host__ __device__ std::uint16_t operator()(float value) const {
    T result(1.5f);
    result += value;
    result *= value;
    result -= 0.25f;
    result /= T(3);
    return result.bits();
  }
};

std::vector<std::uint16_t> all_patterns() {
  std::vector<std::uint16_t> patterns(0x10000);
  for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<std::uint16_t>(i);
  return patterns;
}

// Every 16-bit upper half of a float with lower halves that lie at, next to and far from the points of rounding.
std::vector<float> sample_floats() {
  std::vector<float> values;
  std::mt19937 random(7);
  for (std::uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const std::uint32_t lower : {0x0000U, 0x0001U, 0x0fffU, 0x1000U, 0x1001U, 0x7fffU, 0x8000U, 0x8001U,
                                      static_cast<std::uint32_t>(random()) & 0xffffU}) {
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  }
  return values;
}

template <class T>
class HalfInteropTest : public testing::Test {
 public:
  // Bit for bit, but that every NaN is as good as another.
  static void expect_same(const std::vector<std::uint16_t>& actual, const std::vector<std::uint16_t>& expected) {
    const auto is_nan = [](std::uint16_t bits) { return (bits & 0x7fff) > Pair<T>::infinity; };
    for (std::size_t i = 0; i < actual.size(); ++i) {
      if (is_nan(actual[i]) && is_nan(expected[i])) continue;
      ASSERT_EQ(actual[i], expected[i]) << "input " << i;
    }
  }
  static void expect_same(const std::vector<float>& actual, const std::vector<float>& expected) {
    for (std::size_t i = 0; i < actual.size(); ++i) {
      if (std::isnan(actual[i]) && std::isnan(expected[i])) continue;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(actual[i]), std::bit_cast<std::uint32_t>(expected[i])) << "input " << i;
    }
  }
};
using Types = testing::Types<heddle::half, heddle::bfloat16>;
TYPED_TEST_SUITE(HalfInteropTest, Types, );

template <class T>
constexpr bool same_layout = sizeof(T) == sizeof(cuda_type<T>) &&
                             alignof(T) == alignof(cuda_type<T>) && std::is_trivially_copyable_v<cuda_type<T>>;
static_assert(same_layout<heddle::half> && same_layout<heddle::bfloat16>);
static_assert(std::is_convertible_v<__half, heddle::half> && std::is_constructible_v<__half, heddle::half>);
static_assert(std::is_convertible_v<__nv_bfloat16, heddle::bfloat16>);
static_assert(std::is_constructible_v<__nv_bfloat16, heddle::bfloat16>);
static_assert(!std::is_convertible_v<__nv_bfloat16, heddle::half> && !std::is_convertible_v<__half, heddle::bfloat16>);

TYPED_TEST(HalfInteropTest, ArithmeticIsFloatBesideCudaHeaders) {
  const TypeParam x(3);
  const TypeParam y(0.5f);
  static_assert(std::is_same_v<decltype(x * y), float> && std::is_same_v<decltype(-x), float>);
  static_assert(std::is_same_v<decltype(x * 2.0f), float> && std::is_same_v<decltype(x < y), bool>);
  EXPECT_EQ(x * y + 1.0f, 2.5f);
  EXPECT_TRUE(x > y && x != y && -x < 0);
}

TYPED_TEST(HalfInteropTest, BitsSurviveBothWays) {
  const std::vector<std::uint16_t> patterns = all_patterns();
  EXPECT_EQ(apply_on_host<ToCudaType<TypeParam>>(patterns), patterns);
  EXPECT_EQ(apply_on_host<FromCudaType<TypeParam>>(patterns), patterns);
  EXPECT_EQ(apply_on_device<ToCudaType<TypeParam>>(patterns), patterns);
  EXPECT_EQ(apply_on_device<FromCudaType<TypeParam>>(patterns), patterns);
}

TYPED_TEST(HalfInteropTest, ToFloatAsCuda) {
  const std::vector<std::uint16_t> patterns = all_patterns();
  const std::vector<float> expected = apply_on_host<CudaWiden<TypeParam>>(patterns);
  this->expect_same(apply_on_host<Widen<TypeParam>>(patterns), expected);
  this->expect_same(apply_on_device<Widen<TypeParam>>(patterns), expected);
  this->expect_same(apply_on_device<CudaWiden<TypeParam>>(patterns), expected);
}

TYPED_TEST(HalfInteropTest, FromFloatAsCuda) {
  const std::vector<float> values = sample_floats();
  const std::vector<std::uint16_t> expected = apply_on_host<CudaRound<TypeParam>>(values);
  this->expect_same(apply_on_host<Round<TypeParam>>(values), expected);
  this->expect_same(apply_on_device<Round<TypeParam>>(values), expected);
  this->expect_same(apply_on_device<CudaRound<TypeParam>>(values), expected);
}

template <class T, class Number>
void expect_same_rounding(const std::vector<Number>& values) {
  HalfInteropTest<T>::expect_same(apply_on_device<Round<T>>(values), apply_on_host<Round<T>>(values));
}

// The host's results are compared with an exact reference in core/half_test.
TYPED_TEST(HalfInteropTest, RoundsDoublesAndIntegersOnceOnTheDevice) {
  std::vector<double> doubles;
  std::vector<std::int64_t> longs;
  std::vector<std::uint64_t> unsigned_longs;
  std::vector<int> ints;
  std::mt19937_64 random(8);
  for (const float value : sample_floats()) {
    if (random() % 8 != 0) continue;
    for (const double step : {-0x1p-40, 0.0, 0x1p-40}) doubles.push_back(static_cast<double>(value) * (1 + step));
    const int shift = static_cast<int>(random() % 52);
    const std::uint64_t bits = ((random() % 2048) << shift) + random() % 3 - 1;
    unsigned_longs.push_back(bits);
    longs.push_back(random() % 2 == 0 ? static_cast<std::int64_t>(bits) : -static_cast<std::int64_t>(bits / 2));
    ints.push_back(static_cast<int>(bits >> (shift / 2)));
  }
  for (const double value : {1e300, -1e300, 5e-324, -0.0}) doubles.push_back(value);
  expect_same_rounding<TypeParam>(doubles);
  expect_same_rounding<TypeParam>(longs);
  expect_same_rounding<TypeParam>(unsigned_longs);
  expect_same_rounding<TypeParam>(ints);
}

TYPED_TEST(HalfInteropTest, CompoundAssignmentOnTheDevice) {
  std::vector<float> values;
  for (int i = -500; i <= 500; ++i) values.push_back(static_cast<float>(i) * 0.37f);
  this->expect_same(apply_on_device<Accumulate<TypeParam>>(values), apply_on_host<Accumulate<TypeParam>>(values));
}

}  // namespace
