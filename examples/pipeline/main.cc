// One image through four libraries, without a copy: an OpenCV image is normalised by Eigen in
// place, goes through a PyTorch module, and std::mdspan code reads the result.
//
// Each stage is ordinary code of its library. Between stages a dovetail::Tensor holds the memory.
// The program prints the address that each library sees, and fails if one of them is a copy.
#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/utils.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <opencv2/core.hpp>

#include "Eigen/Core"
#include "dovetail/dovetail.h"
#include "dovetail/interop/eigen/export.h"
#include "dovetail/interop/mdspan/cuda.h"
#include "dovetail/interop/opencv/import.h"
#include "dovetail/interop/torch/export.h"
#include "dovetail/interop/torch/import.h"

namespace {

using dovetail::Tensor;

// OpenCV: a photo with a bright square, three channels of float32.
cv::Mat TakePhoto(int height, int width) {
  cv::Mat photo(height, width, CV_32FC3, cv::Scalar(10, 20, 30));
  photo(cv::Rect(width / 4, height / 4, width / 2, height / 2)).setTo(cv::Scalar(200, 210, 220));
  return photo;
}

// Eigen: each channel gets the mean 0 and the deviation 1. A row is a pixel.
void Normalise(Eigen::Map<Eigen::ArrayX3f, Eigen::Unaligned, Eigen::Stride<-1, -1>> pixels) {
  const Eigen::Array3f mean = pixels.colwise().mean();
  pixels.rowwise() -= mean.transpose();
  const Eigen::Array3f deviation = pixels.square().colwise().mean().sqrt();
  pixels.rowwise() /= deviation.transpose();
}

// PyTorch: a convolution that finds edges, and what is above zero of it.
torch::nn::Sequential EdgeDetector() {
  torch::nn::Conv2d edges(torch::nn::Conv2dOptions(3, 1, 3).padding(1).bias(false));
  torch::NoGradGuard no_gradients;
  edges->weight.fill_(-1);
  edges->weight.select(2, 1).select(2, 1).fill_(8);
  return torch::nn::Sequential(edges, torch::nn::ReLU());
}

// std::mdspan (here CCCL's, which g++ 12 compiles): the number of pixels above a threshold.
using Image = cuda::std::mdspan<const float, cuda::std::dextents<int64_t, 2>>;
int64_t CountAbove(Image image, float threshold) {
  int64_t count = 0;
  for (int64_t y = 0; y < image.extent(0); ++y) {
    for (int64_t x = 0; x < image.extent(1); ++x) count += image(y, x) > threshold ? 1 : 0;
  }
  return count;
}

void Print(const void* address, const char* who) { std::printf("%-24s %p\n", who, address); }

// Ends the program if the address is not the expected one.
void Expect(const void* address, const void* expected, const char* who) {
  Print(address, who);
  if (address == expected) return;
  std::printf("This is a copy.\n");
  std::exit(1);
}

// Runs the pipeline; returns the number of pixels at edges, or what went wrong.
absl::StatusOr<int64_t> CountEdges(cv::Mat photo) {
  const void* const memory = photo.data;
  Print(memory, "cv::Mat");

  absl::StatusOr<Tensor> image = dovetail::FromMat(photo);  // (height, width, 3)
  if (!image.ok()) return image.status();
  photo.release();  // the tensor holds the memory
  const int64_t height = image->shape()[0], width = image->shape()[1];

  absl::StatusOr<Tensor> pixels = image->Reshape({height * width, 3});
  if (!pixels.ok()) return pixels.status();
  auto map = dovetail::AsMap<Eigen::ArrayX3f>(*pixels);
  if (!map.ok()) return map.status();
  Expect(map->data(), memory, "Eigen::Map");
  Normalise(*map);

  absl::StatusOr<at::Tensor> x = dovetail::AsTorch(*image);
  if (!x.ok()) return x.status();
  Expect(x->data_ptr(), memory, "at::Tensor, the input");
  const torch::NoGradGuard no_gradients;
  const at::Tensor batch = x->permute({2, 0, 1}).unsqueeze(0);  // NCHW, "channels last"
  const at::Tensor y = EdgeDetector()->forward(batch);

  absl::StatusOr<Tensor> edges = dovetail::FromTorch(y.squeeze());  // (height, width)
  if (!edges.ok()) return edges.status();
  auto view = dovetail::AsMdspan<const float, cuda::std::dextents<int64_t, 2>>(*edges);
  if (!view.ok()) return view.status();
  Print(y.data_ptr(), "at::Tensor, the result");
  Expect(view->data_handle(), y.data_ptr(), "mdspan");
  return CountAbove(*view, 0.5F);
}

}  // namespace

int main() {
  const int height = 48, width = 64;
  const absl::StatusOr<int64_t> count = CountEdges(TakePhoto(height, width));
  if (!count.ok()) {
    std::printf("%s\n", count.status().ToString().c_str());
    return 1;
  }
  // The square's own border, one pixel wide. (The dark border of the image is below zero.)
  const int64_t expected = 2 * (height / 2 + width / 2) - 4;
  std::printf("%lld pixels at edges, %lld expected\n", static_cast<long long>(*count),
              static_cast<long long>(expected));
  return *count == expected ? 0 : 1;
}
