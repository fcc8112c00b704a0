// What the door to tvm-ffi costs beside DLPack by hand.

#include <benchmark/benchmark.h>
#include <tvm/ffi/container/tensor.h>

#include <vector>

#include "dovetail/dovetail.h"
#include "dovetail/interop/tvm_ffi/export.h"
#include "dovetail/interop/tvm_ffi/import.h"

namespace dovetail_benchmarks {
namespace {

using dovetail::Tensor;

Tensor Matrix() { return Tensor::Wrap(std::vector<float>(16), {4, 4}).value(); }

void AsTvmFfi(benchmark::State& state) {
  const Tensor x = Matrix();
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::AsTvmFfi(x));
}
BENCHMARK(AsTvmFfi)->Name("tvm-ffi out");

void ExportByHand(benchmark::State& state) {
  const Tensor x = Matrix();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        tvm::ffi::Tensor::FromDLPackVersioned(dovetail::ToDLPack(x).value().release()));
  }
}
BENCHMARK(ExportByHand)->Name("tvm-ffi out by hand");

void FromTvmFfi(benchmark::State& state) {
  const tvm::ffi::Tensor x = dovetail::AsTvmFfi(Matrix()).value();
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::FromTvmFfi(x));
}
BENCHMARK(FromTvmFfi)->Name("tvm-ffi in");

void ImportByHand(benchmark::State& state) {
  const tvm::ffi::Tensor x = dovetail::AsTvmFfi(Matrix()).value();
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::FromDLPack(x.ToDLPackVersioned()));
}
BENCHMARK(ImportByHand)->Name("tvm-ffi in by hand");

}  // namespace
}  // namespace dovetail_benchmarks
