// Runs the benchmarks of a C++ program. A benchmark is named step/library; after Google Benchmark's
// own output stands a table with a row for each step and a column for each library: nanoseconds,
// and in brackets how many times as long Dovetail takes.
//
//   int main(int argc, char** argv) { return dovetail_benchmarks::RunBenchmarks(argc, argv); }
//
// Times differ from run to run, and only those of one run compare: repetitions of all benchmarks
// are interleaved, and the table holds their medians. Flags on the command line win over these
// defaults.

#ifndef DOVETAIL_BENCHMARKS_RATIO_REPORT_H_
#define DOVETAIL_BENCHMARKS_RATIO_REPORT_H_

namespace dovetail_benchmarks {

// The exit code of the program. `register_later` registers benchmarks that run when all others
// have: those that start threads, say, if the others are to be alone.
int RunBenchmarks(int argc, char** argv, void (*register_later)() = nullptr);

}  // namespace dovetail_benchmarks

#endif  // DOVETAIL_BENCHMARKS_RATIO_REPORT_H_
