// Hands a tensor out as a cv::Mat, without a copy.
//
//   absl::StatusOr<cv::Mat> mat = AsMat(image);                // (H, W, 3) uint8: a CV_8UC3
//   absl::StatusOr<ReadOnlyMat> seen = AsReadOnlyMat(image);   // for a read-only tensor
//
// The Mat and its copies keep the tensor's memory alive by OpenCV's own reference count. Any thread
// may release them.

#ifndef DOVETAIL_INTEROP_OPENCV_EXPORT_H_
#define DOVETAIL_INTEROP_OPENCV_EXPORT_H_

#include <opencv2/core.hpp>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/opencv/exceptions.h"
#include "dovetail/interop/opencv/mat_layout.h"
#include "dovetail/interop/opencv/read_only_mat.h"
#include "dovetail/interop/opencv/tensor_allocator.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_opencv {

// A Mat of this layout over the tensor's memory, not yet counted.
inline absl::StatusOr<cv::Mat> Uncounted(const Tensor& tensor, const MatLayout& layout) {
  const auto& [dims, type, sizes, steps] = layout;
  using Mat = absl::StatusOr<cv::Mat>;
  if (tensor.num_elements() == 0) return Mat(std::in_place, dims, sizes.data(), type);
  void* const data = tensor.raw_data();
  if (dims == 2) return Mat(std::in_place, sizes[0], sizes[1], type, data, steps[0]);  // faster
  return Mat(std::in_place, dims, sizes.data(), type, data, steps.data());
}

// The same, which keeps the memory. Its only return lets compilers build the Mat in place.
inline absl::StatusOr<cv::Mat> Counted(const Tensor& tensor, const MatLayout& layout) {
  absl::StatusOr<cv::Mat> mat = Catching([&] { return Uncounted(tensor, layout); });
  if (mat.ok() && tensor.num_elements() > 0) TensorAllocator::Lend(tensor, &*mat);
  return mat;
}

inline absl::StatusOr<cv::Mat> MatOver(const Tensor& tensor, ChannelDimension dimension) {
  MatLayout layout;
  if (absl::Status s = FindLayout(tensor, dimension, &layout); !s.ok()) return s;
  return Counted(tensor, layout);
}

}  // namespace internal_opencv

// FailedPrecondition, with the remedy, for a tensor that is null, read-only, not in memory that the
// CPU can reach, misaligned, of a type that OpenCV lacks, or with strides that a Mat cannot have.
inline absl::StatusOr<cv::Mat> AsMat(const Tensor& tensor,
                                     ChannelDimension dimension = ChannelDimension::kLastOfThree) {
  if (!tensor.is_null() && tensor.is_read_only()) {
    return internal_opencv::RefuseMat(tensor, "the tensor is read-only, and a Mat can be written",
                                      "Call AsReadOnlyMat, or pass Copied(tensor)");
  }
  return internal_opencv::MatOver(tensor, dimension);
}

// The same for any tensor, for functions that only read.
inline absl::StatusOr<ReadOnlyMat> AsReadOnlyMat(
    const Tensor& tensor, ChannelDimension dimension = ChannelDimension::kLastOfThree) {
  absl::StatusOr<cv::Mat> mat = internal_opencv::MatOver(tensor, dimension);
  if (!mat.ok()) return mat.status();
  return ReadOnlyMat(*std::move(mat));
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_OPENCV_EXPORT_H_
