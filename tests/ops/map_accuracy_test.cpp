// Every map against long double, over all numbers of 16 bits and a sweep of float's and double's: within the table of
// tolerance/map_units.cpp. (That a function of the library makes these maps of its operands: math_test and its
// neighbours.)
#include <heddle/ops/activation.hpp>
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/compare.hpp>
#include <heddle/ops/create.hpp>
#include <heddle/ops/numeric.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "harness/expect.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;

// Maps with parameters, as users mostly call them.
template <class F, int... Quarters>
struct With {
  static constexpr const char* name = F::name;
  template <class... T>
  HEDDLE_HOST_DEVICE auto operator()(T... x) const {
    using Value = std::tuple_element_t<0, std::tuple<T...>>;
    return F{}(x..., (static_cast<Value>(Quarters) / Value(4))...);
  }
};
using LeakyRelu = With<hd::leaky_relu_function, 1>;
using Prelu = With<hd::prelu_function, 2>;
using Elu = With<hd::elu_function, 4>;
using Celu = With<hd::celu_function, 8, 2>;
using Softplus = With<hd::softplus_function, 4, 4, 80>;
using Clamp = With<hd::clamp_function, -4, 24>;
using Threshold = With<hd::threshold_function, 2, -28>;
using HardShrink = With<hd::hardshrink_function, 2>;
using SoftShrink = With<hd::softshrink_function, 2>;
// Of a quarter of the operands, so that their difference does not overflow.
template <int Quarters>
struct Lerp {
  static constexpr const char* name = "lerp";
  template <class T>
  HEDDLE_HOST_DEVICE T operator()(T a, T b) const {
    return hd::lerp_function{}(a / T(4), b / T(4), T(Quarters) / T(4));
  }
};
using NanToNum = With<hd::nan_to_num_function, 4, 8, 12>;

/// One of several maps, chosen at run time, so that all of them are one kernel.
template <class... F>
struct OneOf {
  static constexpr int count = sizeof...(F);
  static constexpr const char* names[] = {F::name...};
  int chosen;

  template <class... T>
  HEDDLE_HOST_DEVICE auto operator()(T... x) const {
    std::tuple_element_t<0, std::tuple<T...>> result{};
    int i = 0;
    ((i++ == chosen ? void(result = F{}(x...)) : void()), ...);
    return result;
  }
  template <class... T>
  HEDDLE_ALWAYS_INLINE auto on_host(T... x) const {
    std::tuple_element_t<0, std::tuple<T...>> result{};
    int i = 0;
    ((i++ == chosen ? void(result = hd::on_cpu::call(F{}, x...)) : void()), ...);
    return result;
  }
#if HEDDLE_TEST_DEVICE_CUDA
  template <class Result, class... T>
  __device__ auto narrow(T... x) const {
    std::tuple_element_t<0, std::tuple<T...>> result{};
    int i = 0;
    ((i++ == chosen ? void(result = hd::on_cuda::call<Result>(F{}, x...)) : void()), ...);
    return result;
  }
#endif
};

#if HEDDLE_TEST_DEVICE_CUDA
template <class T, class Map, class... X>
__global__ void apply_kernel(Map map, T* y, int count, const X*... x) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) y[i] = hd::cast_element<T>(hd::on_cuda::call<T>(map, static_cast<hd::compute_type<T>>(x[i])...));
}
#endif

/// y = map(x...), as formulas compute it.
template <class T, class Map, class... X>
std::vector<T> apply(const Map& map, const X&... x) {
  const auto count = static_cast<int>(std::get<0>(std::tie(x...)).size());
#if HEDDLE_TEST_DEVICE_CUDA
  const auto y = hd::empty<T>({count}, test_device());
  const auto on_device = [](const auto& values) { return hd::from_host<T>(values, {values.size()}, test_device()); };
  [&](const auto&... operand) {
    apply_kernel<T><<<static_cast<unsigned>((count + 127) / 128), 128>>>(map, y.data(), count, operand.data()...);
  }(on_device(x)...);
  return y.to_vector();
#else
  const hd::Tensor<T, 1> y = hd::cast<T>(hd::map(map, hd::from_host<T>(x, {count}, hd::cpu)...));
  return y.to_vector();
#endif
}

