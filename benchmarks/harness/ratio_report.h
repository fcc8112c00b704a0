// Runs the benchmarks of a C++ program, which are named step/library. After Google Benchmark's own
// output it prints a table with a row for each step and a column for each library: nanoseconds, and
// in brackets Dovetail's time divided by the library's.
//
//   int main(int argc, char** argv) { return dovetail_benchmarks::RunBenchmarks(argc, argv); }
//
// Times vary from run to run, so compare only times of one run. The repetitions of all benchmarks
// are interleaved, and the table shows their medians. Below it, the benchmarks are named whose
// repetitions differ much. command_line.h has the flags. With --benchmark_format=json or csv,
// stdout has that format and nothing else.

#ifndef DOVETAIL_BENCHMARKS_HARNESS_RATIO_REPORT_H_
#define DOVETAIL_BENCHMARKS_HARNESS_RATIO_REPORT_H_

namespace dovetail_benchmarks {

// Returns the program's exit code. `register_later` registers benchmarks that run after all others,
// such as those that start threads when the others must run single-threaded.
int RunBenchmarks(int argc, char** argv, void (*register_later)() = nullptr);

// Runs every benchmark twice: before the process has ever had a second thread, and after one was
// started. Only the second state needs atomic reference counts. Nearly all programs are in that
// state, so its table comes first.
int RunBenchmarksInBothThreadStates(int argc, char** argv);

}  // namespace dovetail_benchmarks

#endif  // DOVETAIL_BENCHMARKS_HARNESS_RATIO_REPORT_H_
