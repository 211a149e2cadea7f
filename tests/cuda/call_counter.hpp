// Counts the calls that a program makes of the CUDA runtime. Link the library heddle_call_counter, and the runtime as a
// shared library.
#pragma once

#include <map>
#include <string>

namespace heddle_test {

/// The calls made so far, by name. Only those that Heddle has reason to make are counted: see call_counter.cpp.
std::map<std::string, int>& calls();

/// The calls made while `f` runs, by name. Example: `EXPECT_EQ(calls_of([&] { y = a + b; })["cudaLaunchKernel"], 1);`
template <class F>
std::map<std::string, int> calls_of(F f) {
  calls().clear();
  f();
  return calls();
}

}  // namespace heddle_test
