// What does an Eigen::Map of a tensor cost beside one made by hand, and a tensor of a matrix beside
// Tensor::Wrap by hand? Goal: at most 20 ns more.

#include <memory>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "benchmark/benchmark.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/eigen/export.h"
#include "dovetail/interop/eigen/import.h"
#include "dovetail/interop/eigen/tensor.h"

namespace {

using dovetail::Device;
using dovetail::Tensor;
using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Tensor Numbers(absl::Span<const int64_t> shape) {
  return *Tensor::Wrap(std::vector<float>(4096), shape);
}

void MapOfDoor(benchmark::State& state) {
  const Tensor t = Numbers({64, 64});
  for (auto _ : state) {
    auto map = dovetail::AsMap<float>(t);
    benchmark::DoNotOptimize(map);
  }
}
BENCHMARK(MapOfDoor)->Name("eigen_map/dovetail");

void MapByHand(benchmark::State& state) {
  const Tensor t = Numbers({64, 64});
  for (auto _ : state) {
    dovetail::EigenMap<float> map(static_cast<float*>(t.raw_data()), t.layout().shape(0),
                                  t.layout().shape(1),
                                  {t.layout().stride(0), t.layout().stride(1)});
    benchmark::DoNotOptimize(map);
  }
}
BENCHMARK(MapByHand)->Name("eigen_map/by_hand");

void TensorMapOfDoor(benchmark::State& state) {
  const Tensor t = Numbers({16, 16, 16});
  for (auto _ : state) {
    auto map = dovetail::AsTensorMap<float, 3>(t);
    benchmark::DoNotOptimize(map);
  }
}
BENCHMARK(TensorMapOfDoor)->Name("eigen_tensor_map/dovetail");

void TensorMapByHand(benchmark::State& state) {
  const Tensor t = Numbers({16, 16, 16});
  for (auto _ : state) {
    Eigen::TensorMap<Eigen::Tensor<float, 3, Eigen::RowMajor>> map(
        static_cast<float*>(t.raw_data()), t.layout().shape(0), t.layout().shape(1),
        t.layout().shape(2));
    benchmark::DoNotOptimize(map);
  }
}
BENCHMARK(TensorMapByHand)->Name("eigen_tensor_map/by_hand");

void ViewOfDoor(benchmark::State& state) {
  RowMajor m(64, 64);
  for (auto _ : state) {
    auto t = dovetail::ViewOf(m);
    benchmark::DoNotOptimize(t);
  }
}
BENCHMARK(ViewOfDoor)->Name("eigen_borrow/dovetail");

void ViewByHand(benchmark::State& state) {
  RowMajor m(64, 64);
  for (auto _ : state) {
    auto t = Tensor::Wrap(m.data(), {m.rows(), m.cols()}, {m.rowStride(), m.colStride()},
                          Device::Cpu(), [] {});
    benchmark::DoNotOptimize(t);
  }
}
BENCHMARK(ViewByHand)->Name("eigen_borrow/by_hand");

void OwnOfDoor(benchmark::State& state) {
  for (auto _ : state) {
    auto t = dovetail::FromEigen(RowMajor(8, 8));
    benchmark::DoNotOptimize(t);
  }
}
BENCHMARK(OwnOfDoor)->Name("eigen_own/dovetail");

void OwnByHand(benchmark::State& state) {
  for (auto _ : state) {
    auto m = std::make_unique<RowMajor>(8, 8);
    const int64_t shape[] = {m->rows(), m->cols()};
    const int64_t strides[] = {m->rowStride(), m->colStride()};
    float* const data = m->data();
    auto t = Tensor::Wrap(data, shape, strides, Device::Cpu(), [m = std::move(m)] {});
    benchmark::DoNotOptimize(t);
  }
}
BENCHMARK(OwnByHand)->Name("eigen_own/by_hand");

}  // namespace
