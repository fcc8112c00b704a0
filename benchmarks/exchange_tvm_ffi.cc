// The steps of exchange.cc with tvm-ffi.

#include "benchmark/benchmark.h"
#include "dovetail/benchmarks/steps_tvm_ffi.h"

namespace dovetail_benchmarks::with_tvm_ffi {
namespace {

#define REGISTER(name, function) BENCHMARK(function<benchmark::State>)->Name(#name "/tvm_ffi");
TVM_FFI_STEPS(REGISTER)

}  // namespace
}  // namespace dovetail_benchmarks::with_tvm_ffi
