#include "conformance/table.hpp"

#include <algorithm>
#include <cstdio>

namespace conformance {
namespace {

std::string row(const std::string& name, std::size_t width, const Counts& counts) {
  char numbers[80];
  std::snprintf(numbers, sizeof(numbers), "%8d%8d%16d%20d\n", counts.passed, counts.failed, counts.not_served,
                counts.differing);
  return name + std::string(width - std::min(width, name.size()), ' ') + numbers;
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
  passed += other.passed;
  failed += other.failed;
  not_served += other.not_served;
  differing += other.differing;
  return *this;
}

void Counts::count(Status status) {
  switch (status) {
    case Status::passed:
      ++passed;
      break;
    case Status::failed:
      ++failed;
      break;
    case Status::not_served:
      ++not_served;
      break;
    case Status::differs_on_purpose:
      ++differing;
      break;
  }
}

std::string to_string(const Table& table) {
  std::size_t width = 12;
  for (const auto& [op, counts] : table) width = std::max(width, op.size() + 2);
  std::string text =
      "operator" + std::string(width - 8, ' ') + "  passed  failed  not yet served  differs on purpose\n";
  Counts total;
  for (const auto& [op, counts] : table) {
    text += row(op, width, counts);
    total += counts;
  }
  return text + row("total", width, total);
}

std::string shortfall(const Table& table, const Served& served) {
  std::string text;
  for (const auto& [op, count] : served) {
    const auto found = table.find(op);
    const int passed = found == table.end() ? 0 : found->second.passed;
    if (passed < count)
      text += op + " passes " + std::to_string(passed) + " cases, but passed " + std::to_string(count) + " before\n";
  }
  return text;
}

std::string growth(const Table& table, const Served& served) {
  std::string text;
  for (const auto& [op, counts] : table) {
    const auto found = served.find(op);
    if (counts.failed == 0 && counts.passed > (found == served.end() ? 0 : found->second))
      text += op + " " + std::to_string(counts.passed) + "\n";
  }
  return text;
}

}  // namespace conformance
