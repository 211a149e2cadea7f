// Casts, comparisons and integer arithmetic in a kernel give what they give on the host, where core/ tests them.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "core/number_samples.hpp"
#include "cuda/on_device.cuh"
#include "heddle/core/compare.hpp"

namespace {

using heddle::bfloat16;
using heddle::half;

// std::vector<bool> has no elements.
template <class T>
struct One {
  T value;
};
template <class A, class B>
struct Two {
  A a;
  B b;
};
// Pairs of samples, spread evenly where there are very many.
template <class A, class B>
std::vector<Two<A, B>> sample_pairs() {
  const std::vector<A> left = samples::of<A>();
  const std::vector<B> right = samples::of<B>();
  const std::size_t count = left.size() * right.size();
  const std::size_t step = count / 50'000 | 1;
  std::vector<Two<A, B>> pairs;
  for (std::size_t i = 0; i < count; i += step) pairs.push_back({left[i / right.size()], right[i % right.size()]});
  return pairs;
}

// The results of several operations on one input, as bits.
template <int Count>
struct Results {
  std::uint64_t bits[Count];
};
template <class T>
__host__ __device__ std::uint64_t bits_of(T value) {
  if constexpr (heddle::kind_of<T> == heddle::kind::floating) {
    // One NaN is as good as another.
    if (value != value) return ~std::uint64_t{0};
    return __builtin_bit_cast(std::uint64_t, static_cast<double>(value));
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

template <class Function, class Input>
void expect_device_as_host(const std::vector<Input>& inputs) {
  const auto device = apply_on_device<Function>(inputs);
  const auto host = apply_on_host<Function>(inputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t k = 0; k < std::size(host[i].bits); ++k) {
      ASSERT_EQ(device[i].bits[k], host[i].bits[k]) << "operation " << k << " on input " << i;
    }
  }
}

template <class... Tos>
struct CastToAll {
  template <class From>
  __host__ __device__ Results<sizeof...(Tos)> operator()(One<From> from) const {
    return {{bits_of(heddle::cast_element<Tos>(from.value))...}};
  }
};
using CastToEvery = CastToAll<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                              std::uint32_t, std::uint64_t, half, bfloat16, float, double>;

struct Compare {
  template <class A, class B>
  __host__ __device__ Results<6> operator()(const Two<A, B>& two) const {
    return {{heddle::cmp_equal(two.a, two.b), heddle::cmp_not_equal(two.a, two.b), heddle::cmp_less(two.a, two.b),
             heddle::cmp_less_equal(two.a, two.b), heddle::cmp_greater(two.a, two.b),
             heddle::cmp_greater_equal(two.a, two.b)}};
  }
};

struct Arithmetic {
  template <class T>
  __host__ __device__ Results<11> operator()(const Two<T, T>& two) const {
    return {{bits_of(heddle::wrapping_add(two.a, two.b)), bits_of(heddle::wrapping_subtract(two.a, two.b)),
             bits_of(heddle::wrapping_multiply(two.a, two.b)), bits_of(heddle::wrapping_negate(two.a)),
             bits_of(heddle::wrapping_abs(two.a)), bits_of(heddle::integer_divide(two.a, two.b)),
             bits_of(heddle::integer_remainder(two.a, two.b)), bits_of(heddle::integer_floor_divide(two.a, two.b)),
             bits_of(heddle::integer_floor_remainder(two.a, two.b)), bits_of(heddle::shift_left(two.a, two.b)),
             bits_of(heddle::shift_right(two.a, two.b))}};
  }
};

template <class T>
class CastOnDevice : public testing::Test {};
using Elements = testing::Types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                std::uint16_t, std::uint32_t, std::uint64_t, half, bfloat16, float, double>;
TYPED_TEST_SUITE(CastOnDevice, Elements, );
TYPED_TEST(CastOnDevice, AsOnTheHost) {
  std::vector<One<TypeParam>> values;
  for (const TypeParam value : samples::of<TypeParam>()) values.push_back({value});
  expect_device_as_host<CastToEvery>(values);
}

template <class T>
class CompareOnDevice : public testing::Test {};
using Pairs = testing::Types<Two<std::int8_t, int>, Two<int, std::uint32_t>, Two<std::uint64_t, std::int64_t>,
                             Two<bool, float>, Two<int, float>, Two<float, std::int64_t>, Two<std::uint64_t, double>,
                             Two<half, std::uint16_t>, Two<bfloat16, half>, Two<double, float>>;
TYPED_TEST_SUITE(CompareOnDevice, Pairs, );
TYPED_TEST(CompareOnDevice, AsOnTheHost) {
  expect_device_as_host<Compare>(sample_pairs<decltype(TypeParam::a), decltype(TypeParam::b)>());
}

template <class T>
class ArithmeticOnDevice : public testing::Test {};
using Integers = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                                std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(ArithmeticOnDevice, Integers, );
TYPED_TEST(ArithmeticOnDevice, AsOnTheHost) { expect_device_as_host<Arithmetic>(sample_pairs<TypeParam, TypeParam>()); }

}  // namespace
