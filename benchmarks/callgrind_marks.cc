// callgrind_marks.h as a shared object, for Python programs.

#include "dovetail/benchmarks/callgrind_marks.h"

extern "C" {

int callgrind_is_running() { return dovetail_benchmarks::callgrind_marks::IsRunning() ? 1 : 0; }
void callgrind_begin() { dovetail_benchmarks::callgrind_marks::Begin(); }
void callgrind_end(const char* label) { dovetail_benchmarks::callgrind_marks::End(label); }

}  // extern "C"
