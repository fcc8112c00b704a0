// What the door to mdspans costs beside an mdspan and a tensor made by hand.

#include <benchmark/benchmark.h>

#include <vector>

#include "dovetail/dovetail.h"
#include "dovetail/interop/mdspan/cuda.h"

namespace dovetail_benchmarks {
namespace {

using dovetail::Tensor;
using Extents = cuda::std::dextents<int64_t, 2>;
using Matrix = cuda::std::mdspan<float, Extents>;

void AsMdspan(benchmark::State& state) {
  const Tensor x = Tensor::Wrap(std::vector<float>(16), {4, 4}).value();
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::AsMdspan<float, Extents>(x));
}
BENCHMARK(AsMdspan)->Name("mdspan out");

void MdspanByHand(benchmark::State& state) {
  const Tensor x = Tensor::Wrap(std::vector<float>(16), {4, 4}).value();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        Matrix(static_cast<float*>(x.raw_data()), x.layout().shape(0), x.layout().shape(1)));
  }
}
BENCHMARK(MdspanByHand)->Name("mdspan out by hand");

void ViewOf(benchmark::State& state) {
  float memory[16] = {};
  const Matrix m(memory, 4, 4);
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::ViewOf(m));
}
BENCHMARK(ViewOf)->Name("mdspan in");

void TensorByHand(benchmark::State& state) {
  float memory[16] = {};
  const Matrix m(memory, 4, 4);
  for (auto _ : state) {
    benchmark::DoNotOptimize(Tensor::Wrap(m.data_handle(), {m.extent(0), m.extent(1)},
                                          {m.stride(0), m.stride(1)}, dovetail::Device::Cpu(),
                                          [] {}));
  }
}
BENCHMARK(TensorByHand)->Name("mdspan in by hand");

}  // namespace
}  // namespace dovetail_benchmarks
