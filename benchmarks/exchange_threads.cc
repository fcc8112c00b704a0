// Do exchanges scale with threads? How many more exchanges do several threads make than one, each
// with a tensor of its own?
//
// "1, alone" is the only thread of its process: references are counted without atomics, and malloc
// takes no lock. "1 thread" runs in a process that has had other threads. The rate is the best of
// several repetitions in wall-clock time; it means something only if enough cores are free. The
// last column uses the threads' CPU time instead: it falls below the number of threads if they wait
// for each other's cache lines. The row `malloc` shows the machine's own limit. Each thread is
// pinned to a processor of its own, as far as there are enough.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "benchmarks/harness/command_line.h"
#include "benchmarks/harness/json_file.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/noise.h"
#include "dovetail/benchmarks/steps_dovetail.h"

namespace {

namespace steps = dovetail_benchmarks::with_dovetail;

using dovetail_benchmarks::CommandLine;
using dovetail_benchmarks::JsonFile;
using dovetail_benchmarks::Noise;

// Runs a step, and counts how often all threads together ran it.
template <void (*kStep)(benchmark::State&)>
void Count(benchmark::State& state) {
  dovetail_benchmarks::PinThread(state.thread_index());
  kStep(state);
  state.SetItemsProcessed(state.iterations());
}

struct Step {
  const char* name;
  void (*run)(benchmark::State&);
};
constexpr Step kSteps[] = {
    {"malloc_and_free", &Count<&steps::MallocAndFree>},
    {"export_and_delete", &Count<&steps::ExportAndDelete>},
    {"import_foreign", &Count<&steps::ImportForeign>},
    {"there_and_back", &Count<&steps::ThereAndBack>},
    {"empty", &Count<&steps::Empty>},
};

// Records the best repetition for each benchmark and number of threads, and writes all to a file.
class Recorder final : public benchmark::ConsoleReporter {
 public:
  explicit Recorder(const std::string& json) : file_(json) {}

  JsonFile& file() { return file_; }
  const Noise& noise() const { return noise_; }

  bool ReportContext(const Context& context) override {
    file_.ReportContext(context);
    return ConsoleReporter::ReportContext(context);
  }

  struct Best {
    double rate = 0;              // millions of exchanges per second of wall-clock time
    double busy_nanoseconds = 0;  // CPU time per exchange
  };

  void ReportRuns(const std::vector<Run>& runs) override {
    file_.ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      noise_.Add(run.run_name.str(), run.GetAdjustedRealTime());
      Best& best = best_[{run.run_name.function_name, run.threads}];
      best.rate = std::max(best.rate, run.counters.at("items_per_second") / 1e6);
      const double busy = run.GetAdjustedCPUTime();
      best.busy_nanoseconds =
          best.busy_nanoseconds == 0 ? busy : std::min(best.busy_nanoseconds, busy);
    }
  }

  // Zeros if --filter left the benchmark out.
  Best best(const std::string& name, int64_t threads) const {
    auto it = best_.find({name, threads});
    return it == best_.end() ? Best{} : it->second;
  }

 private:
  JsonFile file_;
  Noise noise_;
  std::map<std::pair<std::string, int64_t>, Best> best_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::optional<CommandLine> command_line = dovetail_benchmarks::Initialize(argc, argv);
  if (!command_line.has_value()) return 1;
  Recorder recorder(command_line->json);
  if (!recorder.file().is_good()) return 1;

  dovetail::RegisterDefaultBackends();
  for (const Step& step : kSteps) {
    benchmark::RegisterBenchmark((std::string("alone/") + step.name).c_str(), step.run)
        ->UseRealTime();
  }
  benchmark::RunSpecifiedBenchmarks(&recorder);
  benchmark::ClearRegisteredBenchmarks();

  std::thread([] {}).join();  // from now on the C library treats the process as multi-threaded
  const int threads = std::max(2, dovetail_benchmarks::UsableProcessors());
  for (const Step& step : kSteps) {
    benchmark::RegisterBenchmark((std::string("among/") + step.name).c_str(), step.run)
        ->UseRealTime()
        ->Threads(1)
        ->Threads(threads);
  }
  benchmark::RunSpecifiedBenchmarks(&recorder);
  recorder.file().Finish();

  std::printf("\n%-20s%12s%12s%12s%16s%16s\n", "10^6 / s", "1, alone", "1 thread",
              (std::to_string(threads) + " threads").c_str(), "/ 1 thread", "by busy time");
  for (const Step& step : kSteps) {
    const std::string among = std::string("among/") + step.name;
    const auto alone = recorder.best(std::string("alone/") + step.name, 1);
    const auto one = recorder.best(among, 1), all = recorder.best(among, threads);
    if (alone.rate == 0 && one.rate == 0 && all.rate == 0) continue;
    std::printf("%-20s%12.1f%12.1f%12.1f%16.2f%16.2f\n", step.name, alone.rate, one.rate, all.rate,
                all.rate / one.rate, threads * one.busy_nanoseconds / all.busy_nanoseconds);
  }
  std::fputs(recorder.noise().Warning().c_str(), stdout);
  benchmark::Shutdown();
}
