#include "benchmarks/harness/command_line.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/strip.h"
#include "benchmark/benchmark.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/versions.h"

namespace dovetail_benchmarks {
namespace {

constexpr char kHelp[] =
    "  --filter=REGEX    only benchmarks whose names match; -REGEX: all others\n"
    "  --repetitions=N   how often each benchmark is measured (default: 11)\n"
    "  --json=FILE       writes every repetition there; //benchmarks:compare reads it\n\n"
    "Google Benchmark's own flags:\n\n";

std::string InUsersDirectory(std::string_view path) {
  const char* directory = std::getenv("BUILD_WORKING_DIRECTORY");
  if (directory == nullptr || path.starts_with('/')) return std::string(path);
  return std::string(directory) + "/" + std::string(path);
}

}  // namespace

std::optional<CommandLine> Initialize(int argc, char** argv) {
  CommandLine command_line;
  std::vector<std::string> flags = {"--benchmark_enable_random_interleaving=true",
                                    "--benchmark_repetitions=11", kMinTimeFlag};
  for (int i = 1; i < argc; ++i) {
    std::string_view flag = argv[i];
    if (absl::ConsumePrefix(&flag, "--json=")) {
      command_line.json = InUsersDirectory(flag);
    } else if (flag.starts_with("--filter=") || flag.starts_with("--repetitions=")) {
      flags.push_back("--benchmark_" + std::string(flag.substr(2)));
    } else {
      if (flag == "--help") std::fputs(kHelp, stdout);
      flags.emplace_back(flag);
    }
  }
  std::vector<char*> arguments = {argv[0]};  // Google Benchmark keeps this pointer
  for (std::string& flag : flags) arguments.push_back(flag.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return std::nullopt;
  DescribeMachine();
  PinThread(0);
  return command_line;
}

}  // namespace dovetail_benchmarks
