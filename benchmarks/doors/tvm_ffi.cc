// What the door to tvm-ffi costs beside its tensors and ours made by hand.

#include <benchmark/benchmark.h>
#include <tvm/ffi/container/tensor.h>

#include <utility>
#include <vector>

#include "dovetail/dovetail.h"
#include "dovetail/interop/tvm_ffi/export.h"
#include "dovetail/interop/tvm_ffi/import.h"

namespace dovetail_benchmarks {
namespace {

using dovetail::Tensor;

Tensor MakeTensor() { return Tensor::Wrap(std::vector<float>(16), {4, 4}).value(); }

void AsTvmFfi(benchmark::State& state) {
  const Tensor x = MakeTensor();
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::AsTvmFfi(x));
}
BENCHMARK(AsTvmFfi)->Name("tvm-ffi out");

// An object over memory that a Tensor holds, through tvm-ffi's public functions.
void TensorByHand(benchmark::State& state) {
  const Tensor x = MakeTensor();
  struct Holder {
    Tensor held;
    void AllocData(DLTensor* t) { t->data = held.raw_data(); }
    void FreeData(DLTensor*) {}
  };
  for (auto _ : state) {
    benchmark::DoNotOptimize(tvm::ffi::Tensor::FromNDAllocStrided(
        Holder{x}, {x.shape().data(), 2}, {x.strides().data(), 2}, DLDataType{kDLFloat, 32, 1},
        DLDevice{kDLCPU, 0}));
  }
}
BENCHMARK(TensorByHand)->Name("tvm-ffi out by hand");

void AsTvmFfiView(benchmark::State& state) {
  const Tensor x = MakeTensor();
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::AsTvmFfiView(x));
}
BENCHMARK(AsTvmFfiView)->Name("tvm-ffi view out");

void ViewByHand(benchmark::State& state) {
  const Tensor x = MakeTensor();
  for (auto _ : state) {
    const DLTensor t = {.data = x.raw_data(),
                        .device = {kDLCPU, 0},
                        .ndim = x.rank(),
                        .dtype = {kDLFloat, 32, 1},
                        .shape = const_cast<int64_t*>(x.shape().data()),
                        .strides = const_cast<int64_t*>(x.strides().data())};
    benchmark::DoNotOptimize(tvm::ffi::TensorView(&t));
  }
}
BENCHMARK(ViewByHand)->Name("tvm-ffi view out by hand");

struct Memory {
  float data[16];
  void AllocData(DLTensor* t) { t->data = data; }
  void FreeData(DLTensor*) {}
};

tvm::ffi::Tensor MakeTvmFfi() {
  return tvm::ffi::Tensor::FromNDAlloc(Memory(), {4, 4}, DLDataType{kDLFloat, 32, 1},
                                       DLDevice{kDLCPU, 0});
}

void FromTvmFfi(benchmark::State& state) {
  const tvm::ffi::Tensor x = MakeTvmFfi();
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::FromTvmFfi(x));
}
BENCHMARK(FromTvmFfi)->Name("tvm-ffi in");

void WrapByHand(benchmark::State& state) {
  const tvm::ffi::Tensor x = MakeTvmFfi();
  for (auto _ : state) {
    benchmark::DoNotOptimize(Tensor::Wrap(static_cast<float*>(x.data_ptr()), {x.shape().data(), 2},
                                          {x.strides().data(), 2}, dovetail::Device::Cpu(),
                                          [x] {}));
  }
}
BENCHMARK(WrapByHand)->Name("tvm-ffi in by hand");

void ViewOf(benchmark::State& state) {
  const tvm::ffi::Tensor x = MakeTvmFfi();
  const tvm::ffi::TensorView view(x);
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::ViewOf(view));
}
BENCHMARK(ViewOf)->Name("tvm-ffi view in");

void ViewInByHand(benchmark::State& state) {
  const tvm::ffi::Tensor x = MakeTvmFfi();
  const tvm::ffi::TensorView view(x);
  for (auto _ : state) {
    benchmark::DoNotOptimize(dovetail::TensorView{.data = view.data_ptr(),
                                                  .dtype = dovetail::kFloat32,
                                                  .shape = {view.shape().data(), 2},
                                                  .strides = {view.strides().data(), 2}});
  }
}
BENCHMARK(ViewInByHand)->Name("tvm-ffi view in by hand");

}  // namespace
}  // namespace dovetail_benchmarks
