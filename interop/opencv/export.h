// Hands a tensor out as a cv::Mat, without a copy.
//
//   absl::StatusOr<cv::Mat> mat = AsMat(image);                // (H, W, 3) uint8: a CV_8UC3
//   absl::StatusOr<ReadOnlyMat> seen = AsReadOnlyMat(image);   // for a read-only tensor
//
// The Mat and its copies keep the tensor's memory alive by OpenCV's own reference count. Any thread
// may release them.

#ifndef DOVETAIL_INTEROP_OPENCV_EXPORT_H_
#define DOVETAIL_INTEROP_OPENCV_EXPORT_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <opencv2/core.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/opencv/depth_table.h"
#include "dovetail/interop/opencv/tensor_allocator.h"
#include "dovetail/interop/refusal.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Which dimension of a tensor becomes the channels of a Mat.
enum class ChannelDimension : uint8_t {
  kLastOfThree,  // the last one of a tensor with three dimensions; no channels otherwise
  kLast,         // the last one
  kNone,         // one channel
};

// A Mat whose elements must not be written. OpenCV's const is shallow: a copy of the Mat would be
// writable, and making one is what this type keeps from happening by accident.
class ReadOnlyMat {
 public:
  explicit ReadOnlyMat(cv::Mat mat) : mat_(std::move(mat)) {}
  const cv::Mat& get() const { return mat_; }
  // An argument for functions that read: those of OpenCV and others.
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator cv::_InputArray() const { return mat_; }
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator const cv::Mat&() const { return mat_; }

 private:
  cv::Mat mat_;
};

namespace internal_opencv {

inline constexpr int kMaxDims = 32;  // CV_MAX_DIM, which OpenCV has in its C header

// The rank, sizes, steps (bytes) and type of a Mat over a tensor.
struct MatLayout {
  int dims = 0;
  int type = 0;
  std::array<int, kMaxDims> sizes;     // dims of them
  std::array<size_t, kMaxDims> steps;  // bytes
};

inline absl::Status RefuseMat(const Tensor& tensor, absl::string_view reason,
                              absl::string_view remedy) {
  return internal_interop::Refusal(tensor, "a cv::Mat", reason, remedy);
}

// Takes the channels from the last dimension. Returns how many dimensions are left, or an error.
inline absl::StatusOr<int> TakeChannels(const Tensor& tensor, ChannelDimension dimension,
                                        int* channels) {
  *channels = 1;
  const int last = tensor.rank() - 1;
  if (dimension == ChannelDimension::kNone || last < 0 ||
      (dimension == ChannelDimension::kLastOfThree && tensor.rank() != 3)) {
    return tensor.rank();
  }
  const int64_t size = tensor.layout().shape(last);
  if (size < 1 || size > CV_CN_MAX) {
    return RefuseMat(tensor, absl::StrCat("a Mat has 1 to ", CV_CN_MAX, " channels"),
                     "Pass ChannelDimension::kNone");
  }
  if (size > 1 && tensor.layout().stride(last) != 1) {
    return RefuseMat(tensor, "the channels of a pixel are not next to each other",
                     "Pass Copied(tensor), or ChannelDimension::kNone");
  }
  *channels = static_cast<int>(size);
  return last;
}

// Sizes and steps. OpenCV's dimensions are in row-major order with the last one dense; the others
// may have gaps.
inline absl::Status FillLayout(const Tensor& tensor, int dims, int channels, MatLayout* layout) {
  const int64_t itemsize = tensor.dtype().itemsize();
  int64_t dense = channels;  // elements: what a step is at least
  for (int i = dims - 1; i >= 0; --i) {
    const int64_t size = tensor.layout().shape(i);
    if (size > std::numeric_limits<int>::max()) {
      return RefuseMat(tensor, "a size does not fit an int", "Pass a Slice of it");
    }
    // The stride of a single element means nothing; that of an empty tensor neither.
    const bool counts = size > 1 && tensor.num_elements() > 0;
    const int64_t stride = counts ? tensor.layout().stride(i) : dense;
    const bool is_inner = i == dims - 1 && dims > 1;
    if (counts && (is_inner ? stride != dense : stride < dense)) {
      return RefuseMat(
          tensor, "a Mat's rows are dense and do not overlap, and its dimensions are row-major",
          "Pass Copied(tensor)");
    }
    layout->sizes[static_cast<size_t>(i)] = static_cast<int>(size);
    layout->steps[static_cast<size_t>(i)] = static_cast<size_t>(stride * itemsize);
    dense = stride * std::max<int64_t>(size, 1);
  }
  // A Mat has at least two dimensions: (n) is a column of n, () is one element.
  for (layout->dims = dims; layout->dims < 2; ++layout->dims) {
    layout->sizes[static_cast<size_t>(layout->dims)] = 1;
    layout->steps[static_cast<size_t>(layout->dims)] = static_cast<size_t>(channels * itemsize);
  }
  return absl::OkStatus();
}

inline absl::Status FindLayout(const Tensor& tensor, ChannelDimension dimension,
                               MatLayout* layout) {
  if (tensor.is_null()) return RefuseMat(tensor, "", "Pass a tensor with memory");
  if (!IsHostAccessible(tensor.device().type)) {
    return RefuseMat(tensor, "the CPU can't reach its memory", "Copy it to the CPU");
  }
  const std::optional<int> depth = ToCvDepth(tensor.dtype());
  if (!depth) {
    return RefuseMat(tensor, absl::StrCat("OpenCV has no ", tensor.dtype().ToString()),
                     "Convert it with Copied(tensor, {.dtype = …})");
  }
  int channels;
  const absl::StatusOr<int> dims = TakeChannels(tensor, dimension, &channels);
  if (!dims.ok()) return dims.status();
  if (*dims > kMaxDims) {
    return RefuseMat(tensor, absl::StrCat("a Mat has at most ", kMaxDims, " dimensions"),
                     "Reshape it");
  }
  layout->type = CV_MAKETYPE(*depth, channels);
  return FillLayout(tensor, *dims, channels, layout);
}

inline absl::StatusOr<cv::Mat> MatOver(const Tensor& tensor, ChannelDimension dimension) {
  MatLayout layout;
  if (absl::Status s = FindLayout(tensor, dimension, &layout); !s.ok()) return s;
  const auto& [sizes, steps] = std::tie(layout.sizes, layout.steps);
  if (tensor.num_elements() == 0) return cv::Mat(layout.dims, sizes.data(), layout.type);
  void* const data = tensor.raw_data();
  absl::StatusOr<cv::Mat> mat =
      layout.dims == 2 ? cv::Mat(sizes[0], sizes[1], layout.type, data, steps[0])  // faster
                       : cv::Mat(layout.dims, sizes.data(), layout.type, data, steps.data());
  TensorAllocator::Lend(tensor.storage(), &*mat);
  return mat;
}

}  // namespace internal_opencv

// FailedPrecondition, with the remedy, for a tensor that is null, read-only, not in memory that the
// CPU can reach, of a type that OpenCV lacks, or with strides that a Mat cannot have.
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
