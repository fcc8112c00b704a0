// What the door to XLA's FFI costs beside a view and a tensor made by hand.

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>

#include "dovetail/dovetail.h"
#include "dovetail/interop/xla_ffi/buffer.h"

namespace dovetail_benchmarks {
namespace {

using dovetail::Tensor;
using xla::ffi::AnyBuffer;

alignas(64) float memory[16];
int64_t dims[] = {4, 4};

XLA_FFI_Buffer MakeBuffer() {
  return {.struct_size = XLA_FFI_Buffer_STRUCT_SIZE,
          .extension_start = nullptr,
          .dtype = XLA_FFI_DataType_F32,
          .data = memory,
          .rank = 2,
          .dims = dims};
}

void AsTensor(benchmark::State& state) {
  const XLA_FFI_Buffer passed = MakeBuffer();
  const AnyBuffer buffer(&passed);
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::AsTensor(buffer));
}
BENCHMARK(AsTensor)->Name("XLA in");

void TensorByHand(benchmark::State& state) {
  const XLA_FFI_Buffer passed = MakeBuffer();
  const AnyBuffer buffer(&passed);
  for (auto _ : state) {
    const auto shape = buffer.dimensions();
    const int64_t strides[] = {shape[1], 1};
    benchmark::DoNotOptimize(Tensor::Wrap(static_cast<const float*>(buffer.untyped_data()),
                                          {shape.begin(), shape.size()}, strides,
                                          dovetail::Device::Cpu(), [] {}));
  }
}
BENCHMARK(TensorByHand)->Name("XLA in by hand");

void AsTensorView(benchmark::State& state) {
  const XLA_FFI_Buffer passed = MakeBuffer();
  const AnyBuffer buffer(&passed);
  for (auto _ : state) {
    auto made = dovetail::AsTensorView(buffer);
    benchmark::DoNotOptimize(made->view());
  }
}
BENCHMARK(AsTensorView)->Name("XLA view in");

void ViewByHand(benchmark::State& state) {
  const XLA_FFI_Buffer passed = MakeBuffer();
  const AnyBuffer buffer(&passed);
  for (auto _ : state) {
    const auto shape = buffer.dimensions();
    const std::array<int64_t, 2> strides = {shape[1], 1};
    benchmark::DoNotOptimize(strides);
    benchmark::DoNotOptimize(dovetail::TensorView{.data = buffer.untyped_data(),
                                                  .dtype = dovetail::kFloat32,
                                                  .access = dovetail::Access::kReadOnly,
                                                  .shape = {shape.begin(), shape.size()},
                                                  .strides = strides});
  }
}
BENCHMARK(ViewByHand)->Name("XLA view in by hand");

}  // namespace
}  // namespace dovetail_benchmarks
