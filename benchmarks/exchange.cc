// What does handing a tensor over cost in C++: out, in, out and in again, beside making, slicing
// and copying a handle? And what do the same steps cost in tvm-ffi and ATen (exchange_*.cc), in one
// run?
//
// All tensors are 4 x 4 float32 on the CPU. No elements are touched: the times are those of
// handles.

#include <cstdlib>

#include "benchmark/benchmark.h"
#include "benchmarks/foreign_producer.h"
#include "dovetail/dovetail.h"

namespace {

using dovetail::Tensor;
using dovetail_benchmarks::ProduceForeign;

Tensor Make() {
  dovetail::RegisterDefaultBackends();
  return *Tensor::Empty({4, 4}, dovetail::kFloat32);
}

// What any exchange needs at least where nothing is kept for reuse.
void MallocAndFree(benchmark::State& state) {
  for (auto _ : state) {
    void* p = std::malloc(96);
    benchmark::DoNotOptimize(p);
    std::free(p);
  }
}
BENCHMARK(MallocAndFree)->Name("malloc_and_free/malloc");

// The part of import_foreign that is the producer's.
void ProducerAlone(benchmark::State& state) {
  alignas(64) float data[16];
  for (auto _ : state) {
    DLManagedTensorVersioned* managed = ProduceForeign(data);
    benchmark::DoNotOptimize(managed);
    managed->deleter(managed);
  }
}
BENCHMARK(ProducerAlone)->Name("producer_alone/new_delete");

// Out, and given back unused.
void ExportAndDelete(benchmark::State& state) {
  const Tensor x = Make();
  for (auto _ : state) {
    auto out = dovetail::ToDLPack(x);
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK(ExportAndDelete)->Name("export_and_delete/dovetail");

// In from another library, and dropped.
void ImportForeign(benchmark::State& state) {
  alignas(64) float data[16];
  for (auto _ : state) {
    auto y = dovetail::FromDLPack(ProduceForeign(data));
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(ImportForeign)->Name("import_foreign/dovetail");

// Out and in as between two libraries: the deleter is changed on the way, so that what comes in is
// not known for our own.
void ExportAndImport(benchmark::State& state) {
  const Tensor x = Make();
  static void (*original)(DLManagedTensorVersioned*);
  for (auto _ : state) {
    DLManagedTensorVersioned* managed = dovetail::ToDLPack(x)->release();
    original = managed->deleter;
    managed->deleter = [](DLManagedTensorVersioned* m) { original(m); };
    auto y = dovetail::FromDLPack(managed);
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(ExportAndImport)->Name("export_and_import/dovetail");

// Out and in within one library, which Dovetail sees and undoes.
void ThereAndBack(benchmark::State& state) {
  const Tensor x = Make();
  for (auto _ : state) {
    auto y = dovetail::FromDLPack(dovetail::ToDLPack(x)->release());
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(ThereAndBack)->Name("there_and_back/dovetail");

void Empty(benchmark::State& state) {
  dovetail::RegisterDefaultBackends();
  for (auto _ : state) {
    auto y = Tensor::Empty({4, 4}, dovetail::kFloat32);
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(Empty)->Name("empty/dovetail");

void Slice(benchmark::State& state) {
  const Tensor x = Make();
  for (auto _ : state) {
    auto y = x.Slice(0, {.start = 1, .stop = 3});
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(Slice)->Name("slice/dovetail");

void CopyHandle(benchmark::State& state) {
  const Tensor x = Make();
  for (auto _ : state) {
    Tensor y = x;
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(CopyHandle)->Name("copy_handle/dovetail");

}  // namespace
