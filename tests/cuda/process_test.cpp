// What needs a process of its own: exits, forks, faults, machines without CUDA. The program starts itself again with
// the name of a scenario and looks at what that prints and how it ends.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <heddle/heddle.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "cuda/call_counter.hpp"
#include "cuda/support.hpp"

extern char** environ;

namespace {

using namespace heddle_test;

// ---------------------------------------------------------------- the scenarios: 0 is success, a text says what failed

int failures = 0;
void expect(bool holds, const char* what) {
  if (holds) return;
  ++failures;
  std::printf("failed: %s\n", what);
}

struct Caught {
  std::string type = "nothing";
  std::string text;
  std::string name;
};
template <class F>
Caught caught(F f) {
  try {
    f();
  } catch (const hd::DeviceError& error) {
    return {"DeviceError", error.what(), error.name()};
  } catch (const hd::OutOfMemory& error) {
    return {"OutOfMemory", error.what(), ""};
  }
  return {};
}
void expect_text(const Caught& error, const char* part) {
  expect(error.type == "DeviceError" && contains(error.text.c_str(), part), part);
  if (!contains(error.text.c_str(), part)) std::printf("in: %s: %s\n", error.type.c_str(), error.text.c_str());
}

// Objects that live until after main.
hd::StorageHandle global_memory;
hd::StorageHandle global_pinned;
hd::cuda::Stream global_stream = hd::cuda::Stream::default_stream();
hd::cuda::Event global_event;
hd::Tensor<float, 2, hd::Cuda> global_tensor;
thread_local hd::StorageHandle thread_memory;

void queue_work() {
  global_stream = hd::cuda::Stream();
  const hd::cuda::StreamGuard guard(global_stream);
  global_memory = allocate_floats(1000);
  global_pinned = hd::StorageHandle(hd::cuda::allocate_pinned(4000));
  fill(global_memory, 3.0f);
  hd::cuda::copy_async(global_pinned->data, global_memory->data, 4000, cudaMemcpyDeviceToHost, global_stream);
  hd::cuda::record_stream(*global_pinned.get(), global_stream);
  hd::cuda::record_stream(*global_memory.get(), hd::cuda::Stream());
  global_event.record(global_stream);
  global_tensor = hd::relu(hd::matmul(hd::ones<float>({20, 30}, hd::Cuda{}), hd::ones<float>({30, 40}, hd::Cuda{})));
  thread_memory = allocate_floats(500);
  fill(thread_memory, 4.0f);
}

void use_the_device() {
  // Whatever the runtime loads at a kernel's first use is loaded before the process ends.
  queue_work();
  hd::cuda::synchronize();
  queue_work();
}

int scenario_static_objects() {
  use_the_device();
  static const hd::StorageHandle local = allocate_floats(100);
  fill(local, 1.0f);
  return 7;
}

int scenario_exit_from_a_thread() {
  use_the_device();
  std::thread([] {
    thread_memory = allocate_floats(500);
    std::exit(9);
  }).join();
  return 1;
}

int scenario_fork() {
  use_the_device();
  hd::cuda::synchronize();
  expect(hd::sum(hd::ones<float>({100000}, hd::cpu)).item() == 100000, "the parent computes on the host");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    expect(hd::sum(hd::ones<float>({100000}, hd::cpu)).item() == 100000, "the child computes on the host");
    expect(std::holds_alternative<hd::Cpu>(hd::best_device()), "the host is the child's best device");
    expect_text(caught([] { hd::ones<float>({10}, hd::Cuda{}); }), "after fork");
    expect_text(caught([] { global_tensor += 1; }), "after fork");
    expect(!hd::cuda::is_available(), "CUDA is not available in the child");
    expect_text(caught([] { allocate_floats(10); }), "after fork");
    expect_text(caught([] { hd::cuda::Stream(); }), "after fork");
    expect_text(caught([] { hd::cuda::synchronize(); }), "after fork");
    expect_text(caught([] { fill(global_memory, 1.0f); }), "after fork");
    expect_text(caught([] { read(global_memory); }), "after fork");
    expect(!hd::StorageHandle(hd::cuda::allocate_pinned(100))->pinned, "pinned memory is plain in the child");
    global_memory = hd::StorageHandle();
    global_pinned = hd::StorageHandle();
    thread_memory = hd::StorageHandle();
    global_stream = hd::cuda::Stream::default_stream();
    std::fflush(stdout);
    std::exit(failures == 0 ? 5 : 6);
  }
  int status = 0;
  waitpid(child, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 5, "the child ends by itself");
  expect(read(global_memory) == std::vector<float>(1000, 3.0f), "the parent goes on");
  const hd::StorageHandle more = allocate_floats(10);
  fill(more, 2.0f);
  expect(read(more) == std::vector<float>(10, 2.0f), "the parent allocates and launches");
  return failures;
}

