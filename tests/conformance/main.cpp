// heddle_conformance: runs operator cases through Heddle and prints what passes.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "conformance/case.hpp"
#include "conformance/lists.hpp"
#include "conformance/npy.hpp"
#include "conformance/options.hpp"
#include "conformance/registry.hpp"
#include "conformance/table.hpp"
#include "heddle/cuda/device.hpp"

namespace {

using namespace conformance;
namespace fs = std::filesystem;

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr int exit_no_device = 77;

const char* word(Status status) {
  constexpr const char* words[] = {"passed", "FAILED", "not yet served", "differs on purpose"};
  return words[static_cast<int>(status)];
}

bool is_wanted(const Options& options, const std::string& op) {
  return options.only.empty() || std::find(options.only.begin(), options.only.end(), op) != options.only.end();
}

int run(const Options& options) {
  const bool own_cases = options.cases.empty();
  const std::vector<fs::path> folders = find_cases(own_cases ? HEDDLE_CONFORMANCE_CASES : options.cases);
  const std::vector<Exception> exceptions =
      read_exceptions(options.differs.empty() ? HEDDLE_CONFORMANCE_DIR "/differs_on_purpose.txt" : options.differs);
  const Registry registry = all_operators();

  Table table;
  std::string failures;
  for (const fs::path& folder : folders) {
    const std::string id = id_of(folder);
    std::string op = folder.parent_path().filename().string();
    Result result;
    try {
      const Case given = read_case(folder);
      op = given.op;
      if (!is_wanted(options, op)) continue;
      if (options.list) {
        std::printf("%s\n", id.c_str());
        continue;
      }
      result = run_case(registry, options.settings, given, find_exception(exceptions, id));
    } catch (const BadCase& error) {
      if (!is_wanted(options, op)) continue;
      result = {Status::failed, std::string("bad case: ") + error.what()};
    }
    table[op].count(result.status);
    if (options.verbose)
      std::printf("%-18s %s%s%s\n", word(result.status), id.c_str(), result.message.empty() ? "" : ": ",
                  result.message.c_str());
    if (result.status == Status::failed) failures += id + ": " + result.message + "\n";
    std::fflush(stdout);
  }
  if (options.list) return 0;
  if (folders.empty()) throw BadCase("there is no case in " + options.cases);

  std::fputs(to_string(table).c_str(), stdout);
  bool good = failures.empty();
  if (!good) std::printf("\nfailed:\n%s", failures.c_str());
  if (options.only.empty() && (own_cases || !options.served.empty())) {
    const Served served = read_served(options.served.empty() ? HEDDLE_CONFORMANCE_DIR "/served.txt" : options.served);
    const std::string missing = shortfall(table, served);
    if (!missing.empty()) std::printf("\nserved before, and no longer:\n%s", missing.c_str());
    good = good && missing.empty();
    const std::string more = growth(table, served);
    if (good && !more.empty()) std::printf("\nserved.txt may now say:\n%s", more.c_str());
  }
  return good ? 0 : exit_failed;
}

bool can_compute_on(Device device) {
  if (device == Device::cpu) return true;
  const Registry registry = all_operators();
  return std::any_of(registry.operators().begin(), registry.operators().end(),
                     [](const Operator& op) { return op.on_cuda != nullptr; });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = parse_options({argv + 1, argv + argc});
    if (options.help) {
      std::fputs(usage, stdout);
      return 0;
    }
    if (!options.list && !can_compute_on(options.settings.device)) {
      std::fputs("heddle_conformance: built without CUDA, --device cuda is not possible\n", stderr);
      return exit_usage;
    }
    if (!options.list && options.settings.device == Device::cuda && !heddle::cuda::is_available()) {
      std::fputs("heddle_conformance: skipped: no CUDA device\n", stderr);
      return exit_no_device;
    }
    return run(options);
  } catch (const BadOption& error) {
    std::fprintf(stderr, "heddle_conformance: %s\n\n%s", error.what(), usage);
    return exit_usage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heddle_conformance: %s\n", error.what());
    return exit_usage;
  }
}
