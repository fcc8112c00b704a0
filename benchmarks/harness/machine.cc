#include "benchmarks/harness/machine.h"

#include <gnu/libc-version.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "benchmark/benchmark.h"

namespace dovetail_benchmarks {
namespace {

// The processors of the process, as they were before the first call of PinThread.
const cpu_set_t& Allowed() {
  static const cpu_set_t allowed = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return set;
  }();
  return allowed;
}

// What follows `prefix` and a colon in the file's first line that begins so; "unknown" if none
// does.
std::string ValueIn(const char* path, std::string_view prefix) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::string_view rest = line;
    if (!absl::ConsumePrefix(&rest, prefix)) continue;
    while (!rest.empty() && (absl::ascii_isspace(rest[0]) || rest[0] == ':')) rest.remove_prefix(1);
    return std::string(rest);
  }
  return "unknown";
}

}  // namespace

int UsableProcessors() { return CPU_COUNT(&Allowed()); }

void DescribeMachine() {
  const int count = UsableProcessors();
  benchmark::AddCustomContext("processor", ValueIn("/proc/cpuinfo", "model name"));
  benchmark::AddCustomContext("processors_usable", absl::StrCat(count));
  benchmark::AddCustomContext("frequency_governor",
                              ValueIn("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", ""));
#if defined(__clang__)
  benchmark::AddCustomContext("compiler", __VERSION__);
#else
  benchmark::AddCustomContext("compiler", "g++ " __VERSION__);
#endif
  benchmark::AddCustomContext("c_library", absl::StrCat("glibc ", gnu_get_libc_version()));
  double load = 0;
  if (getloadavg(&load, 1) == 1 && load > 0.5 * count) {
    absl::FPrintF(stderr,
                  "***WARNING*** The load average of the last minute is %.1f: if other programs "
                  "still run, times are not to be trusted.\n",
                  load);
  }
}

void PinThread(int index) {
  std::vector<int> processors;
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0; --cpu) {
    if (CPU_ISSET(cpu, &Allowed())) processors.push_back(cpu);
  }
  if (processors.empty()) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processors[index % processors.size()], &one);
  sched_setaffinity(0, sizeof one, &one);
}

void UnpinThread() { sched_setaffinity(0, sizeof(cpu_set_t), &Allowed()); }

}  // namespace dovetail_benchmarks
