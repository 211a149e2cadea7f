// Random tensors as a user makes them. (The generator's bits and their distribution: kernels/*_test.)
#include <heddle/ops/arithmetic.hpp>
#include <heddle/ops/random.hpp>

#include <cmath>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "harness/expect.hpp"
#include "reference/reduce.hpp"
#include "tolerance/tolerance.hpp"

namespace {

namespace hd = heddle;
using namespace heddle_test;

const TestDevice device = test_device();

template <class T>
struct Random : testing::Test {};
using Types = testing::Types<hd::half, hd::bfloat16, float, double>;
TYPED_TEST_SUITE(Random, Types);

TYPED_TEST(Random, the_same_seed_gives_the_same_bits_on_every_device) {
  for (const std::int64_t count : {1, 2, 3, 5, 64, 127, 1025, 20001}) {
    hd::Generator here(42), there(42);
    EXPECT_TRUE(identical(to_array(hd::rand<TypeParam>(here, {count}, device)),
                          to_array(hd::rand<TypeParam>(there, {count}, hd::cpu))));
  }
}

TYPED_TEST(Random, normal_numbers_agree_but_for_rounding) {
  hd::Generator here(42), there(42);
  const Array got = to_array(hd::randn<TypeParam>(here, {1025}, device));
  const Array want = to_array(hd::randn<TypeParam>(there, {1025}, hd::cpu));
  EXPECT_TRUE(close(got, want, tolerance::composite<TypeParam>(want)));
}

TYPED_TEST(Random, R139_uniform_numbers_are_in_0_to_1) {
  hd::Generator generator(1);
  const Array x = to_array(hd::rand<TypeParam>(generator, {100003}, device));
  EXPECT_GE(reference::min(x.values), 0);
  EXPECT_LT(reference::max(x.values), 1);
  // 4 standard errors of the mean and of the variance, and half a step of the grid.
  const double grid = tolerance::unit_roundoff(tolerance::precision_of<TypeParam>());
  EXPECT_NEAR(reference::mean(x.values), 0.5, 4 * std::sqrt(1.0 / 12 / 100003) + grid);
  EXPECT_NEAR(reference::variance(x.values), 1.0 / 12, 4 * std::sqrt(1.0 / 180 / 100003) + grid);
}

// The middle extents are beyond what a grid's second and third dimensions take.
TEST(RandomShapes, R153_of_many_rows) {
  const auto wide = hd::rand<float>({3, 70000, 5}, device);
  const auto narrow = hd::rand<float>({65536, 3}, device);
  EXPECT_LT(reference::max(to_array(wide).values), 1);
  EXPECT_LT(reference::max(to_array(narrow).values), 1);
  const auto ones = Array({65536, 3}, 1);
  EXPECT_TRUE(equal(value_of(narrow * 0.0f + 1.0f), ones));
  EXPECT_TRUE(equal(value_of(wide * 0.0f + 1.0f), Array({3, 70000, 5}, 1)));
}

TYPED_TEST(Random, normal_numbers_have_mean_0_and_variance_1) {
  hd::Generator generator(2);
  const Array x = to_array(hd::randn<TypeParam>(generator, {100003}, device));
  EXPECT_NEAR(reference::mean(x.values), 0, 4 * std::sqrt(1.0 / 100003));
  EXPECT_NEAR(reference::variance(x.values), 1, 4 * std::sqrt(2.0 / 100003) + 1e-3);
  EXPECT_GT(reference::max(x.values), 3.5);
  EXPECT_LT(reference::max(x.values), 7);
}

TEST(Generator, goes_on_from_tensor_to_tensor) {
  hd::Generator generator(7);
  const Array first = to_array(hd::rand<float>(generator, {100}, device));
  const Array second = to_array(hd::rand<float>(generator, {100}, device));
  EXPECT_FALSE(equal(first, second));
  generator.manual_seed(7);
  EXPECT_TRUE(equal(to_array(hd::rand<float>(generator, {100}, device)), first));
  EXPECT_TRUE(equal(to_array(hd::rand<float>(generator, {100}, device)), second));
  hd::Generator other(8);
  EXPECT_FALSE(equal(to_array(hd::rand<float>(other, {100}, device)), first));
}

TEST(Generator, copies_go_on_from_the_same_place) {
  hd::Generator generator(7);
  hd::rand<float>(generator, {100}, device);
  hd::Generator copy = generator;
  EXPECT_TRUE(equal(to_array(hd::rand<float>(generator, {10}, device)), to_array(hd::rand<float>(copy, {10}, device))));
}

TEST(Generator, numbers_do_not_depend_on_the_shape) {
  hd::Generator one(3), two(3);
  const Array flat = to_array(hd::randn<float>(one, {210}, device));
  EXPECT_TRUE(equal(to_array(hd::randn<float>(two, {5, 6, 7}, device)), reference::reshape(flat, {5, 6, 7})));
}

TEST(Generator, manual_seed_is_of_the_default_one) {
  hd::manual_seed(42);
  const Array a = to_array(hd::rand<float>({50}, device));
  const Array b = to_array(hd::randn<float>({50}, device));
  hd::manual_seed(42);
  EXPECT_TRUE(equal(to_array(hd::rand<float>({50}, device)), a));
  EXPECT_TRUE(equal(to_array(hd::randn<float>({50}, device)), b));
  hd::Generator named(42);
  EXPECT_TRUE(equal(to_array(hd::rand<float>(named, {50}, device)), a));
}

TEST(Generator, serves_threads_with_distinct_numbers) {
  hd::Generator generator(9);
  std::vector<std::vector<float>> drawn(8);
  std::vector<std::thread> threads;
  for (auto& values : drawn)
    threads.emplace_back([&] { values = hd::rand<float>(generator, {100}, device).to_vector(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ((std::set<std::vector<float>>(drawn.begin(), drawn.end()).size()), 8u);
  EXPECT_EQ(generator.offset(), 8u);
}

TEST(RandomShapes, of_rank_0_without_elements_and_like_another) {
  EXPECT_LT(hd::rand<float>({}, device).item(), 1.0f);
  EXPECT_EQ(hd::randn<float>({0, 3}, device).shape(), (hd::Shape<2>{0, 3}));
  const auto x = hd::zeros<hd::half>({4, 5}, device);
  static_assert(std::is_same_v<decltype(hd::rand_like(x)), TestTensor<hd::half, 2>>);
  EXPECT_EQ(hd::rand_like(x).shape(), x.shape());
  EXPECT_GT(reference::variance(to_array(hd::randn_like(x)).values), 0.1);
  EXPECT_EQ(hd::rand_like(x + x).shape(), x.shape());
  static_assert(std::is_same_v<decltype(hd::rand<float>({2})), hd::Tensor<float, 1, hd::Cpu>>);
}

TEST(RandomShapes, read_only_operands) {
  const auto x = hd::ones<float>({1}, device).expand({30});
  EXPECT_GT(reference::variance(to_array(hd::rand_like(x)).values), 0.01);
}

}  // namespace
