// heddle_conformance: runs operator cases through Heddle and prints what passes.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/lists.hpp"
#include "conformance/npy.hpp"
#include "conformance/options.hpp"
#include "conformance/registry.hpp"
#include "conformance/table.hpp"
#include "heddle/cuda/device.hpp"

namespace {

using namespace conformance;

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
  std::vector<CasePlace> places;
  for (const std::string& root : own_cases ? std::vector<std::string>{HEDDLE_CONFORMANCE_CASES, HEDDLE_OPINFO_CASES}
                                           : std::vector<std::string>{options.cases})
    for (CasePlace& place : find_cases(root)) places.push_back(std::move(place));
  const std::vector<Exception> exceptions =
      read_exceptions(options.differs.empty() ? HEDDLE_CONFORMANCE_DIR "/differs_on_purpose.txt" : options.differs);
  const Registry registry = all_operators();

  Table table;
  std::string failures;
  int with_gradients = 0;
  int checked_gradients = 0;
  for (const CasePlace& place : places) {
    if (options.list) {
      if (is_wanted(options, place.op())) std::printf("%s\n", place.id.c_str());
      continue;
    }
    std::string op = place.op();
    Result result;
    try {
      const Case given = read_case(place);
      op = given.op;
      if (!is_wanted(options, op)) continue;
      result = run_case(registry, options.settings, given, find_exception(exceptions, place.id));
    } catch (const BadCase& error) {
      if (!is_wanted(options, op)) continue;
      result = {Status::failed, std::string("bad case: ") + error.what()};
    }
    table[op].count(result.status);
    with_gradients += result.has_gradients ? 1 : 0;
    checked_gradients += result.checked_gradients ? 1 : 0;
    if (options.verbose)
      std::printf("%-18s %s%s%s\n", word(result.status), place.id.c_str(), result.message.empty() ? "" : ": ",
                  result.message.c_str());
    if (result.status == Status::failed) failures += place.id + ": " + result.message + "\n";
    std::fflush(stdout);
  }
  if (options.list) return 0;
  if (places.empty()) throw BadCase("there is no case in " + options.cases);

  std::fputs(to_string(table).c_str(), stdout);
  if (with_gradients > 0)
    std::printf("gradients compared in %d of %d such cases whose outputs are served\n", checked_gradients,
                with_gradients);
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