using Exact = long double (*)(long double);

/// got against the true value, in words; empty if it is within what the table allows.
template <class T>
std::string fault(const char* name, T got_value, long double want, double x) {
  constexpr auto precision = tolerance::precision_of<T>();
  const auto got = static_cast<long double>(to_double(got_value));
  const auto say = [&](const char* what) {
    return hd::Message{} << name << '(' << x << ") is " << static_cast<double>(got) << ", not "
                         << static_cast<double>(want) << ": " << what;
  };
  if (std::isnan(want) || std::isnan(got))
    return std::isnan(want) == std::isnan(got) ? "" : std::string(say("a NaN").text());
  const long double tail = tolerance::map_tail(name, precision, x);
  if (want == 0 && tail == 0)
    return got == 0 && std::signbit(got) == std::signbit(want) ? "" : std::string(say("a zero").text());
  // Infinity counts as the first number that is too large.
  const int exponents = std::is_same_v<T, hd::half> ? 16 : std::is_same_v<T, double> ? 1024 : 128;
  const long double end = std::ldexp(1.0L, exponents);
  const auto bounded = [end](long double v) { return std::fabs(v) > end ? std::copysign(end, v) : v; };
  const long double off = std::fabs(bounded(got) - bounded(want));
  const int exponent = want == 0 ? precision.least_exponent
                                 : std::max(std::ilogb(bounded(want)) - precision.digits + 1, precision.least_exponent);
  const long double unit = std::ldexp(1.0L, std::min(exponent, exponents - precision.digits));
  // What lies between two numbers has to be rounded, too.
  const double units = tolerance::map_units(name, precision);
  long double allowed = units * unit;
  if (tail > 0) allowed = std::max(allowed, tail + unit / 2);
  if (std::isinf(want) ? got == want : off <= allowed * (1 + 0x1p-9L)) return "";
  return std::string(
      (say("off by ") << static_cast<double>(off / unit) << " units, allowed " << static_cast<double>(allowed / unit))
          .text());
}

/// All numbers of 16 bits (on Cuda every 7th); of wider types, numbers of each exponent and sign, small ones, and
/// specials.
template <class T>
std::vector<T> sweep(int count) {
  using Bits = hd::unsigned_integer_t<sizeof(T)>;
  std::vector<T> values;
  if constexpr (sizeof(T) == 2) {
    for (int bits = 0; bits < 0x10000; bits += on_cuda ? 7 : 1)
      values.push_back(__builtin_bit_cast(T, static_cast<Bits>(bits)));
  } else {
    const Bits step = static_cast<Bits>(~Bits{0} / static_cast<Bits>(count)) | 1;
    for (int i = 0; i < count; ++i)
      values.push_back(__builtin_bit_cast(T, static_cast<Bits>(step * static_cast<Bits>(i))));
    for (const double v : uniform({count / 2}, -12, 12, 1).values) values.push_back(static_cast<T>(v));
    for (const double v : uniform({count / 8}, -1.5, 1.5, 2).values) values.push_back(static_cast<T>(v));
    for (const double v : uniform({count / 8}, 0.9, 1.1, 3).values) values.push_back(static_cast<T>(v));
    for (const double v : uniform({count / 8}, -150, 150, 4).values) values.push_back(static_cast<T>(v));
    for (int i = -10; i <= 10; ++i)
      for (const double v : {static_cast<double>(i), i / 4.0}) {
        values.push_back(static_cast<T>(v));
        values.push_back(std::nextafter(static_cast<T>(v), T(100)));
      }
    using Limits = std::numeric_limits<T>;
    for (const T v :
         {T(0), Limits::denorm_min(), Limits::min(), Limits::max(), Limits::infinity(), Limits::quiet_NaN()})
      values.insert(values.end(), {v, static_cast<T>(-v)});
  }
  return values;
}

