// The two tables beside the driver: what is served (it may only grow) and what differs on purpose.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "conformance/run.hpp"

namespace conformance {

/// Operator -> how many of the repository's cases it passes at least.
using Served = std::map<std::string, int>;

/// Reads lines "Operator count"; '#' begins a comment.
Served read_served(const std::filesystem::path& path);

/// Reads lines "pattern | error, value or no-such-call | reason"; '#' begins a comment.
std::vector<Exception> read_exceptions(const std::filesystem::path& path);

/// The first entry whose pattern fits the case's id; nullptr where none does.
const Exception* find_exception(const std::vector<Exception>& exceptions, const std::string& case_id);

}  // namespace conformance
