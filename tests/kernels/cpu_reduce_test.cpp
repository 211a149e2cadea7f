#include "heddle/kernels/cpu/reduce.hpp"

#include <cmath>
#include <limits>

#include "kernels/cpu_arrays.hpp"

namespace {

using heddle::half;
using heddle_test::as_size;
using heddle_test::ChunkedSource;
using heddle_test::index_t;
using heddle_test::OutputArray;
using heddle_test::Random;
using heddle_test::small_integer;
using heddle_test::StridedSource;

template <class Input, class State = Input>
struct Sum {
  using input = Input;
  using state = State;
  using result = State;
  static state identity() { return state{}; }
  static void accumulate(state& total, input value, index_t) { total += static_cast<State>(value); }
  static void combine(state& left, const state& right) { left += right; }
  static result finish(const state& total, index_t) { return total; }
};

template <class Input>
struct Mean : Sum<Input> {
  static Input finish(const Input& total, index_t count) { return total / static_cast<Input>(count); }
};

template <class Input>
struct Max {
  using input = Input;
  using state = Input;
  using result = Input;
  static state identity() { return -std::numeric_limits<Input>::infinity(); }
  static void accumulate(state& greatest, input value, index_t) { combine(greatest, value); }
  static void combine(state& left, const state& right) { left = left > right || left != left ? left : right; }
  static result finish(const state& greatest, index_t) { return greatest; }
};

/// The first of the greatest, the first NaN.
template <class Input>
struct Argmax {
  using input = Input;
  struct state {
    Input value;
    index_t position;
  };
  using result = index_t;
  static state identity() { return {-std::numeric_limits<Input>::infinity(), std::numeric_limits<index_t>::max()}; }
  static void accumulate(state& best, input value, index_t position) { combine(best, {value, position}); }
  static void combine(state& left, const state& right) {
    const bool left_nan = left.value != left.value, right_nan = right.value != right.value;
    const bool equal = left.value == right.value || (left_nan && right_nan);
    const bool better = equal ? right.position < left.position : right_nan || (!left_nan && right.value > left.value);
    if (better) left = right;
  }
  static result finish(const state& best, index_t) { return best.position; }
};

template <class Result>
struct ArraySink {
  using Position = index_t;
  OutputArray<Result>* out;
  Position at(index_t outer) const { return outer; }
  void store(Position outer, index_t row, index_t column, Result value) const {
    ASSERT_EQ(row, 0);
    ASSERT_EQ(column, 0);
    out->write(outer, value);
  }
};

template <class Reduction, class Source>
OutputArray<typename Reduction::result> reduced(const Source& source, index_t outer, index_t inner) {
  OutputArray<typename Reduction::result> out(outer);
  heddle::on_cpu::reduce<Reduction>(source, ArraySink<typename Reduction::result>{&out}, outer, inner);
  out.expect_each_written_once();
  return out;
}

/// How a group's elements lie: in a row, in a column, or neither.
enum class Layout { rows, columns, stepped };
constexpr Layout layouts[] = {Layout::rows, Layout::columns, Layout::stepped};

template <class T, class Value = T>
struct Groups {
  index_t outer, inner;
  std::vector<T> memory;
  StridedSource<T, Value> source;

