// Operator -> how many of its cases passed, failed, are not served yet, differ on purpose.
#pragma once

#include <map>
#include <string>

#include "conformance/lists.hpp"
#include "conformance/run.hpp"

namespace conformance {

struct Counts {
  int passed = 0;
  int failed = 0;
  int not_served = 0;
  int differing = 0;

  Counts& operator+=(const Counts& other);
  void count(Status status);
};

using Table = std::map<std::string, Counts>;

std::string to_string(const Table& table);

/// How the table falls short of what was served before, a line each; empty where it does not.
std::string shortfall(const Table& table, const Served& served);

/// What the list of served operators may now say in addition, a line each; empty where it is up to date.
std::string growth(const Table& table, const Served& served);

}  // namespace conformance
