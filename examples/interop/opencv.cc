// Shares an image between OpenCV and Dovetail, both ways: bazel run //examples/interop:opencv

#include "dovetail/dovetail.h"
#include "dovetail/interop/opencv/export.h"
#include "dovetail/interop/opencv/import.h"

#include <cstdio>
#include <opencv2/core.hpp>

using dovetail::Tensor;

int main() {
  // [page]
  cv::Mat photo(480, 640, CV_8UC3, cv::Scalar(10, 20, 30));
  absl::StatusOr<Tensor> image = dovetail::FromMat(photo);  // (480, 640, 3) uint8
  absl::StatusOr<Tensor> part = image->Slice(0, {.start = 100, .stop = 200});
  absl::StatusOr<cv::Mat> rows = dovetail::AsMat(*part);  // 100 x 640, CV_8UC3
  photo.release();                                        // the memory stays
  rows->setTo(cv::Scalar(0, 0, 255));
  // [page]
  const bool shared =
      **image->at<uint8_t>({99, 0, 2}) == 30 && **image->at<uint8_t>({100, 0, 2}) == 255;
  std::printf("image at %p, rows at %p: %s\n", image->raw_data(), static_cast<void*>(rows->data),
              shared ? "one memory" : "NOT SHARED");
  return shared ? 0 : 1;
}
