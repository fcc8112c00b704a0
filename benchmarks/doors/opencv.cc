// What the door to OpenCV costs beside a Mat over the same memory made by hand.

#include <benchmark/benchmark.h>

#include <opencv2/core.hpp>
#include <vector>

#include "dovetail/dovetail.h"
#include "dovetail/interop/opencv/export.h"
#include "dovetail/interop/opencv/import.h"

namespace dovetail_benchmarks {
namespace {

using dovetail::Tensor;

Tensor Image() { return Tensor::Wrap(std::vector<uint8_t>(64 * 64 * 3), {64, 64, 3}).value(); }

void AsMat(benchmark::State& state) {
  const Tensor image = Image();
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::AsMat(image));
}
BENCHMARK(AsMat)->Name("OpenCV out");

// Without an owner, and with one: the tensor is kept beside the Mat.
void MatByHand(benchmark::State& state) {
  const Tensor image = Image();
  for (auto _ : state) {
    Tensor owner = image;
    benchmark::DoNotOptimize(owner);
    benchmark::DoNotOptimize(cv::Mat(
        static_cast<int>(image.layout().shape(0)), static_cast<int>(image.layout().shape(1)),
        CV_8UC3, image.raw_data(), static_cast<size_t>(image.layout().stride(0))));
  }
}
BENCHMARK(MatByHand)->Name("OpenCV out by hand");

void FromMat(benchmark::State& state) {
  const cv::Mat mat(64, 64, CV_8UC3);
  for (auto _ : state) benchmark::DoNotOptimize(dovetail::FromMat(mat));
}
BENCHMARK(FromMat)->Name("OpenCV in");

void TensorByHand(benchmark::State& state) {
  const cv::Mat mat(64, 64, CV_8UC3);
  for (auto _ : state) {
    benchmark::DoNotOptimize(Tensor::Wrap(mat.data, {mat.rows, mat.cols, 3},
                                          {static_cast<int64_t>(mat.step[0]), 3, 1},
                                          dovetail::Device::Cpu(), [kept = mat] {}));
  }
}
BENCHMARK(TensorByHand)->Name("OpenCV in by hand");

}  // namespace
}  // namespace dovetail_benchmarks
