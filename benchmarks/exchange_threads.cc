// Do exchanges scale with threads? How many more exchanges do several threads make than one, each
// with a tensor of its own?
//
// "1, alone" is the only thread of its process: references are counted without atomics, and malloc
// takes no lock. "1 thread" runs in a process that has had other threads. The rate is the best of
// several repetitions in wall-clock time; it means something only if enough cores are free. The
// last column uses the threads' CPU time instead: it falls below the number of threads if they wait
// for each other's cache lines. The row `malloc` shows the machine's own limit. Accepts Google
// Benchmark's flags.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "dovetail/benchmarks/steps_dovetail.h"

namespace {

namespace steps = dovetail_benchmarks::with_dovetail;

// Runs a step, and counts how often all threads together ran it.
template <void (*kStep)(benchmark::State&)>
void Count(benchmark::State& state) {
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

// Records the best repetition for each benchmark and number of threads.
class Recorder final : public benchmark::ConsoleReporter {
 public:
  struct Best {
    double rate = 0;              // millions of exchanges per second of wall-clock time
    double busy_nanoseconds = 0;  // CPU time per exchange
  };

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      Best& best = best_[{run.run_name.function_name, run.threads}];
      best.rate = std::max(best.rate, run.counters.at("items_per_second") / 1e6);
      const double busy = run.GetAdjustedCPUTime();
      best.busy_nanoseconds =
          best.busy_nanoseconds == 0 ? busy : std::min(best.busy_nanoseconds, busy);
    }
  }

  Best best(const std::string& name, int64_t threads) const { return best_.at({name, threads}); }

 private:
  std::map<std::pair<std::string, int64_t>, Best> best_;
};

}  // namespace

int main(int argc, char** argv) {
  std::string defaults[] = {"--benchmark_enable_random_interleaving=true",
                            "--benchmark_repetitions=15", "--benchmark_min_time=0.05"};
  std::vector<char*> arguments = {argv[0]};
  for (std::string& flag : defaults) arguments.push_back(flag.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;

  dovetail::RegisterDefaultBackends();
  const int threads = std::max(2u, std::thread::hardware_concurrency());
  for (const Step& step : kSteps) {
    benchmark::RegisterBenchmark((std::string("alone/") + step.name).c_str(), step.run)
        ->UseRealTime();
    benchmark::RegisterBenchmark((std::string("among/") + step.name).c_str(), step.run)
        ->UseRealTime()
        ->Threads(1)
        ->Threads(threads);
  }
  Recorder recorder;
  benchmark::RunSpecifiedBenchmarks(&recorder, "^alone/");
  std::thread([] {}).join();  // from now on the C library treats the process as multi-threaded
  benchmark::RunSpecifiedBenchmarks(&recorder, "^among/");

  std::printf("\n%-20s%12s%12s%12s%16s%16s\n", "10^6 / s", "1, alone", "1 thread",
              (std::to_string(threads) + " threads").c_str(), "/ 1 thread", "by busy time");
  for (const Step& step : kSteps) {
    const std::string among = std::string("among/") + step.name;
    const auto alone = recorder.best(std::string("alone/") + step.name, 1);
    const auto one = recorder.best(among, 1), all = recorder.best(among, threads);
    std::printf("%-20s%12.1f%12.1f%12.1f%16.2f%16.2f\n", step.name, alone.rate, one.rate, all.rate,
                all.rate / one.rate, threads * one.busy_nanoseconds / all.busy_nanoseconds);
  }
  benchmark::Shutdown();
}
