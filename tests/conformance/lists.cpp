#include "conformance/lists.hpp"

#include <fstream>
#include <sstream>
#include <string_view>

#include "conformance/npy.hpp"

namespace conformance {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// The lines of a file without comments and without empty ones.
std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream stream(path);
  if (!stream) throw BadCase("can't open " + path.string());
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    line = trimmed(line.substr(0, line.find('#')));
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

bool fits(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  pattern.remove_prefix(star + 1);
  for (std::size_t skipped = star; skipped <= text.size(); ++skipped)
    if (fits(pattern, text.substr(skipped))) return true;
  return false;
}

}  // namespace

Served read_served(const std::filesystem::path& path) {
  Served served;
  for (const std::string& line : lines_of(path)) {
    std::istringstream words(line);
    std::string op;
    int count = 0;
    if (!(words >> op >> count) || count <= 0 || !served.emplace(op, count).second)
      throw BadCase(path.string() + ": '" + line + "' is not an operator, once, and how many cases it passes");
  }
  return served;
}

std::vector<Exception> read_exceptions(const std::filesystem::path& path) {
  std::vector<Exception> exceptions;
  for (const std::string& line : lines_of(path)) {
    const std::size_t first = line.find('|');
    const std::size_t second = first == std::string::npos ? first : line.find('|', first + 1);
    if (second == std::string::npos) throw BadCase(path.string() + ": '" + line + "' has no three parts");
    Exception made;
    made.pattern = trimmed(line.substr(0, first));
    const std::string ours = trimmed(line.substr(first + 1, second - first - 1));
    made.reason = trimmed(line.substr(second + 1));
    if (ours == "error")
      made.ours = Exception::Ours::error;
    else if (ours == "value")
      made.ours = Exception::Ours::value;
    else if (ours == "no-such-call")
      made.ours = Exception::Ours::no_such_call;
    else
      throw BadCase(path.string() + ": '" + ours + "' is neither error nor value nor no-such-call");
    exceptions.push_back(std::move(made));
  }
  return exceptions;
}

const Exception* find_exception(const std::vector<Exception>& exceptions, const std::string& case_id) {
  for (const Exception& exception : exceptions)
    if (fits(exception.pattern, case_id)) return &exception;
  return nullptr;
}

}  // namespace conformance
