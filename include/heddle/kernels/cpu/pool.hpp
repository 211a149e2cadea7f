// The CPU's threads: a pool that lives as long as the process, and parallel_for on it.
//
// One loop runs at a time. A caller that finds the pool taken (a nested loop, or another thread's) runs its loop
// itself: nothing ever waits for a turn, so nothing can deadlock. Workers that run out of work spin for a moment, since
// the next loop of a training step comes within microseconds, and then sleep.
#pragma once

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <type_traits>

#include "heddle/config.hpp"
#include "heddle/core/shape.hpp"

namespace heddle {

/// The pool behind parallel_for. It is made at first use and never destroyed, so that loops may run during exit.
class ThreadPool {
 public:
  /// The process's pool.
  HEDDLE_SHARED static ThreadPool& instance() {
    static ThreadPool* const pool = make();
    return *pool;
  }

  /// Threads that a loop is shared by, the calling one included.
  int size() const noexcept { return size_; }

  /// One loop: calls run(context, begin, end) for ranges that cover 0 to count.
  struct Job {
    void (*run)(void* context, index_t begin, index_t end) = nullptr;
    void* context = nullptr;
    index_t count = 0;
    index_t step = 1;  ///< ranges are multiples of it, save the last
  };

  /// Runs the job on all threads and returns when it is finished. Throws what a range threw first; ranges that had not
  /// begun then are left out. Returns false, having done nothing, when the pool is taken.
  bool try_run(const Job& job) {
    if (size_ < 2 || load(busy_) != 0 || __atomic_exchange_n(&busy_, 1, __ATOMIC_ACQUIRE) != 0) return false;
    start_workers();
    job_ = job;
    error_ = nullptr;
    store(next_, 0);
    open();
    work();
    close();
    std::exception_ptr error = static_cast<std::exception_ptr&&>(error_);
    error_ = nullptr;
    __atomic_store_n(&busy_, 0, __ATOMIC_RELEASE);
    if (error) std::rethrow_exception(error);
    return true;
  }

 private:
  // state_ holds how many workers are in the job (low 32 bits), whether more may come in, and the job's number above.
  static constexpr std::uint64_t open_bit = std::uint64_t{1} << 32;
  static constexpr std::uint64_t number_unit = std::uint64_t{1} << 33;
  static constexpr std::uint64_t active_mask = open_bit - 1;
  static constexpr long spin_nanoseconds = 50'000;

  static ThreadPool* make() {
    auto* const pool = new ThreadPool;
    pthread_atfork(nullptr, nullptr, [] { instance().reset_after_fork(); });
    return pool;
  }

  ThreadPool() : size_(wanted_threads()) {}

  static int wanted_threads() {
    static constexpr const char* names[] = {"HEDDLE_NUM_THREADS", "OMP_NUM_THREADS"};
    for (const char* const name : names) {
      const char* const text = std::getenv(name);
      const long asked = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
      if (asked > 0) return asked < 1024 ? static_cast<int>(asked) : 1024;
    }
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
      const int cpus = CPU_COUNT(&allowed);
      if (cpus > 0) return cpus;
    }
    return 1;
  }

  void start_workers() {
    if (workers_ == size_ - 1) return;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    // The program's signals are for the program's threads.
    sigset_t all, before;
    sigfillset(&all);
    const bool masked = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
    for (; workers_ < size_ - 1; ++workers_) {
      pthread_t thread;
      if (pthread_create(&thread, &attributes, enter, this) != 0) break;  // fewer threads do the same work
    }
    if (masked) pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
  }

  static void* enter(void* pool) {
    static_cast<ThreadPool*>(pool)->worker();
    return nullptr;
  }