long double sigmoid(long double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
long double clamped(long double x, long double low, long double high) { return x < low ? low : x > high ? high : x; }
long double expm1_below(long double x) { return x > 0 ? x : std::expm1(x); }

struct UnaryMap {
  const char* name;
  Exact exact;
};
using Unary =
    OneOf<hd::abs_function, hd::sign_function, hd::square_function, hd::floor_function, hd::ceil_function,
          hd::round_function, hd::trunc_function, hd::negate_function, hd::sqrt_function, hd::rsqrt_function,
          hd::reciprocal_function, hd::cbrt_function, hd::exp_function, hd::exp2_function, hd::expm1_function,
          hd::log_function, hd::log2_function, hd::log10_function, hd::log1p_function, hd::sin_function,
          hd::cos_function, hd::tan_function, hd::asin_function, hd::acos_function, hd::atan_function,
          hd::sinh_function, hd::cosh_function, hd::tanh_function, hd::asinh_function, hd::acosh_function,
          hd::atanh_function, hd::erf_function, hd::erfc_function, hd::lgamma_function, hd::relu_function,
          hd::sigmoid_function, hd::logsigmoid_function, hd::silu_function, hd::gelu_function, hd::gelu_tanh_function,
          hd::mish_function, hd::softsign_function, hd::tanhshrink_function, hd::selu_function,
          hd::hardsigmoid_function, hd::hardswish_function, LeakyRelu, Prelu, Elu, Celu, Softplus, Clamp, Threshold,
          NanToNum, hd::frac_function, hd::deg2rad_function, hd::rad2deg_function, HardShrink, SoftShrink>;
const UnaryMap unary_maps[] = {
    {"abs", std::fabs},
    {"sign", [](long double x) { return std::isnan(x) || x == 0 ? x : std::copysign(1.0L, x); }},
    {"square", [](long double x) { return x * x; }},
    {"floor", std::floor},
    {"ceil", std::ceil},
    {"round", std::nearbyint},
    {"trunc", std::trunc},
    {"unary -", [](long double x) { return -x; }},
    {"sqrt", std::sqrt},
    {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }},
    {"reciprocal", [](long double x) { return 1 / x; }},
    {"cbrt", std::cbrt},
    {"exp", std::exp},
    {"exp2", std::exp2},
    {"expm1", std::expm1},
    {"log", std::log},
    {"log2", std::log2},
    {"log10", std::log10},
    {"log1p", std::log1p},
    {"sin", std::sin},
    {"cos", std::cos},
    {"tan", std::tan},
    {"asin", std::asin},
    {"acos", std::acos},
    {"atan", std::atan},
    {"sinh", std::sinh},
    {"cosh", std::cosh},
    {"tanh", std::tanh},
    {"asinh", std::asinh},
    {"acosh", std::acosh},
    {"atanh", std::atanh},
    {"erf", std::erf},
    {"erfc", std::erfc},
    {"lgamma", std::lgamma},
    {"relu", [](long double x) { return x < 0 ? 0 : x; }},
    {"sigmoid", sigmoid},
    {"logsigmoid", [](long double x) { return std::fmin(x, 0) - std::log1p(std::exp(-std::fabs(x))); }},
    {"silu", [](long double x) { return std::isinf(x) && x < 0 ? NAN : x * sigmoid(x); }},
    {"gelu", [](long double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0L)); }},
    {"gelu_tanh",
     [](long double x) {
       const long double u = std::sqrt(2 / 3.14159265358979323846264338327950288L) * (x + 0.044715L * x * x * x);
       return x * sigmoid(2 * u);
     }},
    {"mish", [](long double x) { return x * std::tanh(x > 100 ? x : std::log1p(std::exp(x))); }},
    {"softsign", [](long double x) { return x / (1 + std::fabs(x)); }},
    {"tanhshrink", [](long double x) { return x - std::tanh(x); }},
    {"selu",
     [](long double x) {
       return 1.0507009873554804934193349852946L * (x > 0 ? x : 1.6732632423543772848170429916717L * std::expm1(x));
     }},
    {"hardsigmoid", [](long double x) { return clamped(x + 3, 0, 6) / 6; }},
    {"hardswish", [](long double x) { return x * (clamped(x + 3, 0, 6) / 6); }},
    {"leaky_relu", [](long double x) { return x < 0 ? x / 4 : x; }},
    {"prelu", [](long double x) { return x < 0 ? x / 2 : x; }},
    {"elu", expm1_below},
    {"celu", [](long double x) { return x > 0 ? x : 2 * std::expm1(x / 2); }},
    {"softplus", [](long double x) { return x > 20 ? x : std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }},
    {"clamp", [](long double x) { return clamped(x, -1, 6); }},
    {"threshold", [](long double x) { return x <= 0.5L ? -7 : x; }},
    {"nan_to_num", [](long double x) { return std::isnan(x)   ? 1
                                              : std::isinf(x) ? (x > 0 ? 2 : 3)
                                                              : x; }},
    {"frac", [](long double x) { return x - std::trunc(x); }},
    {"deg2rad", [](long double x) { return x * (3.14159265358979323846264338327950288L / 180); }},
    {"rad2deg", [](long double x) { return x * (180 / 3.14159265358979323846264338327950288L); }},
    {"hardshrink", [](long double x) { return std::fabs(x) <= 0.5L ? 0 : x; }},
    {"softshrink", [](long double x) { return std::fabs(x) <= 0.5L ? 0 : std::copysign(std::fabs(x) - 0.5L, x); }},
};
static_assert(std::size(unary_maps) == Unary::count);

