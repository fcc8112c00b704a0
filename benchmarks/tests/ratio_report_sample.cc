// Empty benchmarks for ratio_report_test: two libraries, in both thread states of a process, or
// with benchmarks that are registered later.
//
//   ratio_report_sample later --benchmark_min_time=0.001

#include <cstring>

#include "benchmark/benchmark.h"
#include "benchmarks/harness/ratio_report.h"

namespace {

void Nothing(benchmark::State& state) {
  for (auto _ : state) benchmark::ClobberMemory();
}
BENCHMARK(Nothing)->Name("step/dovetail");
BENCHMARK(Nothing)->Name("step/other");

void RegisterLater() { benchmark::RegisterBenchmark("later/dovetail", Nothing); }

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "later") == 0) {
    return dovetail_benchmarks::RunBenchmarks(argc - 1, argv + 1, RegisterLater);
  }
  return dovetail_benchmarks::RunBenchmarksInBothThreadStates(argc, argv);
}
