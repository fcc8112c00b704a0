// main() of the C++ benchmarks that need nothing but to be run.

#include "benchmarks/ratio_report.h"

int main(int argc, char** argv) { return dovetail_benchmarks::RunBenchmarks(argc, argv); }
