// What does handing a tensor over cost in C++: out, in, out and in again, beside making, slicing
// and copying a handle? And what do the same steps cost in tvm-ffi and ATen (exchange_*.cc), in one
// run? Each in a process with one thread, and in one that has had a second (ratio_report.h).

#include "benchmark/benchmark.h"
#include "benchmarks/ratio_report.h"
#include "dovetail/benchmarks/steps_dovetail.h"

namespace dovetail_benchmarks::with_dovetail {
namespace {

BENCHMARK(MallocAndFree<benchmark::State>)->Name("malloc_and_free/malloc");
BENCHMARK(ProducerAlone<benchmark::State>)->Name("producer_alone/new_delete");

#define REGISTER(name, function) BENCHMARK(function<benchmark::State>)->Name(#name "/dovetail");
DOVETAIL_STEPS(REGISTER)

}  // namespace
}  // namespace dovetail_benchmarks::with_dovetail

int main(int argc, char** argv) {
  return dovetail_benchmarks::RunBenchmarksInBothThreadStates(argc, argv);
}
