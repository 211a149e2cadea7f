// What the programs of bench/counters share: a list of operations, of which one is run by its name.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstring>

#include "heddle/cuda/device.hpp"

struct counted {
  const char* name;
  void (*run)();
};

/// The main function: without an argument it lists the names, with one it runs that operation.
template <std::size_t N>
int run_counted(const counted (&operations)[N], int count, char** arguments) {
  for (const counted& one : operations) {
    if (count < 2) std::puts(one.name);
    if (count >= 2 && std::strcmp(arguments[1], one.name) == 0) {
      one.run();
      heddle::cuda::synchronize();
      return 0;
    }
  }
  if (count >= 2) std::fprintf(stderr, "%s: there is no operation '%s'\n", arguments[0], arguments[1]);
  return count < 2 ? 0 : 1;
}
