// Runs the benchmarks of a C++ program. A benchmark is named step/library; after Google Benchmark's
// own output stands a table with a row for each step and a column for each library: nanoseconds,
// and in brackets how many times as long Dovetail takes.
//
//   int main(int argc, char** argv) { return dovetail_benchmarks::RunBenchmarks(argc, argv); }
//
// Times differ from run to run, and only those of one run compare: repetitions of all benchmarks
// are interleaved, and the table holds their medians. Flags on the command line win over these
// defaults. With --benchmark_format=json or csv stdout has that format and nothing else.

#ifndef DOVETAIL_BENCHMARKS_RATIO_REPORT_H_
#define DOVETAIL_BENCHMARKS_RATIO_REPORT_H_

namespace dovetail_benchmarks {

// The exit code of the program. `register_later` registers benchmarks that run when all others
// have: those that start threads, say, if the others are to be alone.
int RunBenchmarks(int argc, char** argv, void (*register_later)() = nullptr);

// Runs every benchmark twice: in a process that never had a second thread, and after one was
// started. Reference counts need atomic additions in the second state only, which is that of nearly
// all programs; its table stands first.
int RunBenchmarksInBothThreadStates(int argc, char** argv);

}  // namespace dovetail_benchmarks

#endif  // DOVETAIL_BENCHMARKS_RATIO_REPORT_H_