using Binary =
    OneOf<hd::add_function, hd::subtract_function, hd::multiply_function, hd::divide_function, hd::modulo_function,
          hd::maximum_function, hd::minimum_function, hd::pow_function, hd::atan2_function, hd::hypot_function,
          hd::remainder_function, hd::floor_divide_function, hd::fmax_function, hd::fmin_function,
          hd::copysign_function, hd::heaviside_function, hd::xlogy_function, hd::logaddexp_function,
          hd::logaddexp2_function, Lerp<1>, Lerp<3>, hd::equal_function, hd::not_equal_function, hd::less_function,
          hd::less_equal_function, hd::greater_function, hd::greater_equal_function>;
/// By the remainder, which is exact.
long double floored(long double x, long double y) {
  if (y == 0) return x / y;
  const long double rest = std::fmod(x, y);
  const long double quotient = (x - rest) / y - (rest != 0 && (rest < 0) != (y < 0) ? 1 : 0);
  return quotient == 0 ? std::copysign(0.0L, x / y) : std::nearbyint(quotient);
}
long double log_of_sum(long double x, long double y, long double base) {
  const long double greatest = std::isnan(x) || x > y ? x : y;
  if (std::isnan(x) || std::isnan(y)) return NAN;
  if (std::isinf(greatest)) return greatest;
  return greatest + std::log1p(std::exp(-std::fabs(x - y) * base)) / base;
}
using ExactOfTwo = long double (*)(long double, long double);
struct BinaryMap {
  const char* name;
  ExactOfTwo exact;
};
const BinaryMap binary_maps[] = {
    {"+", [](long double x, long double y) { return x + y; }},
    {"-", [](long double x, long double y) { return x - y; }},
    {"*", [](long double x, long double y) { return x * y; }},
    {"/", [](long double x, long double y) { return x / y; }},
    {"%", std::fmod},
    {"maximum", [](long double x, long double y) { return std::isnan(x) || x > y ? x : y; }},
    {"minimum", [](long double x, long double y) { return std::isnan(x) || x < y ? x : y; }},
    {"pow", std::pow},
    {"atan2", std::atan2},
    {"hypot", std::hypot},
    {"remainder",
     [](long double x, long double y) {
       const long double rest = std::fmod(x, y);
       return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
     }},
    {"floor_divide", floored},
    {"fmax", [](long double x, long double y) { return x >= y || std::isnan(y) ? x : y; }},
    {"fmin", [](long double x, long double y) { return x <= y || std::isnan(y) ? x : y; }},
    {"copysign", std::copysign},
    {"heaviside",
     [](long double x, long double y) { return x == 0          ? y
                                               : std::isnan(x) ? x
                                                               : static_cast<long double>(x > 0); }},
    {"xlogy", [](long double x, long double y) { return x == 0 && !std::isnan(y) ? 0 : x * std::log(y); }},
    {"logaddexp", [](long double x, long double y) { return log_of_sum(x, y, 1); }},
    {"logaddexp2",
     [](long double x, long double y) { return log_of_sum(x, y, 0.693147180559945309417232121458176568L); }},
    {"lerp", [](long double x, long double y) { return x / 4 + (y / 4 - x / 4) / 4; }},
    {"lerp", [](long double x, long double y) { return y / 4 - (y / 4 - x / 4) / 4; }},
    {"==", [](long double x, long double y) { return static_cast<long double>(x == y); }},
    {"!=", [](long double x, long double y) { return static_cast<long double>(x != y); }},
    {"<", [](long double x, long double y) { return static_cast<long double>(x < y); }},
    {"<=", [](long double x, long double y) { return static_cast<long double>(x <= y); }},
    {">", [](long double x, long double y) { return static_cast<long double>(x > y); }},
    {">=", [](long double x, long double y) { return static_cast<long double>(x >= y); }},
};
static_assert(std::size(binary_maps) == Binary::count);

