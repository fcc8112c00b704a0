#include "benchmarks/ratio_report.h"

#include <sys/single_threaded.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "benchmark/benchmark.h"

namespace {

constexpr char kOurs[] = "dovetail";
constexpr int kNameWidth = 28;
constexpr int kCellWidth = 20;

// The usual console output, of medians where there are any, and every single time kept aside.
class Recorder final : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> shown;
    for (const Run& run : runs) {
      const bool is_single = run.run_type == Run::RT_Iteration && run.repetitions <= 1;
      if (is_single || run.aggregate_name == "median" || run.error_occurred) shown.push_back(run);
      if (run.run_type != Run::RT_Iteration || run.error_occurred) continue;
      const std::vector<std::string> parts = absl::StrSplit(run.run_name.function_name, '/');
      if (parts.size() == 2) Note(parts[0], parts[1], TimeOf(run));
    }
    if (!shown.empty()) ConsoleReporter::ReportRuns(shown);
  }

  // `title` says of what, if that needs saying.
  void PrintTable(const std::string& title = "") {
    if (steps_.empty()) return;
    if (!title.empty()) std::printf("\n%s", title.c_str());
    std::sort(steps_.begin(), steps_.end());  // they were run in random order
    std::string head = absl::StrFormat("\n%-*s", kNameWidth, "ns (Dovetail / theirs)");
    for (const std::string& library : libraries_)
      head += absl::StrFormat("%*s", kCellWidth, library);
    std::puts(head.c_str());
    for (const std::string& step : steps_) {
      std::string row = absl::StrFormat("%-*s", kNameWidth, step);
      const double ours = Median(step, kOurs);
      for (const std::string& library : libraries_) {
        const double time = Median(step, library);
        std::string cell = "-";
        if (time > 0) cell = absl::StrFormat("%.1f", time);
        if (time > 0 && ours > 0 && library != kOurs)
          cell += absl::StrFormat(" (%.2f)", ours / time);
        row += absl::StrFormat("%*s", kCellWidth, cell);
      }
      std::puts(row.c_str());
    }
  }

 private:
  // The time that the benchmark was told to measure: the processor's, unless it says otherwise.
  static double TimeOf(const Run& run) {
    return run.run_name.time_type.empty() ? run.GetAdjustedCPUTime() : run.GetAdjustedRealTime();
  }

  void Note(const std::string& step, const std::string& library, double time) {
    auto remember = [](std::vector<std::string>& names, const std::string& name) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    remember(steps_, step);
    remember(libraries_, library);
    times_[{step, library}].push_back(time);
  }

  // 0 where there is none.
  double Median(const std::string& step, const std::string& library) const {
    auto it = times_.find({step, library});
    if (it == times_.end()) return 0;
    std::vector<double> times = it->second;
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
  }

  std::vector<std::string> steps_;
  std::vector<std::string> libraries_{kOurs};
  std::map<std::pair<std::string, std::string>, std::vector<double>> times_;
};

}  // namespace

namespace dovetail_benchmarks {
namespace {

// Whether the flags, which win over the defaults, are understood.
bool Initialize(int argc, char** argv) {
  std::vector<std::string> defaults = {"--benchmark_enable_random_interleaving=true",
                                       "--benchmark_repetitions=11", "--benchmark_min_time=0.05"};
  std::vector<char*> arguments = {argv[0]};
  for (std::string& flag : defaults) arguments.push_back(flag.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  return !benchmark::ReportUnrecognizedArguments(count, arguments.data());
}

}  // namespace

int RunBenchmarks(int argc, char** argv, void (*register_later)()) {
  if (!Initialize(argc, argv)) return 1;
  Recorder recorder;
  benchmark::RunSpecifiedBenchmarks(&recorder);
  if (register_later != nullptr) {
    benchmark::ClearRegisteredBenchmarks();
    register_later();
    benchmark::RunSpecifiedBenchmarks(&recorder);
  }
  recorder.PrintTable();
  benchmark::Shutdown();
  return 0;
}

int RunBenchmarksInBothThreadStates(int argc, char** argv) {
  if (!Initialize(argc, argv)) return 1;
  Recorder alone, among;
  // A library that was linked may have started a thread already.
  const std::string first = __libc_single_threaded ? "In a process with one thread"
                                                   : "Before this program started a thread";
  benchmark::RunSpecifiedBenchmarks(&alone);
  std::thread([] {}).join();  // from now on the C library counts the process as multi-threaded
  benchmark::RunSpecifiedBenchmarks(&among);
  among.PrintTable("In a process that has had a second thread");
  alone.PrintTable(first);
  benchmark::Shutdown();
  return 0;
}

}  // namespace dovetail_benchmarks
