// The command line of a C++ benchmark: three flags that the Python benchmarks have as well, and
// Google Benchmark's own.
//
//   --filter=REGEX     same as --benchmark_filter: only benchmarks whose names match
//   --repetitions=N    same as --benchmark_repetitions: how often each is measured
//   --json=FILE        writes every repetition in Google Benchmark's JSON format
//
// FILE is relative to the directory in which `bazel run` was called.

#ifndef DOVETAIL_BENCHMARKS_HARNESS_COMMAND_LINE_H_
#define DOVETAIL_BENCHMARKS_HARNESS_COMMAND_LINE_H_

#include <optional>
#include <string>

namespace dovetail_benchmarks {

struct CommandLine {
  std::string json;  // the file's path; empty without the flag
};

// Call first in main(). Initialises Google Benchmark with this repository's defaults (11
// interleaved repetitions of at least 0.05 s), which flags override; then describes the machine and
// pins this thread (machine.h). Reports an unknown flag to stderr and returns nullopt.
std::optional<CommandLine> Initialize(int argc, char** argv);

}  // namespace dovetail_benchmarks

#endif  // DOVETAIL_BENCHMARKS_HARNESS_COMMAND_LINE_H_
