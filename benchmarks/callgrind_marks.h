// Marks the parts of a program that callgrind counts. callgrind writes the instructions between
// Begin() and End(label) to a file of its own, under that label; callgrind.py reads these files.
//
//   if (!callgrind_marks::IsRunning()) return Explain();
//   callgrind_marks::Begin();
//   …
//   callgrind_marks::End("export/1000");
//
// Does nothing outside valgrind, or if the build had no valgrind header.

#ifndef DOVETAIL_BENCHMARKS_CALLGRIND_MARKS_H_
#define DOVETAIL_BENCHMARKS_CALLGRIND_MARKS_H_

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#define CALLGRIND_ZERO_STATS
#define CALLGRIND_DUMP_STATS_AT(label) static_cast<void>(label)
#endif

namespace dovetail_benchmarks::callgrind_marks {

inline bool IsRunning() { return RUNNING_ON_VALGRIND != 0; }

inline void Begin() {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
}

inline void End(const char* label) {
  CALLGRIND_DUMP_STATS_AT(label);
  CALLGRIND_STOP_INSTRUMENTATION;
}

}  // namespace dovetail_benchmarks::callgrind_marks

#endif  // DOVETAIL_BENCHMARKS_CALLGRIND_MARKS_H_
