// Takes a cv::Mat in, without a copy.
//
//   absl::StatusOr<Tensor> image = FromMat(cv::Mat(480, 640, CV_8UC3));   // shape (480, 640, 3)
//   absl::StatusOr<Tensor> part = FromMat(mat(cv::Rect(8, 8, 32, 32)));   // a ROI, with its steps
//
// The tensor holds a cv::Mat of its own, so OpenCV's reference count keeps the memory alive. A Mat
// over the program's own memory has no count: that memory must outlive the tensor. A Mat from AsMat
// gives back a tensor over the same Storage, with its device and access. Others are writable;
// ReadOnly() narrows that. Any thread may drop the tensor.

#ifndef DOVETAIL_INTEROP_OPENCV_IMPORT_H_
#define DOVETAIL_INTEROP_OPENCV_IMPORT_H_

#include <cstddef>
#include <cstdint>
#include <opencv2/core.hpp>
#include <optional>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/internal/tensor_wrap.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/opencv/depth_table.h"
#include "dovetail/interop/opencv/read_only_mat.h"
#include "dovetail/interop/opencv/tensor_allocator.h"
#include "dovetail/interop/refusal.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

enum class MatChannels : uint8_t {
  kIfSeveral,  // channels become a last dimension if there are at least two
  kAlways,     // a last dimension of size 1 for one channel, too
};

namespace internal_opencv {

// Shape and strides (elements) of a Mat, its channels included.
struct Dims {
  absl::InlinedVector<int64_t, 5> shape, strides;
};

inline absl::StatusOr<Dims> DimsOf(const cv::Mat& mat, MatChannels channels) {
  const size_t element_bytes = mat.elemSize1();
  Dims dims;
  for (int i = 0; i < mat.dims; ++i) {
    if (mat.step.p[i] % element_bytes != 0 && mat.size.p[i] > 1) {
      return internal_interop::RefusalOf(
          "cv::Mat",
          absl::StrCat("its step of ", mat.step.p[i], " bytes is no multiple of ", element_bytes),
          "Pass mat.clone()");
    }
    dims.shape.push_back(mat.size.p[i]);
    dims.strides.push_back(static_cast<int64_t>(mat.step.p[i] / element_bytes));
  }
  if (mat.dims == 0 && mat.empty()) dims = {{0, 0}, {0, 1}};
  if (mat.channels() > 1 || channels == MatChannels::kAlways) {
    dims.shape.push_back(mat.channels());
    dims.strides.push_back(1);
  }
  return dims;
}

}  // namespace internal_opencv

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
  const absl::StatusOr<internal_opencv::Dims> dims = internal_opencv::DimsOf(mat, channels);
  if (!dims.ok()) return dims.status();
  const auto* lent = internal_opencv::TensorAllocator::FindLent(mat);
  if (lent != nullptr) {
    absl::StatusOr<Layout> layout = Layout::Strided(dims->shape, dims->strides);
    if (!layout.ok()) return layout.status();
    const auto* start = static_cast<const uchar*>(lent->storage->data());
    return Tensor::Make(lent->storage, mat.data - start, *dtype, *std::move(layout),
                        {.access = lent->access});
  }
  const absl::Span<const int64_t> strides = dims->strides;
  return internal_tensor::OwnedBy(
      mat, internal_tensor::WrapUnowned(mat.data, *dtype, dims->shape, &strides, Device::Cpu(),
                                        Access::kReadWrite));
}

// The tensor is read-only.
inline absl::StatusOr<Tensor> FromMat(const ReadOnlyMat& mat,
                                      MatChannels channels = MatChannels::kIfSeveral) {
  absl::StatusOr<Tensor> tensor = FromMat(mat.get(), channels);
  if (tensor.ok()) tensor = tensor->ReadOnly();
  return tensor;
}

// A UMat may be on a GPU that only OpenCV knows: copy it with umat.copyTo(mat). FromMat also takes
// umat.getMat(cv::ACCESS_READ), but OpenCV ends the program if the UMat is destroyed before it.
absl::StatusOr<Tensor> FromMat(const cv::UMat& mat,
                               MatChannels channels = MatChannels::kIfSeveral) = delete;

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_OPENCV_IMPORT_H_
