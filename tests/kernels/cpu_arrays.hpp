// What the tests of the raw CPU kernels share: the simplest sources and sinks that a kernel can be given, poisoned
// outputs that know how often they were written, and runs of this program under other settings.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "heddle/core/half.hpp"
#include "heddle/core/shape.hpp"
#include "heddle/kernels/cpu/isa.hpp"

namespace heddle_test {

using heddle::index_t;

inline std::size_t as_size(index_t count) { return static_cast<std::size_t>(count); }

/// `count` elements, every byte 0xff before the kernel runs (NaN in floating types), with a count of the writes to
/// each.
template <class T>
class OutputArray {
 public:
  explicit OutputArray(index_t count) : values_(as_size(count)), writes_(as_size(count), 0) {
    if (count > 0) std::memset(static_cast<void*>(values_.data()), 0xff, values_.size() * sizeof(T));
  }
  void write(index_t i, T value) {
    values_[as_size(i)] = value;
    ++writes_[as_size(i)];
  }
  T operator[](index_t i) const { return values_[as_size(i)]; }
  const std::vector<T>& values() const { return values_; }
  void expect_each_written_once() const {
    for (std::size_t i = 0; i < writes_.size(); ++i)
      ASSERT_EQ(writes_[i], 1) << "element " << i << " of " << writes_.size();
  }

 private:
  std::vector<T> values_;
  std::vector<std::uint8_t> writes_;
};

/// A two-dimensional operand of any strides, element by element only.
template <class T, class Value = T>
struct StridedSource {
  using value_type = Value;
  using Position = const T*;
  const T* data;
  index_t outer_stride, inner_stride;

  Position at(index_t outer) const { return data + outer * outer_stride; }
  HEDDLE_ALWAYS_INLINE Value load(Position position, index_t inner) const {
    return static_cast<Value>(position[inner * inner_stride]);
  }
};

/// The same with chunks, as formulas are read.
template <class T, class Value = T>
struct ChunkedSource : StridedSource<T, Value> {
  using Position = const T*;
  static constexpr int chunk = heddle::on_cpu::chunk;

  HEDDLE_ALWAYS_INLINE void load_chunk(Position position, index_t inner, Value (&values)[chunk], int count) const {
    for (int j = 0; j < count; ++j) values[j] = this->load(position, inner + j);
  }
  bool outer_is_contiguous() const { return this->outer_stride == 1; }
  HEDDLE_ALWAYS_INLINE void load_outer_chunk(Position position, index_t inner, Value (&values)[chunk],
                                             int count) const {
    for (int j = 0; j < count; ++j) values[j] = static_cast<Value>(position[j + inner * this->inner_stride]);
  }
};

/// A generator that takes less time than what it tests.
class Random {
 public:
  using result_type = std::uint32_t;
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U) {}
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return 0xffffffffU; }
  result_type operator()() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<result_type>((state_ ^ (state_ >> 22)) >> 22);
  }

 private:
  std::uint64_t state_;
};

/// Small integers, at most 4 in size: their sums are exact.
template <class T>
T small_integer(Random& random) {
  if constexpr (std::is_same_v<T, bool>) {
    return random() % 2 == 0;
  } else {
    const int least = std::is_unsigned_v<T> ? 0 : -4;
    return static_cast<T>(static_cast<int>(random() % static_cast<unsigned>(5 - least)) + least);
  }
}

/// What this program prints after "digest: " when the test `filter` runs alone under the given environment.
inline std::string digest_under(const std::string& environment, const std::string& filter) {
  const std::string command = environment + " '" + testing::internal::GetArgvs()[0] +
                              "' --gtest_also_run_disabled_tests --gtest_filter=" + filter + " 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "the program does not start";
  std::string output;
  char part[4096];
  for (std::size_t got; (got = std::fread(part, 1, sizeof(part), pipe)) > 0;) output.append(part, got);
  if (pclose(pipe) != 0) return "failed: " + output;
  const std::size_t begin = output.find("digest: ");
  return begin == std::string::npos ? "no digest: " + output : output.substr(begin, output.find('\n', begin) - begin);
}

/// FNV-1a over the bytes of results.
class Digest {
 public:
  template <class T>
  void add(const std::vector<T>& values) {
    for (const T& value : values) {
      unsigned char bytes[sizeof(T)];
      std::memcpy(bytes, &value, sizeof(T));
      for (const unsigned char byte : bytes) hash_ = (hash_ ^ byte) * 1099511628211ULL;
    }
  }
  void print() const { std::printf("digest: %016llx\n", static_cast<unsigned long long>(hash_)); }

 private:
  std::uint64_t hash_ = 14695981039346656037ULL;
};

}  // namespace heddle_test
