#include "benchmarks/harness/ratio_report.h"

#include <sys/single_threaded.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "benchmark/benchmark.h"
#include "benchmarks/harness/command_line.h"
#include "benchmarks/harness/json_file.h"
#include "benchmarks/harness/noise.h"
#include "benchmarks/harness/versions.h"

namespace dovetail_benchmarks {
namespace {

constexpr char kOurs[] = "dovetail";
constexpr int kNameWidth = 28;
constexpr int kCellWidth = 20;

// Writes Google Benchmark's own output in the format of --benchmark_format, and records every time.
// On a console it shows only medians, if there are any. Other formats are for programs: they have
// every run, from all calls of RunSpecifiedBenchmarks, and no table.
class Recorder final : public benchmark::BenchmarkReporter {
 public:
  // (The default reporter also decides on colors, by the flags and by whether this is a terminal.)
  explicit Recorder(const std::string& json)
      : output_(benchmark::CreateDefaultDisplayReporter()), file_(json) {}

  // False if the JSON file can't be written.
  bool is_good() const { return file_.is_good(); }

  bool is_console() const {
    return dynamic_cast<benchmark::ConsoleReporter*>(output_.get()) != nullptr;
  }

  // The next runs are in another state of the process. They get a table of their own; in other
  // formats, this label.
  void Begin(const std::string& state) { state_ = state; }

  bool ReportContext(const Context& context) override {
    file_.ReportContext(context);
    if (has_begun_ && !is_console()) return true;
    has_begun_ = true;
    return output_->ReportContext(context);
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> shown;
    for (const Run& run : runs) {
      const bool is_single = run.run_type == Run::RT_Iteration && run.repetitions <= 1;
      if (is_single || run.aggregate_name == "median" || HasFailed(run)) shown.push_back(run);
      if (run.run_type != Run::RT_Iteration || HasFailed(run)) continue;
      const std::vector<std::string> parts = absl::StrSplit(run.run_name.function_name, '/');
      if (parts.size() == 2) Note(parts[0], parts[1], TimeOf(run));
    }
    std::vector<Run> labelled = runs;
    if (!state_.empty()) {
      for (Run& run : labelled) run.report_label = state_;
    }
    file_.ReportRuns(labelled);
    if (!is_console()) shown = std::move(labelled);
    if (!shown.empty()) output_->ReportRuns(shown);
  }

  void Finalize() override {
    if (is_console()) output_->Finalize();
  }

  // Call after the last run: completes the output of the format, and the file.
  void Finish() {
    file_.Finish();
    if (has_begun_ && !is_console()) output_->Finalize();
  }

  // Prints the table of the runs in `state`, with `state` as its heading.
  void PrintTable(const std::string& state = "") {
    if (steps_.empty() || !is_console()) return;
    if (!state.empty()) std::printf("\n%s", state.c_str());
    std::sort(steps_.begin(), steps_.end());  // they ran in random order
    std::string head = absl::StrFormat("\n%-*s", kNameWidth, "ns (Dovetail / theirs)");
    for (const std::string& library : libraries_)
      head += absl::StrFormat("%*s", kCellWidth, library);
    std::puts(head.c_str());
    for (const std::string& step : steps_) {
      std::string row = absl::StrFormat("%-*s", kNameWidth, step);
      const double ours = Median(state, step, kOurs);
      for (const std::string& library : libraries_) {
        const double time = Median(state, step, library);
        std::string cell = "-";
        if (time > 0) cell = absl::StrFormat("%.1f", time);
        if (time > 0 && ours > 0 && library != kOurs)
          cell += absl::StrFormat(" (%.2f)", ours / time);
        row += absl::StrFormat("%*s", kCellWidth, cell);
      }
      std::puts(row.c_str());
    }
  }

  // Names the benchmarks whose repetitions differ much.
  void PrintNoise() const {
    if (is_console()) std::fputs(noise_.Warning().c_str(), stdout);
  }

 private:
  // The time that the benchmark measures: CPU time, unless it requests real time.
  static double TimeOf(const Run& run) {
    return run.run_name.time_type.empty() ? run.GetAdjustedCPUTime() : run.GetAdjustedRealTime();
  }

  void Note(const std::string& step, const std::string& library, double time) {
    auto remember = [](std::vector<std::string>& names, const std::string& name) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    };
    remember(steps_, step);
    remember(libraries_, library);
    times_[{state_, step, library}].push_back(time);
    noise_.Add(step + "/" + library + (state_.empty() ? "" : " [" + state_ + "]"), time);
  }

  // 0 if there is no time.
  double Median(const std::string& state, const std::string& step,
                const std::string& library) const {
    auto it = times_.find({state, step, library});
    if (it == times_.end()) return 0;
    std::vector<double> times = it->second;
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
  }

  const std::unique_ptr<benchmark::BenchmarkReporter> output_;
  JsonFile file_;
  Noise noise_;
  bool has_begun_ = false;
  std::string state_;
  std::vector<std::string> steps_;
  std::vector<std::string> libraries_{kOurs};
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<double>> times_;
};

}  // namespace

int RunBenchmarks(int argc, char** argv, void (*register_later)()) {
  const std::optional<CommandLine> command_line = Initialize(argc, argv);
  if (!command_line.has_value()) return 1;
  Recorder recorder(command_line->json);
  if (!recorder.is_good()) return 1;
  benchmark::RunSpecifiedBenchmarks(&recorder);
  if (register_later != nullptr) {
    benchmark::ClearRegisteredBenchmarks();
    register_later();
    benchmark::RunSpecifiedBenchmarks(&recorder);
  }
  recorder.Finish();
  recorder.PrintTable();
  recorder.PrintNoise();
  benchmark::Shutdown();
  return 0;
}

int RunBenchmarksInBothThreadStates(int argc, char** argv) {
  const std::optional<CommandLine> command_line = Initialize(argc, argv);
  if (!command_line.has_value()) return 1;
  Recorder recorder(command_line->json);
  if (!recorder.is_good()) return 1;
  // A linked library may already have started a thread.
  const std::string among = "In a process that has had a second thread";
  const std::string alone = __libc_single_threaded ? "In a process with one thread"
                                                   : "Before this program started a thread";
  recorder.Begin(alone);
  benchmark::RunSpecifiedBenchmarks(&recorder);
  std::thread([] {}).join();  // from now on the C library treats the process as multi-threaded
  recorder.Begin(among);
  benchmark::RunSpecifiedBenchmarks(&recorder);
  recorder.Finish();
  recorder.PrintTable(among);
  recorder.PrintTable(alone);
  recorder.PrintNoise();
  benchmark::Shutdown();
  return 0;
}

}  // namespace dovetail_benchmarks