  void worker() {
    std::uint64_t done = 0;  // number of the job last taken part in
    for (;;) {
      std::uint64_t state = wait_for_job(done);
      while ((state & open_bit) != 0) {
        if (!__atomic_compare_exchange_n(&state_, &state, state + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
          continue;
        work();
        leave();
        break;
      }
      done = state / number_unit;
    }
  }

  /// The state once it is open with another number than `done`.
  std::uint64_t wait_for_job(std::uint64_t done) {
    const auto is_new = [done](std::uint64_t state) { return (state & open_bit) != 0 && state / number_unit != done; };
    std::uint64_t state = load(state_);
    if (is_new(state)) return state;
    const long long until = now() + spin_nanoseconds;
    do {
      for (int i = 0; i < 32; ++i) {
        pause();
        state = load(state_);
        if (is_new(state)) return state;
      }
    } while (now() < until);
    pthread_mutex_lock(&mutex_);
    __atomic_add_fetch(&sleepers_, 1, __ATOMIC_SEQ_CST);
    while (!is_new(state = load(state_))) pthread_cond_wait(&job_came_, &mutex_);
    __atomic_sub_fetch(&sleepers_, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&mutex_);
    return state;
  }

  /// Lets workers in. A worker counts itself as a sleeper before it looks at the state for the last time, and the state
  /// is set here before the sleepers are counted: one of the two sees the other.
  void open() {
    store(state_, (load(state_) / number_unit + 1) * number_unit + open_bit);
    if (load(sleepers_) == 0) return;
    pthread_mutex_lock(&mutex_);
    pthread_cond_broadcast(&job_came_);
    pthread_mutex_unlock(&mutex_);
  }

  /// Lets no more workers in and waits until those inside have left.
  void close() {
    __atomic_and_fetch(&state_, ~open_bit, __ATOMIC_SEQ_CST);
    const long long until = now() + spin_nanoseconds;
    do {
      for (int i = 0; i < 32; ++i) {
        if ((load(state_) & active_mask) == 0) return;
        pause();
      }
    } while (now() < until);
    pthread_mutex_lock(&mutex_);
    store(waiting_, 1);
    while ((load(state_) & active_mask) != 0) pthread_cond_wait(&workers_left_, &mutex_);
    store(waiting_, 0);
    pthread_mutex_unlock(&mutex_);
  }

  void leave() {
    __atomic_sub_fetch(&state_, 1, __ATOMIC_SEQ_CST);
    if (load(waiting_) == 0) return;
    pthread_mutex_lock(&mutex_);
    pthread_cond_signal(&workers_left_);
    pthread_mutex_unlock(&mutex_);
  }

  /// Takes ranges until none is left.
  void work() noexcept {
    const Job job = job_;
    for (;;) {
      // Long ranges first, short ones at the end: threads that are held up leave what is left to the others.
      index_t begin = __atomic_load_n(&next_, __ATOMIC_RELAXED), end;
      do {
        if (begin >= job.count) return;
        const index_t left = job.count - begin;
        const index_t share = left / (2 * size_) / job.step * job.step;
        const index_t length = share > job.step ? share : job.step;
        end = left > length ? begin + length : job.count;
      } while (!__atomic_compare_exchange_n(&next_, &begin, end, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
      try {
        job.run(job.context, begin, end);
      } catch (...) {
        pthread_mutex_lock(&mutex_);
        if (!error_) error_ = std::current_exception();
        pthread_mutex_unlock(&mutex_);
        store(next_, job.count);
      }
    }
  }

  /// In a forked child there is one thread, whatever the others were doing: the pool begins anew.
  void reset_after_fork() {
    mutex_ = PTHREAD_MUTEX_INITIALIZER;
    job_came_ = PTHREAD_COND_INITIALIZER;
    workers_left_ = PTHREAD_COND_INITIALIZER;
    store(state_, load(state_) / number_unit * number_unit);
    store(sleepers_, 0);
    store(waiting_, 0);
    workers_ = 0;
    __atomic_store_n(&busy_, 0, __ATOMIC_SEQ_CST);
  }

  template <class T>
  static T load(const T& variable) noexcept {
    return __atomic_load_n(&variable, __ATOMIC_SEQ_CST);
  }
  template <class T, class V>
  static void store(T& variable, V value) noexcept {
    __atomic_store_n(&variable, static_cast<T>(value), __ATOMIC_SEQ_CST);
  }
  static long long now() noexcept {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<long long>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  }
  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }

  const int size_;
  int workers_ = 0;  // started; changed only by the holder of busy_
  int busy_ = 0;
  Job job_;
  std::exception_ptr error_;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t job_came_ = PTHREAD_COND_INITIALIZER;
  pthread_cond_t workers_left_ = PTHREAD_COND_INITIALIZER;
  // What spinning threads watch and what working threads change lie on cache lines of their own.
  alignas(64) std::uint64_t state_ = 0;
  int sleepers_ = 0;
  int waiting_ = 0;
  alignas(64) index_t next_ = 0;
};

/// How many threads parallel_for shares its work among: HEDDLE_NUM_THREADS, else OMP_NUM_THREADS, else the CPUs that
/// the process may run on. Read once. Example: `int t = heddle::thread_count();`
inline int thread_count() { return ThreadPool::instance().size(); }

/// Calls f(begin, end) for ranges that cover 0 to count, each once, on several threads, and returns when all are done.
///
/// Each begin is a multiple of grain, the least work worth a thread: a count of no more than grain, a nested loop and a
/// loop begun while another thread's is running are one plain call f(0, count). Which thread gets which range changes
/// from run to run: f must not let its result depend on it. An exception that f throws reaches the caller; ranges not
/// yet begun are then left out. Fork only outside f.
///
/// Example: `heddle::parallel_for(n, 4096, [&](index_t begin, index_t end) { ... });`
template <class F>
void parallel_for(index_t count, index_t grain, F&& f) {
  if (count <= 0) return;
  if (grain < 1) grain = 1;
  if (count > grain) {
    ThreadPool& pool = ThreadPool::instance();
    const index_t grains = (count - 1) / grain + 1;
    const index_t ranges = index_t{32} * pool.size();
    using Function = std::remove_reference_t<F>;
    ThreadPool::Job job;
    job.run = [](void* context, index_t begin, index_t end) { (*static_cast<Function*>(context))(begin, end); };
    job.context = const_cast<void*>(static_cast<const void*>(&f));
    job.count = count;
    job.step = ((grains - 1) / ranges + 1) * grain;
    if (job.step < count && pool.try_run(job)) return;
  }
  f(index_t{0}, count);
}

}  // namespace heddle
