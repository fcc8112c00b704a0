// Exchange of a device tensor: host time of export and import, on the same stream and on another.

#include "benchmarks/gpu_device.h"
#include "dovetail/core/copy.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/import.h"

namespace dovetail_benchmarks {
namespace {

using dovetail::Stream;
using dovetail::Tensor;

// Exports a tensor that `gpu.stream` has written to. A consumer's stream does not wait for finished
// work, so if `pending` is true, each iteration first gives `gpu.stream` some work.
void Export(benchmark::State& state, const Gpu& gpu, bool other_stream, bool pending) {
  Tensor x = Get(Tensor::Empty({4, 4}, dovetail::kFloat32, gpu.device));
  const Tensor y = Get(Tensor::Empty({4, 4}, dovetail::kFloat32, gpu.device));
  Expect(dovetail::CopyInto(x, y, {.stream = gpu.stream}));
  Stream consumer = gpu.stream;
  if (other_stream) consumer = Get(gpu.backend->CreateStream(gpu.device));
  Expect(gpu.backend->Synchronize(gpu.stream));
  for (auto _ : state) {
    if (pending) {
      state.PauseTiming();
      Expect(dovetail::CopyInto(x, y, {.stream = gpu.stream}));
      state.ResumeTiming();
    }
    auto out = dovetail::ToDLPack(x, {.stream = consumer});
    benchmark::DoNotOptimize(out);
  }
  Expect(gpu.backend->Synchronize(gpu.stream));
  Expect(gpu.backend->Synchronize(consumer));
}

void ExportAndImport(benchmark::State& state, const Gpu& gpu) {
  const Tensor x = Get(Tensor::Empty({4, 4}, dovetail::kFloat32, gpu.device));
  for (auto _ : state) {
    auto out = dovetail::ToDLPack(x, {.stream = gpu.stream});
    auto in = dovetail::FromDLPack(out->release());
    benchmark::DoNotOptimize(in);
  }
}

}  // namespace

void AddExchange(const Gpu& gpu) {
  benchmark::RegisterBenchmark("export same stream/dovetail",
                               [&gpu](auto& state) { Export(state, gpu, false, false); });
  benchmark::RegisterBenchmark("export other stream/dovetail",
                               [&gpu](auto& state) { Export(state, gpu, true, false); });
  benchmark::RegisterBenchmark("export other, pending/dovetail",
                               [&gpu](auto& state) { Export(state, gpu, true, true); });
  benchmark::RegisterBenchmark("export and import/dovetail",
                               [&gpu](auto& state) { ExportAndImport(state, gpu); });
}

}  // namespace dovetail_benchmarks
