// The steps of an exchange by Dovetail, each a loop over what is given as the state: a
// benchmark::State, or whatever else counts turns.
//
// All tensors are 4 x 4 float32 on the CPU. No elements are touched: the times are those of
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

// What any exchange needs at least where nothing is kept for reuse.
template <typename State>
void MallocAndFree(State& state) {
  for (auto _ : state) {
    void* p = std::malloc(96);
    benchmark::DoNotOptimize(p);
    std::free(p);
  }
}

// The part of import_foreign that is the producer's.
template <typename State>
void ProducerAlone(State& state) {
  alignas(64) float data[16];
  for (auto _ : state) {
    DLManagedTensorVersioned* managed = ProduceForeign(data);
    benchmark::DoNotOptimize(managed);
    managed->deleter(managed);
  }
}

// Out, and given back unused.
template <typename State>
void ExportAndDelete(State& state) {
  const Tensor x = Make();
  for (auto _ : state) {
    auto out = dovetail::ToDLPack(x);
    benchmark::DoNotOptimize(out);
  }
}

// In from another library, and dropped.
template <typename State>
void ImportForeign(State& state) {
  alignas(64) float data[16];
  for (auto _ : state) {
    auto y = dovetail::FromDLPack(ProduceForeign(data));
    benchmark::DoNotOptimize(y);
  }
}

// Out and in as between two libraries: the deleter is changed on the way, so that what comes in is
// not known for our own.
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

// Out and in within one library, which Dovetail sees and undoes.
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

// Each step by its name in the tables: X(name, function).
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
