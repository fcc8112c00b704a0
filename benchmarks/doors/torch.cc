// What the door to PyTorch costs beside at::from_blob and a tensor over at::Tensor by hand.

#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <vector>

#include "dovetail/dovetail.h"
#include "dovetail/interop/torch/export.h"
#include "dovetail/interop/torch/import.h"

namespace dovetail_benchmarks {
namespace {

using dovetail::Tensor;

void AsTorch(benchmark::State& state) {
  const Tensor x = Tensor::Wrap(std::vector<float>(16), {4, 4}).value();
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::AsTorch(x));
}
BENCHMARK(AsTorch)->Name("PyTorch out");

void FromBlob(benchmark::State& state) {
  const Tensor x = Tensor::Wrap(std::vector<float>(16), {4, 4}).value();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        at::from_blob(x.raw_data(), {4, 4}, {4, 1}, [kept = x.storage()](void*) {}, at::kFloat));
  }
}
BENCHMARK(FromBlob)->Name("PyTorch out by hand");

void FromTorch(benchmark::State& state) {
  const at::Tensor x = at::zeros({4, 4});
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::FromTorch(x));
}
BENCHMARK(FromTorch)->Name("PyTorch in");

void WrapTorch(benchmark::State& state) {
  const at::Tensor x = at::zeros({4, 4});
  for (auto _ : state) {
    benchmark::DoNotOptimize(Tensor::Wrap(x.mutable_data_ptr<float>(), {x.size(0), x.size(1)},
                                          {x.stride(0), x.stride(1)}, dovetail::Device::Cpu(),
                                          [kept = x] {}));
  }
}
BENCHMARK(WrapTorch)->Name("PyTorch in by hand");

}  // namespace
}  // namespace dovetail_benchmarks