  Groups(index_t outer_count, index_t inner_count, Layout layout)
      : outer(outer_count),
        inner(inner_count),
        memory(as_size(outer * inner * (layout == Layout::stepped ? 2 : 1) + 1)) {
    source = {memory.data(), layout == Layout::columns ? 1 : inner, layout == Layout::columns ? outer : 1};
    if (layout == Layout::stepped) source = {memory.data(), 2 * inner, 2};
  }
  T& at(index_t o, index_t i) { return memory[as_size(o * source.outer_stride + i * source.inner_stride)]; }
  ChunkedSource<T, Value> chunked() const { return {source}; }
};

constexpr index_t counts[] = {1,   2,   3,   7,   8,   9,   15,  63,   64,   65,  127,
                              255, 256, 257, 511, 512, 513, 600, 4095, 4096, 4097};

template <class T>
class CpuReduce : public testing::Test {};
using Elements = testing::Types<float, double, half, std::int8_t, std::int64_t>;
TYPED_TEST_SUITE(CpuReduce, Elements);

TYPED_TEST(CpuReduce, SumsOfSmallIntegersAreExact) {
  using Value = std::conditional_t<std::is_same_v<TypeParam, half>, float, TypeParam>;
  using State = std::conditional_t<std::is_integral_v<Value>, std::int64_t, Value>;
  Random random(1);
  for (const Layout layout : layouts) {
    for (const index_t inner : counts) {
      for (const index_t outer : {index_t{1}, index_t{2}, index_t{8}, counts[random() % 18], counts[random() % 18]}) {
        Groups<TypeParam, Value> groups(outer, inner, layout);
        for (TypeParam& value : groups.memory) value = small_integer<TypeParam>(random);
        const auto sums = reduced<Sum<Value, State>>(groups.chunked(), outer, inner);
        const auto by_element = reduced<Sum<Value, State>>(groups.source, outer, inner);
        for (index_t o = 0; o < outer; ++o) {
          double want = 0;
          for (index_t i = 0; i < inner; ++i) want += static_cast<double>(groups.at(o, i));
          ASSERT_EQ(static_cast<double>(sums[o]), want) << outer << " x " << inner << ", group " << o;
          ASSERT_EQ(static_cast<double>(by_element[o]), want) << outer << " x " << inner << ", group " << o;
        }
      }
    }
  }
}

// No 0 may slip in where a chunk is not full.
TEST(CpuReduceMax, OfNegativeNumbersIsNegative) {
  Random random(6);
  for (const Layout layout : layouts) {
    for (const index_t inner : counts) {
      for (const index_t outer : {1, 3, 9, 65}) {
        Groups<float> groups(outer, inner, layout);
        for (float& value : groups.memory) value = -1 - static_cast<float>(random() % 1000);
        const auto got = reduced<Max<float>>(groups.chunked(), outer, inner);
        for (index_t o = 0; o < outer; ++o) {
          float want = groups.at(o, 0);
          for (index_t i = 1; i < inner; ++i) want = std::max(want, groups.at(o, i));
          ASSERT_EQ(got[o], want) << outer << " x " << inner << ", group " << o;
        }
      }
    }
  }
}

TEST(CpuReduceArgmax, IsTheFirstOfEqualsAndTheFirstNan) {
  Random random(2);
  for (const Layout layout : layouts) {
    for (const index_t inner : counts) {
      for (const index_t outer : {1, 3, 9, 65, 200}) {
        Groups<float> groups(outer, inner, layout);
        for (float& value : groups.memory) value = small_integer<float>(random);
        for (index_t o = 0; o < outer; o += 3)
          for (int nans = 0; nans < 3; ++nans)
            groups.at(o, static_cast<index_t>(random()) % inner) = std::numeric_limits<float>::quiet_NaN();
        const auto got = reduced<Argmax<float>>(groups.chunked(), outer, inner);
        for (index_t o = 0; o < outer; ++o) {
          index_t want = 0;
          for (index_t i = 0; i < inner; ++i) {
            const float best = groups.at(o, want), value = groups.at(o, i);
            if (!std::isnan(best) && (std::isnan(value) || value > best)) want = i;
          }
          ASSERT_EQ(got[o], want) << outer << " x " << inner << ", group " << o;
        }
      }
    }
  }
}

TEST(CpuReduceParts, LongGroupsAreSharedAndExact) {
  Random random(3);
  for (const index_t inner : {65535, 65536, 65537, 200001}) {
    for (const index_t outer : {1, 3, 8, 70}) {
      for (const Layout layout : {Layout::rows, Layout::columns}) {
        Groups<float> groups(outer, inner, layout);
        for (float& value : groups.memory) value = small_integer<float>(random);
        const auto sums = reduced<Sum<float>>(groups.chunked(), outer, inner);
        groups.at(outer - 1, inner - 2) = 5;
        const auto most = reduced<Argmax<float>>(groups.chunked(), outer, inner);
        groups.at(outer - 1, inner - 2) = 0;
        const float without = reduced<Sum<float>>(groups.source, outer, inner)[outer - 1];
        for (index_t o = 0; o < outer; ++o) {
          double want = 0;
          for (index_t i = 0; i < inner; ++i) want += static_cast<double>(groups.at(o, i));
          if (o == outer - 1) {
            ASSERT_EQ(static_cast<double>(without), want);
          } else {
            ASSERT_EQ(static_cast<double>(sums[o]), want) << outer << " x " << inner << ", group " << o;
          }
        }
        ASSERT_EQ(most[outer - 1], inner - 2) << outer << " x " << inner;
      }
    }
  }
}

TEST(CpuReduceAccuracy, SumsOfRealValuesWithinTheBound) {
  Random random(4);
  std::uniform_real_distribution<float> real(-1, 1);
  for (const Layout layout : layouts) {
    for (const auto& [outer, inner] : {std::pair<index_t, index_t>{1, 1000003}, {40, 10007}, {1000, 1000}, {17, 3}}) {
      Groups<float> groups(outer, inner, layout);
      for (float& value : groups.memory) value = real(random);
      const auto got = reduced<Sum<float>>(groups.chunked(), outer, inner);
      for (index_t o = 0; o < outer; ++o) {
        double want = 0, magnitude = 0;
        for (index_t i = 0; i < inner; ++i) {
          want += static_cast<double>(groups.at(o, i));
          magnitude += std::abs(static_cast<double>(groups.at(o, i)));
        }
        const double allowed = 0x1p-24 * (4 * magnitude * std::log2(static_cast<double>(inner)) / 64 + std::abs(want));
        ASSERT_NEAR(static_cast<double>(got[o]), want, allowed + 1e-7 * std::sqrt(static_cast<double>(inner)));
      }
    }
  }
}

// Each lane adds at most a few thousand ones before it is combined: 2^24, where float's ones vanish, is never met.
TEST(CpuReduceAccuracy, SumOf67MillionOnesIsExact) {
  constexpr index_t count = index_t{1} << 26;
  const float one = 1;
  const ChunkedSource<float> ones{{&one, 0, 0}};
  EXPECT_EQ(reduced<Sum<float>>(ones, 1, count)[0], static_cast<float>(count));
}

/// One value at every index, in neighbouring groups too.
struct Constant : ChunkedSource<float> {
  explicit Constant(const float* value) : ChunkedSource<float>{{value, 0, 0}} {}
  bool outer_is_contiguous() const { return true; }
  void load_outer_chunk(Position position, index_t, float (&values)[chunk], int count) const {
    for (int j = 0; j < count; ++j) values[j] = *position;
  }
};

// Added one after another, equal numbers are rounded the same way again and again: 2^18 of them to a lane are too many.
TEST(CpuReduceAccuracy, EqualNumbersLoseNothingToTheirNumber) {
  const float tenth = 0.1F;
  for (const auto& [outer, inner] : {std::pair<index_t, index_t>{1, 1 << 24}, {70, 1 << 20}, {8, 1 << 22}}) {
    const double want = static_cast<double>(tenth) * static_cast<double>(inner);
    const auto by_groups = reduced<Sum<float>>(ChunkedSource<float>{{&tenth, 0, 0}}, outer, inner);
    const auto by_columns = reduced<Sum<float>>(Constant(&tenth), outer, inner);
    for (index_t o = 0; o < outer; ++o) {
      EXPECT_NEAR(static_cast<double>(by_groups[o]), want, 2e-6 * want);
      EXPECT_NEAR(static_cast<double>(by_columns[o]), want, 2e-5 * want);
    }
  }
}

TEST(CpuReduceReports, R058MeanAndSumOfManyOnesAlongAnAxis) {
  constexpr index_t count = 20'000'000;
  const float one = 1;
  for (const index_t outer : {1, 2, 16}) {
    const Constant ones(&one);
    const auto sums = reduced<Sum<float>>(ones, outer, count);
    const auto means = reduced<Mean<float>>(ones, outer, count);
    for (index_t o = 0; o < outer; ++o) {
      EXPECT_NEAR(sums[o], 2e7F, 20);
      EXPECT_NEAR(means[o], 1, 1e-6);
    }
  }
}

TEST(CpuReduceEmpty, NothingGivesTheIdentity) {
  const ChunkedSource<float> nothing{{nullptr, 1, 1}};
  const auto sums = reduced<Sum<float>>(nothing, 70, 0);
  for (index_t o = 0; o < 70; ++o) EXPECT_EQ(sums[o], 0.0F);
  EXPECT_TRUE(std::isnan(reduced<Mean<float>>(nothing, 1, 0)[0]));
  reduced<Sum<float>>(nothing, 0, 5);
}

TEST(CpuReduceThreads, DISABLED_Digest) {
  Random random(5);
  std::uniform_real_distribution<float> real(-1, 1);
  heddle_test::Digest digest;
  for (const auto& [outer, inner] : {std::pair<index_t, index_t>{1, 1000003}, {40, 90007}, {1000, 1000}, {9, 300000}}) {
    for (const Layout layout : {Layout::rows, Layout::columns}) {
      Groups<float> groups(outer, inner, layout);
      for (float& value : groups.memory) value = real(random);
      digest.add(reduced<Sum<float>>(groups.chunked(), outer, inner).values());
    }
  }
  digest.print();
}

TEST(CpuReduceThreads, TheirNumberChangesNoBit) {
  const char* const filter = "CpuReduceThreads.DISABLED_Digest";
  const std::string one = heddle_test::digest_under("HEDDLE_NUM_THREADS=1", filter);
  EXPECT_EQ(one.substr(0, 8), "digest: ");
  for (const char* const threads : {"2", "3", "7"})
    EXPECT_EQ(heddle_test::digest_under(std::string("HEDDLE_NUM_THREADS=") + threads, filter), one) << threads;
}

}  // namespace
