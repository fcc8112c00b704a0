// main() for C++ benchmarks that need no set-up of their own.

#include "benchmarks/harness/ratio_report.h"

int main(int argc, char** argv) { return dovetail_benchmarks::RunBenchmarks(argc, argv); }