int scenario_no_device() {
  expect(!hd::cuda::is_available(), "not available");
  expect(hd::cuda::device_count() == 0, "no device");
  const Caught error = caught([] { allocate_floats(10); });
  expect_text(error, "cuda:0 cannot be used");
  expect_text(error, (std::to_string(CUDART_VERSION / 1000) + ".").c_str());
  expect(error.name == "cudaErrorNoDevice" || error.name == "cudaErrorInsufficientDriver", error.name.c_str());
  expect_text(caught([] { hd::cuda::device_info(); }), "cuda:0 cannot be used");
  expect_text(caught([] { hd::cuda::Stream(); }), "cuda:0 cannot be used");
  expect_text(caught([] { hd::cuda::synchronize(); }), "cuda:0 cannot be used");
  expect(hd::cuda::current_stream().handle() == nullptr, "the default stream is there");
  expect(std::holds_alternative<hd::Cpu>(hd::best_device()), "the host is the best device");
  expect_text(caught([] { hd::zeros<float>({3}, hd::Cuda{}); }), "cuda:0 cannot be used");
  const hd::StorageHandle pinned(hd::cuda::allocate_pinned(100));
  expect(pinned->data != nullptr && !pinned->pinned, "pinned memory is plain memory");
  return failures;
}

int scenario_host_only() {
  calls().clear();
  const auto x = hd::rand<float>({100, 50}, hd::cpu);
  const hd::Tensor y = hd::softmax(hd::matmul(x, x.transpose()) * 0.1f, hd::axis<-1>);
  expect(hd::allclose(hd::sum(y, hd::axis<1>), hd::ones<float>({100}, hd::cpu)), "the rows of a softmax add up to 1");
  expect(calls().empty(), "no call of the CUDA runtime");
  return failures;
}

int scenario_old_driver() {
  expect(!hd::cuda::is_available(), "not available");
  const Caught error = caught([] { allocate_floats(10); });
  expect_text(error, "12.0");
  const std::string runtime = std::to_string(CUDART_VERSION / 1000) + '.' + std::to_string(CUDART_VERSION % 1000 / 10);
  expect_text(error, runtime.c_str());
  expect_text(error, "Install a driver");
  expect(error.name == "cudaErrorInsufficientDriver", error.name.c_str());
  expect(hd::sum(hd::ones<float>({1000}, hd::cpu)).item() == 1000, "the host computes");
  return failures;
}

int scenario_kernel_fault() {
  const hd::StorageHandle x = allocate_floats(100);
  fault_kernel<<<1, 1>>>(floats(x));
  const Caught first = caught([] { hd::cuda::synchronize(); });
  expect_text(first, "cudaErrorIllegalAddress");
  expect_text(first, "HEDDLE_SYNC_CHECK");
  expect(first.name == "cudaErrorIllegalAddress", "name()");
  expect_text(caught([&] { read(x); }), "cudaErrorIllegalAddress");
  expect_text(caught([] { allocate_floats(10); }), "cudaErrorIllegalAddress");
  expect_text(caught([&] { fill(x, 1.0f); }), "cudaErrorIllegalAddress");
  expect(hd::cuda::is_available(), "the device is still counted");
  return failures;
}

