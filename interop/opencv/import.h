// Takes a cv::Mat in, without a copy.
//
//   absl::StatusOr<Tensor> image = FromMat(cv::Mat(480, 640, CV_8UC3));   // shape (480, 640, 3)
//   absl::StatusOr<Tensor> part = FromMat(mat(cv::Rect(8, 8, 32, 32)));   // a ROI, with its steps
//
// The tensor holds a cv::Mat of its own, so OpenCV's reference count keeps the memory alive. A Mat
// over the program's own memory has no count: that memory must outlive the tensor. The tensor is
// writable; ReadOnly() narrows it. Any thread may drop it.

#ifndef DOVETAIL_INTEROP_OPENCV_IMPORT_H_
#define DOVETAIL_INTEROP_OPENCV_IMPORT_H_

#include <cstdint>
#include <opencv2/core.hpp>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/tensor_wrap.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/opencv/depth_table.h"
#include "dovetail/interop/refusal.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

enum class MatChannels : uint8_t {
  kIfSeveral,  // channels become a last dimension if there are at least two
  kAlways,     // a last dimension of size 1 for one channel, too
};

// One dimension for each of the Mat's, and one for the channels. `cv::Mat()` has shape (0, 0).
// InvalidArgument for element types that Dovetail lacks and for steps that are no multiple of an
// element's bytes.
inline absl::StatusOr<Tensor> FromMat(cv::Mat mat, MatChannels channels = MatChannels::kIfSeveral) {
  const std::optional<DType> dtype = internal_opencv::FromCvDepth(mat.depth());
  if (!dtype) {
    return internal_interop::RefusalOf(absl::StrCat("cv::Mat of depth ", mat.depth()),
                                       "it has no element type of Dovetail's",
                                       "Call Mat::convertTo first");
  }
  const auto element_bytes = mat.elemSize1();
  absl::InlinedVector<int64_t, 5> shape, strides;
  for (int i = 0; i < mat.dims; ++i) {
    if (mat.step.p[i] % element_bytes != 0) {
      return internal_interop::RefusalOf(
          "cv::Mat",
          absl::StrCat("its step of ", mat.step.p[i], " bytes is no multiple of ", element_bytes),
          "Pass mat.clone()");
    }
    shape.push_back(mat.size.p[i]);
    strides.push_back(static_cast<int64_t>(mat.step.p[i] / element_bytes));
  }
  if (mat.dims == 0 && mat.empty()) {
    shape = {0, 0};
    strides = {0, 1};
  }
  if (mat.channels() > 1 || channels == MatChannels::kAlways) {
    shape.push_back(mat.channels());
    strides.push_back(1);
  }
  const absl::Span<const int64_t> steps = strides;
  return internal_tensor::OwnedBy(
      mat, internal_tensor::WrapUnowned(mat.data, *dtype, shape, &steps, Device::Cpu(),
                                        Access::kReadWrite));
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_OPENCV_IMPORT_H_
