#include "heddle/kernels/cpu/fast_math.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu_arrays.hpp"

namespace {

using heddle::on_cpu::chunk;

struct Exp {
  HEDDLE_ALWAYS_INLINE float operator()(float x) const { return heddle::on_cpu::exp_f32(x); }
  static long double exact(long double x) { return std::exp(x); }
};
struct Log {
  HEDDLE_ALWAYS_INLINE float operator()(float x) const { return heddle::on_cpu::log_f32(x); }
  static long double exact(long double x) { return std::log(x); }
};
struct Expm1 {
  HEDDLE_ALWAYS_INLINE float operator()(float x) const { return heddle::on_cpu::expm1_f32(x); }
  static long double exact(long double x) { return std::expm1(x); }
};
struct Log1p {
  HEDDLE_ALWAYS_INLINE float operator()(float x) const { return heddle::on_cpu::log1p_f32(x); }
  static long double exact(long double x) { return std::log1p(x); }
};
struct Tanh {
  HEDDLE_ALWAYS_INLINE float operator()(float x) const { return heddle::on_cpu::tanh_f32(x); }
  static long double exact(long double x) { return std::tanh(x); }
};
/// Sines and so on of what they serve; NaN of the rest, which formulas compute otherwise.
template <float (*F)(float, std::uint32_t&)>
float of_angle(float x) {
  std::uint32_t beyond = 0;
  const float y = F(x, beyond);
  return beyond != 0 ? std::numeric_limits<float>::quiet_NaN() : y;
}
long double angle(long double x) { return std::abs(x) < 0x1p20L ? x : std::numeric_limits<long double>::quiet_NaN(); }
struct Sin {
  HEDDLE_ALWAYS_INLINE float operator()(float x) const { return of_angle<heddle::on_cpu::sin_f32>(x); }
  static long double exact(long double x) { return std::sin(angle(x)); }
};
struct Cos {
  HEDDLE_ALWAYS_INLINE float operator()(float x) const { return of_angle<heddle::on_cpu::cos_f32>(x); }
  static long double exact(long double x) { return std::cos(angle(x)); }
};
struct Tan {
  static constexpr int units = 4;
  HEDDLE_ALWAYS_INLINE float operator()(float x) const { return of_angle<heddle::on_cpu::tan_f32>(x); }
  static long double exact(long double x) { return std::tan(angle(x)); }
};
struct Erf {
  HEDDLE_ALWAYS_INLINE float operator()(float x) const { return heddle::on_cpu::erf_f32(x); }
  static long double exact(long double x) { return std::erf(x); }
};

template <class F>
struct Chunk {
  const float* from;
  float* to;
  HEDDLE_ALWAYS_INLINE void operator()() const {
    for (int j = 0; j < chunk; ++j) to[j] = F()(from[j]);
  }
};

/// Units in the last place between a result and the exact value, at least those of the subnormals.
double units_off(float got, long double want) {
  const int exponent = std::max(std::ilogb(want) - 23, -149);
  return static_cast<double>(std::abs(static_cast<long double>(got) - want) / std::ldexp(1.0L, exponent));
}

template <class F>
class CpuFastMath : public testing::Test {};
using Functions = testing::Types<Exp, Expm1, Log, Log1p, Sin, Cos, Tan, Tanh, Erf>;
TYPED_TEST_SUITE(CpuFastMath, Functions);

template <class F>
constexpr int units_of() {
  if constexpr (requires { F::units; })
    return F::units;
  else
    return 2;
}

// One number in 997 of all floats, subnormals, infinities and NaN among them.
TYPED_TEST(CpuFastMath, IsWithinItsUnitsEverywhere) {
  std::uint64_t bits = 0;
  while (bits < (std::uint64_t{1} << 32)) {
    float x[chunk], y[chunk];
    for (int j = 0; j < chunk; ++j, bits += 997) {
      const auto pattern = static_cast<std::uint32_t>(bits);
      std::memcpy(&x[j], &pattern, sizeof(float));
    }
    heddle::on_cpu::vectorised(Chunk<TypeParam>{x, y});
    for (int j = 0; j < chunk; ++j) {
      const long double want = TypeParam::exact(x[j]);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(y[j])) << x[j];
      } else if (std::abs(want) > std::numeric_limits<float>::max()) {
        ASSERT_EQ(y[j], static_cast<float>(want)) << x[j];
      } else if (std::abs(want) < 0x1p-151L) {
        ASSERT_LE(std::abs(y[j]), 0x1p-149F) << x[j];
      } else {
        ASSERT_LE(units_off(y[j], want), units_of<TypeParam>()) << std::hexfloat << x[j] << " gives " << y[j];
      }
    }
  }
}

TYPED_TEST(CpuFastMath, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  float x[chunk] = {0.0F, -0.0F, infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 1.0F, -1.0F};
  float y[chunk];
  for (int j = 7; j < chunk; ++j) x[j] = 1;
  heddle::on_cpu::vectorised(Chunk<TypeParam>{x, y});
  for (int j = 0; j < 7; ++j) {
    const float want = static_cast<float>(TypeParam::exact(x[j]));
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(y[j])) << x[j];
    } else {
      EXPECT_FLOAT_EQ(y[j], want) << x[j];
      EXPECT_EQ(std::signbit(y[j]), std::signbit(want)) << x[j];
    }
  }
}

TEST(CpuFastMathTurn, SineAndCosineOfATurn) {
  for (std::uint32_t i = 0; i < (1U << 24); i += 13) {
    const float turn = static_cast<float>(i) * 0x1p-24F;
    float sine, cosine;
    heddle::on_cpu::sincos_turn_f32(turn, sine, cosine);
    const double angle = 6.283185307179586 * static_cast<double>(turn);
    ASSERT_NEAR(static_cast<double>(sine), std::sin(angle), 1.2e-7) << turn;
    ASSERT_NEAR(static_cast<double>(cosine), std::cos(angle), 1.2e-7) << turn;
  }
}

}  // namespace
