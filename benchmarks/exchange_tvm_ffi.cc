// The steps of exchange.cc in tvm-ffi. It has no slices; as_strided with the sizes of the slice is
// what comes nearest.

#include <cstdlib>

#include "benchmark/benchmark.h"
#include "benchmarks/foreign_producer.h"
#include "tvm/ffi/container/tensor.h"

namespace {

using dovetail_benchmarks::ProduceForeign;
using tvm::ffi::Tensor;

struct Allocator {
  void AllocData(DLTensor* t) { t->data = std::aligned_alloc(64, 64); }
  void FreeData(DLTensor* t) { std::free(t->data); }
};

Tensor Make() {
  return Tensor::FromNDAlloc(Allocator(), {4, 4}, DLDataType{kDLFloat, 32, 1}, DLDevice{kDLCPU, 0});
}

void ExportAndDelete(benchmark::State& state) {
  const Tensor x = Make();
  for (auto _ : state) {
    DLManagedTensorVersioned* out = x.ToDLPackVersioned();
    benchmark::DoNotOptimize(out);
    out->deleter(out);
  }
}
BENCHMARK(ExportAndDelete)->Name("export_and_delete/tvm_ffi");

void ImportForeign(benchmark::State& state) {
  alignas(64) float data[16];
  for (auto _ : state) {
    Tensor y = Tensor::FromDLPackVersioned(ProduceForeign(data));
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(ImportForeign)->Name("import_foreign/tvm_ffi");

void ExportAndImport(benchmark::State& state) {
  const Tensor x = Make();
  for (auto _ : state) {
    Tensor y = Tensor::FromDLPackVersioned(x.ToDLPackVersioned());
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(ExportAndImport)->Name("export_and_import/tvm_ffi");
BENCHMARK(ExportAndImport)->Name("there_and_back/tvm_ffi");

void Empty(benchmark::State& state) {
  for (auto _ : state) {
    Tensor y = Make();
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(Empty)->Name("empty/tvm_ffi");

void Slice(benchmark::State& state) {
  const Tensor x = Make();
  const int64_t shape[] = {2, 4}, strides[] = {4, 1};
  for (auto _ : state) {
    Tensor y = x.as_strided({shape, 2}, {strides, 2}, 4);
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(Slice)->Name("slice/tvm_ffi");

void CopyHandle(benchmark::State& state) {
  const Tensor x = Make();
  for (auto _ : state) {
    Tensor y = x;
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(CopyHandle)->Name("copy_handle/tvm_ffi");

}  // namespace