int scenario_fault_of_the_user() {
  const hd::StorageHandle x = allocate_floats(100);
  hd::cuda::synchronize();
  fault_kernel<<<1, 1>>>(floats(x));
  // Not swallowed, wherever it is first seen.
  expect_text(caught([&] {
                fill(x, 1.0f);
                read(x);
              }),
              "cudaErrorIllegalAddress");
  return failures;
}

int scenario_sync_check() {
  const hd::StorageHandle x = allocate_floats(100);
  fill(x, 1.0f);
  const Caught error = caught([&] {
    hd::on_cuda::launch<fault_kernel>(1, 1, 0, hd::on_cuda::current_context(0, "the guilty operation"), floats(x));
  });
  expect_text(error, "the guilty operation");
  expect_text(error, "cudaErrorIllegalAddress");
  return failures;
}

int scenario_without_pools() {
  std::map<std::string, int> made = calls_of([] {
    const hd::StorageHandle x = allocate_floats(1000);
    fill(x, 2.0f);
    expect(read(x) == std::vector<float>(1000, 2.0f), "values");
  });
  expect(made["cudaMallocAsync"] == 0 && made["cudaFreeAsync"] == 0, "no pool");
  expect(made["cudaMalloc"] == 1 && made["cudaFree"] == 1, "cudaMalloc and cudaFree");
  const Caught error = caught([] { hd::cuda::allocate(std::size_t{1} << 46, hd::Cuda{0}); });
  expect(error.type == "OutOfMemory", error.text.c_str());
  hd::StorageHandle y = allocate_floats(10);
  hd::cuda::record_stream(*y.get(), hd::cuda::Stream());
  y = hd::StorageHandle();
  hd::cuda::trim();
  hd::cuda::set_release_threshold(0);
  expect(hd::cuda::memory_stats().in_use == 0 && hd::cuda::memory_stats().total > 0, "statistics");
  return failures;
}

int scenario_first_use() {
  constexpr int count = 32;
  int waiting = count;
  std::vector<int> good(count, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      __atomic_sub_fetch(&waiting, 1, __ATOMIC_ACQ_REL);
      while (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE) > 0) std::this_thread::yield();
      good[static_cast<std::size_t>(t)] = hd::sum(hd::ones<float>({1000}, hd::Cuda{})).item() == 1000 &&
                                          hd::sum(hd::ones<float>({1000}, hd::cpu)).item() == 1000;
    });
  for (std::thread& thread : threads) thread.join();
  expect(good == std::vector<int>(count, 1), "every thread's values");
  return failures;
}

const std::map<std::string, int (*)()> scenarios{{"static_objects", scenario_static_objects},
                                                 {"exit_from_a_thread", scenario_exit_from_a_thread},
                                                 {"fork", scenario_fork},
                                                 {"no_device", scenario_no_device},
                                                 {"host_only", scenario_host_only},
                                                 {"old_driver", scenario_old_driver},
                                                 {"kernel_fault", scenario_kernel_fault},
                                                 {"fault_of_the_user", scenario_fault_of_the_user},
                                                 {"sync_check", scenario_sync_check},
                                                 {"without_pools", scenario_without_pools},
                                                 {"first_use", scenario_first_use}};

// ---------------------------------------------------------------------------------------------------------- the tests

struct Outcome {
  int code;            ///< exit code, or minus the signal
  std::string output;  ///< all that was printed, but for the GPU emulator's own lines
};

