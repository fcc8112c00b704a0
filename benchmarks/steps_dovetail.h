// The steps of an exchange with Dovetail. Each is a loop over `state`, a benchmark::State or
// another class that counts iterations.
//
// All tensors are 4 x 4 float32 on the CPU. No step touches elements: the times are those of
// handles.

#ifndef DOVETAIL_BENCHMARKS_STEPS_DOVETAIL_H_
#define DOVETAIL_BENCHMARKS_STEPS_DOVETAIL_H_

#include <cstdlib>

#include "benchmark/benchmark.h"
#include "dovetail/benchmarks/foreign_producer.h"
#include "dovetail/dovetail.h"

namespace dovetail_benchmarks::with_dovetail {

using dovetail::Tensor;
inline Tensor Make() {
  dovetail::RegisterDefaultBackends();
  return *Tensor::Empty({4, 4}, dovetail::kFloat32);
}

// The minimum cost of an exchange without block caches.
template <typename State>
void MallocAndFree(State& state) {
  for (auto _ : state) {
    void* p = std::malloc(96);
    benchmark::DoNotOptimize(p);
    std::free(p);
  }
}

// The producer's part of import_foreign.
template <typename State>
void ProducerAlone(State& state) {
  alignas(64) float data[16];
  for (auto _ : state) {
    DLManagedTensorVersioned* managed = ProduceForeign(data);
    benchmark::DoNotOptimize(managed);
    managed->deleter(managed);
  }
}

// Exports a tensor and deletes the result unused.
template <typename State>
void ExportAndDelete(State& state) {
  const Tensor x = Make();
  for (auto _ : state) {
    auto out = dovetail::ToDLPack(x);
    benchmark::DoNotOptimize(out);
  }
}

// Imports another library's tensor and drops it.
template <typename State>
void ImportForeign(State& state) {
  alignas(64) float data[16];
  for (auto _ : state) {
    auto y = dovetail::FromDLPack(ProduceForeign(data));
    benchmark::DoNotOptimize(y);
  }
}

// Exports and imports as between two libraries: the deleter is replaced, so that the import does
// not recognise its own tensor.
template <typename State>
void ExportAndImport(State& state) {
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

// Exports and imports within Dovetail, which recognises and unwraps its own tensor.
template <typename State>
void ThereAndBack(State& state) {
  const Tensor x = Make();
  for (auto _ : state) {
    auto y = dovetail::FromDLPack(dovetail::ToDLPack(x)->release());
    benchmark::DoNotOptimize(y);
  }
}

template <typename State>
void Empty(State& state) {
  dovetail::RegisterDefaultBackends();
  for (auto _ : state) {
    auto y = Tensor::Empty({4, 4}, dovetail::kFloat32);
    benchmark::DoNotOptimize(y);
  }
}

template <typename State>
void Slice(State& state) {
  const Tensor x = Make();
  for (auto _ : state) {
    auto y = x.Slice(0, {.start = 1, .stop = 3});
    benchmark::DoNotOptimize(y);
  }
}

template <typename State>
void CopyHandle(State& state) {
  const Tensor x = Make();
  for (auto _ : state) {
    Tensor y = x;
    benchmark::DoNotOptimize(y);
  }
}

// All steps, as X(name in the tables, function).
#define DOVETAIL_STEPS(X)               \
  X(export_and_delete, ExportAndDelete) \
  X(import_foreign, ImportForeign)      \
  X(export_and_import, ExportAndImport) \
  X(there_and_back, ThereAndBack)       \
  X(empty, Empty)                       \
  X(slice, Slice)                       \
  X(copy_handle, CopyHandle)

}  // namespace dovetail_benchmarks::with_dovetail

#endif  // DOVETAIL_BENCHMARKS_STEPS_DOVETAIL_H_
