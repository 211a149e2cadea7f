#include "heddle/kernels/cpu/pool.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "kernels/cpu_arrays.hpp"

#if defined(__SANITIZE_THREAD__)
// By itself the thread sanitizer ends a forked child that starts threads.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
#endif

namespace {

using heddle::parallel_for;
using heddle_test::as_size;
using heddle_test::index_t;

void expect_each_visited_once(index_t count, index_t grain) {
  std::vector<int> visits(as_size(count), 0);
  parallel_for(count, grain, [&](index_t begin, index_t end) {
    EXPECT_LT(begin, end);
    EXPECT_EQ(begin % (grain < 1 ? 1 : grain), 0);
    for (index_t i = begin; i < end; ++i) ++visits[as_size(i)];
  });
  for (index_t i = 0; i < count; ++i) ASSERT_EQ(visits[as_size(i)], 1) << i << " of " << count << " by " << grain;
}

TEST(CpuPool, VisitsEachIndexOnce) {
  for (const index_t count : {0, 1, 2, 3, 7, 8, 9, 64, 1000, 4097})
    for (const index_t grain : {-1, 0, 1, 2, 3, 7, 64, 5000}) expect_each_visited_once(count, grain);
}

TEST(CpuPool, OneGrainIsOnePlainCall) {
  int calls = 0;
  const pthread_t caller = pthread_self();
  parallel_for(100, 100, [&](index_t begin, index_t end) {
    ++calls;
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 100);
    EXPECT_TRUE(pthread_equal(pthread_self(), caller) != 0);
  });
  EXPECT_EQ(calls, 1);
}

TEST(CpuPool, NestedLoopsRunWhereTheyAre) {
  std::vector<int> visits(64 * 64, 0);
  parallel_for(64, 1, [&](index_t begin, index_t end) {
    for (index_t i = begin; i < end; ++i) {
      const pthread_t outer = pthread_self();
      parallel_for(64, 1, [&](index_t first, index_t last) {
        EXPECT_TRUE(heddle::thread_count() == 1 || pthread_equal(pthread_self(), outer) != 0);
        for (index_t j = first; j < last; ++j) ++visits[as_size(i * 64 + j)];
      });
    }
  });
  for (const int visited : visits) ASSERT_EQ(visited, 1);
}

TEST(CpuPool, ExceptionsReachTheCallerAndThePoolGoesOn) {
  for (const index_t at : {0, 7, 50, 99}) {
    try {
      parallel_for(100, 1, [&](index_t begin, index_t end) {
        for (index_t i = begin; i < end; ++i)
          if (i == at) throw std::runtime_error("here");
      });
      FAIL() << "nothing thrown at " << at;
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "here");
    }
    expect_each_visited_once(1000, 1);
  }
}

TEST(CpuPool, ServesSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<long> sum{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        parallel_for(50, 1, [&](index_t begin, index_t end) {
          long part = 0;
          for (index_t i = begin; i < end; ++i) part += static_cast<long>(i);
          sum += part;
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 8L * 200 * (49 * 50 / 2));
}

TEST(CpuPool, WakesAfterAPause) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    usleep(1000);  // longer than workers spin
    expect_each_visited_once(500, 1);
  }
}

// A child in which everything works exits with 0.
int status_of_child(void (*body)()) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a child that hangs is killed
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(CpuPoolFork, BothProcessesGoOn) {
  expect_each_visited_once(1000, 1);
  for (int repeat = 0; repeat < 5; ++repeat) {
    EXPECT_EQ(status_of_child([] {
                for (int i = 0; i < 20; ++i) expect_each_visited_once(1000, 1);
              }),
              0);
    expect_each_visited_once(1000, 1);
  }
}

TEST(CpuPoolFork, WhileOtherThreadsLoop) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) parallel_for(100, 1, [](index_t, index_t) {});
  });
  for (int repeat = 0; repeat < 20; ++repeat) EXPECT_EQ(status_of_child([] { expect_each_visited_once(1000, 1); }), 0);
  stop = true;
  other.join();
}

TEST(CpuPoolEnvironment, DISABLED_Digest) { std::printf("digest: %d\n", heddle::thread_count()); }

TEST(CpuPoolEnvironment, NumbersOfThreads) {
  const char* const filter = "CpuPoolEnvironment.DISABLED_Digest";
  using heddle_test::digest_under;
  EXPECT_EQ(digest_under("HEDDLE_NUM_THREADS=5 OMP_NUM_THREADS=3", filter), "digest: 5");
  EXPECT_EQ(digest_under("env -u HEDDLE_NUM_THREADS OMP_NUM_THREADS=3", filter), "digest: 3");
  EXPECT_EQ(digest_under("HEDDLE_NUM_THREADS=x OMP_NUM_THREADS=3,2", filter), "digest: 3");
  EXPECT_EQ(digest_under("env -u HEDDLE_NUM_THREADS -u OMP_NUM_THREADS taskset -c 0", filter), "digest: 1");
}

}  // namespace
