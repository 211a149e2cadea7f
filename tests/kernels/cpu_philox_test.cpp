#include "heddle/kernels/philox.hpp"

#include <cmath>

#include "heddle/kernels/cpu/random.hpp"
#include "kernels/cpu_arrays.hpp"

namespace {

using heddle::bfloat16;
using heddle::half;
using heddle::philox4x32;
using heddle::philox_words;
using heddle_test::as_size;
using heddle_test::index_t;

// kat_vectors of Random123 1.14, philox 4x32 10.
TEST(Philox, GivesThePublishedVectors) {
  const auto expect_words = [](const philox_words& got, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                               std::uint32_t d) {
    EXPECT_EQ(got.word[0], a);
    EXPECT_EQ(got.word[1], b);
    EXPECT_EQ(got.word[2], c);
    EXPECT_EQ(got.word[3], d);
  };
  expect_words(philox4x32(0, 0, 0), 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
  expect_words(philox4x32(~0ULL, ~0ULL, ~0ULL), 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
  expect_words(philox4x32(0x85a308d3243f6a88ULL, 0x0370734413198a2eULL, 0x299f31d0a4093822ULL), 0xd16cfe09, 0x94fdcceb,
               0x5001e420, 0x24126ea1);
}

TEST(Philox, UniformNumbersLieInHalfOpenUnitInterval) {
  EXPECT_EQ(heddle::philox_uniform<float>(0U), 0.0F);
  EXPECT_EQ(heddle::philox_uniform<float>(~0U), 1.0F - 0x1p-24F);
  EXPECT_EQ(heddle::philox_uniform<double>(~std::uint64_t{0}), 1.0 - 0x1p-53);
  EXPECT_EQ(static_cast<float>(heddle::philox_uniform<half>(~0U)), 1.0F - 0x1p-11F);
  EXPECT_EQ(static_cast<float>(heddle::philox_uniform<bfloat16>(~0U)), 1.0F - 0x1p-8F);
  EXPECT_GT(heddle::philox_radius(0U), 0.0F);
  EXPECT_EQ(heddle::philox_radius(~0U), 1.0F);
  EXPECT_GT(heddle::philox_radius(std::uint64_t{0}), 0.0);
  EXPECT_EQ(heddle::philox_radius(~std::uint64_t{0}), 1.0);
}

template <class T>
class CpuRandom : public testing::Test {};
using Floats = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(CpuRandom, Floats);

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
T uniform_element(index_t i, std::uint64_t seed, std::uint64_t offset) {
  if constexpr (sizeof(T) == 8) {
    const philox_words words = philox4x32(static_cast<std::uint64_t>(i / 2), offset, seed);
    return heddle::philox_uniform<T>(heddle::philox_join(words.word[i % 2 * 2], words.word[i % 2 * 2 + 1]));
  } else {
    return heddle::philox_uniform<T>(philox4x32(static_cast<std::uint64_t>(i / 4), offset, seed).word[i % 4]);
  }
}

TYPED_TEST(CpuRandom, UniformElementsDependOnIndexSeedAndOffsetAlone) {
  for (const index_t count : {0, 1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 1000, 8191, 8192, 8193, 100001}) {
    std::vector<TypeParam> got(as_size(count + 1), static_cast<TypeParam>(-7.0F));
    heddle::on_cpu::fill_uniform(got.data(), count, 0x123456789abcdefULL, 77);
    for (index_t i = 0; i < count; ++i)
      ASSERT_EQ(bits_of(got[as_size(i)]), bits_of(uniform_element<TypeParam>(i, 0x123456789abcdefULL, 77))) << i;
    EXPECT_EQ(static_cast<float>(got[as_size(count)]), -7.0F);
  }
}

TYPED_TEST(CpuRandom, NormalElementsAreBoxMullerOfTheirWords) {
  using T = TypeParam;
  constexpr double whole_turn = 6.283185307179586;
  const double unit = std::is_same_v<T, double>     ? 0x1p-50
                      : std::is_same_v<T, float>    ? 0x1p-21
                      : std::is_same_v<T, bfloat16> ? 0x1p-8
                                                    : 0x1p-11;
  constexpr index_t count = 100003;
  std::vector<T> got(as_size(count));
  heddle::on_cpu::fill_normal(got.data(), count, 42, 5);
  for (index_t i = 0; i < count; ++i) {
    double radius, turn;
    if constexpr (sizeof(T) == 8) {
      const philox_words w = philox4x32(static_cast<std::uint64_t>(i / 2), 5, 42);
      radius = heddle::philox_radius(heddle::philox_join(w.word[0], w.word[1]));
      turn = heddle::philox_turn(heddle::philox_join(w.word[2], w.word[3]));
    } else {
      const philox_words w = philox4x32(static_cast<std::uint64_t>(i / 4), 5, 42);
      radius = static_cast<double>(heddle::philox_radius(w.word[i % 4 / 2 * 2]));
      turn = static_cast<double>(heddle::philox_turn(w.word[i % 4 / 2 * 2 + 1]));
    }
    const double length = std::sqrt(-2 * std::log(radius));
    const double want = length * (i % 2 == 0 ? std::cos(whole_turn * turn) : std::sin(whole_turn * turn));
    // Where the sine is near 0 its error is absolute.
    ASSERT_NEAR(static_cast<double>(got[as_size(i)]), want, unit * std::max(1.0, length)) << i;
  }
}

TYPED_TEST(CpuRandom, MomentsAreThoseOfTheDistribution) {
  constexpr index_t count = 1'000'000;
  std::vector<TypeParam> values(as_size(count));
  heddle::on_cpu::fill_uniform(values.data(), count, 1, 0);
  double sum = 0, squares = 0;
  for (const TypeParam value : values) {
    const double x = static_cast<double>(value);
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
    squares += x * x;
  }
  // bfloat16's grid of 1/256 begins at 0: its mean is 1/512 below 1/2.
  EXPECT_NEAR(sum / count, 0.5, 0.004);
  EXPECT_NEAR(squares / count, 1.0 / 3, 0.004);
  heddle::on_cpu::fill_normal(values.data(), count, 1, 0);
  double moments[5] = {};
  for (const TypeParam value : values) {
    double power = 1;
    for (double& moment : moments) {
      moment += power / count;
      power *= static_cast<double>(value);
    }
  }
  EXPECT_NEAR(moments[1], 0, 0.005);
  EXPECT_NEAR(moments[2], 1, 0.01);
  EXPECT_NEAR(moments[3], 0, 0.03);
  EXPECT_NEAR(moments[4], 3, 0.1);
}

}  // namespace
