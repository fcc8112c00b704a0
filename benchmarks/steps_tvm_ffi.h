// The steps of steps_dovetail.h with tvm-ffi. It has no slices; as_strided with the slice's sizes
// is the closest equivalent.

#ifndef DOVETAIL_BENCHMARKS_STEPS_TVM_FFI_H_
#define DOVETAIL_BENCHMARKS_STEPS_TVM_FFI_H_

#include <cstdlib>

#include "benchmark/benchmark.h"
#include "dovetail/benchmarks/foreign_producer.h"
#include "tvm/ffi/container/tensor.h"

namespace dovetail_benchmarks::with_tvm_ffi {

using tvm::ffi::Tensor;

struct Allocator {
  void AllocData(DLTensor* t) { t->data = std::aligned_alloc(64, 64); }
  void FreeData(DLTensor* t) { std::free(t->data); }
};

inline Tensor Make() {
  return Tensor::FromNDAlloc(Allocator(), {4, 4}, DLDataType{kDLFloat, 32, 1}, DLDevice{kDLCPU, 0});
}

template <typename State>
void ExportAndDelete(State& state) {
  const Tensor x = Make();
  for (auto _ : state) {
    DLManagedTensorVersioned* out = x.ToDLPackVersioned();
    benchmark::DoNotOptimize(out);
    out->deleter(out);
  }
}

template <typename State>
void ImportForeign(State& state) {
  alignas(64) float data[16];
  for (auto _ : state) {
    Tensor y = Tensor::FromDLPackVersioned(ProduceForeign(data));
    benchmark::DoNotOptimize(y);
  }
}

template <typename State>
void ExportAndImport(State& state) {
  const Tensor x = Make();
  for (auto _ : state) {
    Tensor y = Tensor::FromDLPackVersioned(x.ToDLPackVersioned());
    benchmark::DoNotOptimize(y);
  }
}

template <typename State>
void Empty(State& state) {
  for (auto _ : state) {
    Tensor y = Make();
    benchmark::DoNotOptimize(y);
  }
}

template <typename State>
void Slice(State& state) {
  const Tensor x = Make();
  const int64_t shape[] = {2, 4}, strides[] = {4, 1};
  for (auto _ : state) {
    Tensor y = x.as_strided({shape, 2}, {strides, 2}, 4);
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

// All steps, as X(name in the tables, function). tvm-ffi does not recognise its own tensors.
#define TVM_FFI_STEPS(X)                \
  X(export_and_delete, ExportAndDelete) \
  X(import_foreign, ImportForeign)      \
  X(export_and_import, ExportAndImport) \
  X(there_and_back, ExportAndImport)    \
  X(empty, Empty)                       \
  X(slice, Slice)                       \
  X(copy_handle, CopyHandle)

}  // namespace dovetail_benchmarks::with_tvm_ffi

#endif  // DOVETAIL_BENCHMARKS_STEPS_TVM_FFI_H_
