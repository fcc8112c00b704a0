// What the door to Eigen costs beside an Eigen::Map and a tensor made by hand.

#include <benchmark/benchmark.h>

#include <vector>

#include "Eigen/Core"
#include "dovetail/dovetail.h"
#include "dovetail/interop/eigen/export.h"
#include "dovetail/interop/eigen/import.h"

namespace dovetail_benchmarks {
namespace {

using dovetail::Tensor;

void AsMap(benchmark::State& state) {
  const Tensor x = Tensor::Wrap(std::vector<float>(16), {4, 4}).value();
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::AsMap<float>(x));
}
BENCHMARK(AsMap)->Name("Eigen out");

void MapByHand(benchmark::State& state) {
  const Tensor x = Tensor::Wrap(std::vector<float>(16), {4, 4}).value();
  using Map = dovetail::EigenMap<float>;
  for (auto _ : state) {
    benchmark::DoNotOptimize(Map(static_cast<float*>(x.raw_data()), x.layout().shape(0),
                                 x.layout().shape(1),
                                 {x.layout().stride(0), x.layout().stride(1)}));
  }
}
BENCHMARK(MapByHand)->Name("Eigen out by hand");

void ViewOf(benchmark::State& state) {
  Eigen::MatrixXf m(4, 4);
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::ViewOf(m));
}
BENCHMARK(ViewOf)->Name("Eigen in");

void WrapByHand(benchmark::State& state) {
  Eigen::MatrixXf m(4, 4);
  for (auto _ : state) {
    benchmark::DoNotOptimize(Tensor::Wrap(m.data(), {m.rows(), m.cols()}, {1, m.rows()},
                                          dovetail::Device::Cpu(), [] {}));
  }
}
BENCHMARK(WrapByHand)->Name("Eigen in by hand");

}  // namespace
}  // namespace dovetail_benchmarks