/// Runs a scenario with changes of the environment: "NAME=value" sets, "NAME" alone removes.
Outcome run(const std::string& scenario, const std::vector<std::string>& changes = {}) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string name = std::string(*variable).substr(0, std::string(*variable).find('='));
    if (std::none_of(changes.begin(), changes.end(),
                     [&](const std::string& change) { return change.substr(0, change.find('=')) == name; }))
      environment.emplace_back(*variable);
  }
  for (const std::string& change : changes)
    if (change.find('=') != std::string::npos) environment.push_back(change);
  std::vector<char*> environment_pointers;
  for (std::string& variable : environment) environment_pointers.push_back(variable.data());
  environment_pointers.push_back(nullptr);

  char path[] = "/tmp/heddle_process_test_XXXXXX";
  const int file = mkstemp(path);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, file, 1);
  posix_spawn_file_actions_adddup2(&actions, file, 2);
  std::string name = "--scenario=" + scenario;
  char program[] = "process_test";
  char* const arguments[] = {program, name.data(), nullptr};
  pid_t child = 0;
  const int spawned = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments, environment_pointers.data());
  posix_spawn_file_actions_destroy(&actions);
  Outcome outcome{-1000, ""};
  if (spawned == 0) {
    int status = 0;
    waitpid(child, &status, 0);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  close(file);
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);)
    if (line.rfind("gpuemu:", 0) != 0) outcome.output += line + '\n';
  unlink(path);
  return outcome;
}

/// Of a scenario in which a kernel fails on purpose: whoever runs it may say so.
void expect_success(const Outcome& outcome) { EXPECT_EQ(outcome.code, 0) << outcome.output; }

void expect_quiet(const Outcome& outcome, int code) {
  EXPECT_EQ(outcome.code, code);
  EXPECT_EQ(outcome.output, "");
}

#define SKIP_WITHOUT_DEVICE() \
  if (!hd::cuda::is_available()) GTEST_SKIP() << "no CUDA device"

TEST(Process, R185_StaticObjectsAreReleasedAfterMain) {
  SKIP_WITHOUT_DEVICE();
  expect_quiet(run("static_objects"), 7);
  expect_quiet(run("exit_from_a_thread"), 9);
  expect_quiet(run("static_objects", {"HEDDLE_CUDA_POOL=off"}), 7);
}

TEST(Process, R187_CudaAfterForkFailsWithAMessage) {
  SKIP_WITHOUT_DEVICE();
  expect_quiet(run("fork"), 0);
}

TEST(Process, R189_WithoutADeviceNothingFailsThatNeedsNone) {
  expect_quiet(run("no_device", {"CUDA_VISIBLE_DEVICES="}), 0);
  expect_quiet(run("host_only", {"CUDA_VISIBLE_DEVICES="}), 0);
  expect_quiet(run("host_only"), 0);
}

#if defined(HEDDLE_TEST_OLD_DRIVER)
TEST(Process, R192_AnOldDriverIsNamed) {
  // The toolkit's own runtime beside a driver of CUDA 12.0: whatever else serves CUDA here is left out.
  expect_quiet(run("old_driver", {"LD_LIBRARY_PATH=" HEDDLE_TEST_OLD_DRIVER, "LD_PRELOAD"}), 0);
}
#endif

TEST(Process, R193_AFaultIsReportedByTheNextCall) {
  SKIP_WITHOUT_DEVICE();
  expect_success(run("kernel_fault"));
  expect_success(run("fault_of_the_user"));
}

TEST(Process, SyncCheckNamesTheOperation) {
  SKIP_WITHOUT_DEVICE();
  expect_success(run("sync_check", {"HEDDLE_SYNC_CHECK=1"}));
}

TEST(Process, DevicesWithoutPoolsAreServed) {
  SKIP_WITHOUT_DEVICE();
  expect_quiet(run("without_pools", {"HEDDLE_CUDA_POOL=off"}), 0);
}

TEST(Process, R170_ManyThreadsMakeTheFirstUseAtOnce) {
  SKIP_WITHOUT_DEVICE();
  for (int round = 0; round < 10; ++round) expect_quiet(run("first_use"), 0);
}

}  // namespace

int main(int count, char** arguments) {
  const char prefix[] = "--scenario=";
  if (count == 2 && std::strncmp(arguments[1], prefix, sizeof(prefix) - 1) == 0) {
    alarm(120);
    const auto found = scenarios.find(arguments[1] + sizeof(prefix) - 1);
    return found == scenarios.end() ? 99 : found->second();
  }
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
