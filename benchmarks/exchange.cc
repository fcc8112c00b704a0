// What does a DLPack exchange cost in C++ (export, import, a round trip), and what do making,
// slicing and copying a tensor cost, compared with tvm-ffi and ATen (exchange_*.cc) in the same
// run? Each is measured in a single-threaded process, and after a second thread was started
// (harness/ratio_report.h).

#include "benchmark/benchmark.h"
#include "benchmarks/harness/ratio_report.h"
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