template <class T>
struct MapAccuracy : testing::Test {};
using Types = testing::Types<hd::half, hd::bfloat16, float, double>;
TYPED_TEST_SUITE(MapAccuracy, Types);

TYPED_TEST(MapAccuracy, of_one_operand) {
  const std::vector<TypeParam> x = sweep<TypeParam>(on_cuda ? 6000 : 40000);
  for (int m = 0; m < Unary::count; ++m) {
    const UnaryMap& map = unary_maps[m];
    ASSERT_STREQ(map.name, Unary::names[m]);
    const auto y = apply<TypeParam>(Unary{m}, x);
    int faults = 0;
    std::string first;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double in = to_double(x[i]);
      const std::string text = fault(map.name, y[i], map.exact(static_cast<long double>(in)), in);
      if (!text.empty() && faults++ == 0) first = text;
    }
    EXPECT_EQ(faults, 0) << first;
  }
}

TYPED_TEST(MapAccuracy, of_two_operands) {
  std::vector<TypeParam> x, y;
  const std::vector<TypeParam> all = sweep<TypeParam>(400);
  const std::size_t step = all.size() / (on_cuda ? 60 : 200) + 1;
  for (std::size_t i = 0; i < all.size(); i += step)
    for (std::size_t j = all.size() % step; j < all.size(); j += step) x.push_back(all[i]), y.push_back(all[j]);
  for (const double a : {0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.5, static_cast<double>(INFINITY), static_cast<double>(NAN)})
    for (const double b : {0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.5, static_cast<double>(-INFINITY)})
      x.push_back(static_cast<TypeParam>(a)), y.push_back(static_cast<TypeParam>(b));
  for (int m = 0; m < Binary::count; ++m) {
    const BinaryMap& map = binary_maps[m];
    ASSERT_STREQ(map.name, Binary::names[m]);
    const auto z = apply<TypeParam>(Binary{m}, x, y);
    int faults = 0;
    std::string first;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double a = to_double(x[i]), b = to_double(y[i]);
      const std::string text = fault(map.name, z[i], map.exact(a, b), std::fmax(std::fabs(a), std::fabs(b)));
      if (!text.empty() && faults++ == 0) first = (hd::Message{} << text.c_str() << ", with " << b).text();
    }
    EXPECT_EQ(faults, 0) << first;
  }
}

}  // namespace
