// The steps of exchange.cc with ATen, PyTorch's tensor library.

#include "ATen/DLConvertor.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/zeros.h"
#include "benchmark/benchmark.h"
#include "dovetail/benchmarks/foreign_producer.h"

namespace {

using dovetail_benchmarks::ProduceForeign;

void ExportAndDelete(benchmark::State& state) {
  const at::Tensor x = at::zeros({4, 4});
  for (auto _ : state) {
    DLManagedTensorVersioned* out = at::toDLPackVersioned(x);
    benchmark::DoNotOptimize(out);
    out->deleter(out);
  }
}
BENCHMARK(ExportAndDelete)->Name("export_and_delete/aten");

void ImportForeign(benchmark::State& state) {
  alignas(64) float data[16];
  for (auto _ : state) {
    at::Tensor y = at::fromDLPackVersioned(ProduceForeign(data));
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(ImportForeign)->Name("import_foreign/aten");

void ExportAndImport(benchmark::State& state) {
  const at::Tensor x = at::zeros({4, 4});
  for (auto _ : state) {
    at::Tensor y = at::fromDLPackVersioned(at::toDLPackVersioned(x));
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(ExportAndImport)->Name("export_and_import/aten");
BENCHMARK(ExportAndImport)->Name("there_and_back/aten");

void Empty(benchmark::State& state) {
  for (auto _ : state) {
    at::Tensor y = at::empty({4, 4});
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(Empty)->Name("empty/aten");

void Slice(benchmark::State& state) {
  const at::Tensor x = at::zeros({4, 4});
  for (auto _ : state) {
    at::Tensor y = x.slice(0, 1, 3);
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(Slice)->Name("slice/aten");

void CopyHandle(benchmark::State& state) {
  const at::Tensor x = at::zeros({4, 4});
  for (auto _ : state) {
    at::Tensor y = x;
    benchmark::DoNotOptimize(y);
  }
}
BENCHMARK(CopyHandle)->Name("copy_handle/aten");

}  // namespace
