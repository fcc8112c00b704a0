// What differs between Google Benchmark 1.7, which WORKSPACE builds have, and later versions.

#ifndef DOVETAIL_BENCHMARKS_HARNESS_VERSIONS_H_
#define DOVETAIL_BENCHMARKS_HARNESS_VERSIONS_H_

#include "benchmark/benchmark.h"

namespace dovetail_benchmarks {

// Whether this is 1.7: version 1.8 renamed the field that tells of a failure.
template <typename Run>
constexpr bool kIsVersion17 = requires(Run run) { run.error_occurred; };

// Whether a run failed or was skipped.
template <typename Run>
bool HasFailed(const Run& run) {
  if constexpr (kIsVersion17<Run>) {
    return run.error_occurred;
  } else {
    return run.skipped != decltype(run.skipped){};
  }
}

// The default of --benchmark_min_time. Later versions ask for the unit, which 1.7 refuses.
inline constexpr const char* kMinTimeFlag = kIsVersion17<benchmark::BenchmarkReporter::Run>
                                                ? "--benchmark_min_time=0.05"
                                                : "--benchmark_min_time=0.05s";

}  // namespace dovetail_benchmarks

#endif  // DOVETAIL_BENCHMARKS_HARNESS_VERSIONS_H_
