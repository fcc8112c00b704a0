// How a cv::Mat over a tensor's memory is laid out, or why there is none.
//
//   MatLayout layout;
//   absl::Status status = FindLayout(tensor, ChannelDimension::kLastOfThree, &layout);
//
// A Mat's dimensions are in row-major order. The last one is dense and the others may have gaps,
// but no step may be smaller than what it steps over: OpenCV would take such a Mat for continuous.

#ifndef DOVETAIL_INTEROP_OPENCV_MAT_LAYOUT_H_
#define DOVETAIL_INTEROP_OPENCV_MAT_LAYOUT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <opencv2/core.hpp>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "dovetail/core/config.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/find_misfit.h"
#include "dovetail/interop/offer.h"
#include "dovetail/interop/opencv/depth_table.h"
#include "dovetail/interop/refusal.h"
#include "dovetail/interop/requirements.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Which dimension of a tensor becomes the channels of a Mat.
enum class ChannelDimension : uint8_t {
  kLastOfThree,  // the last one of a tensor with three dimensions; no channels otherwise
  kLast,         // the last one
  kNone,         // one channel
};

namespace internal_opencv {

#if CV_VERSION_MAJOR >= 5
inline constexpr int kMaxDims = cv::MatShape::MAX_DIMS;
#else
inline constexpr int kMaxDims = 32;  // CV_MAX_DIM, which OpenCV has in its C header
#endif

// The rank, sizes, steps (bytes) and type of a Mat over a tensor.
struct MatLayout {
  int dims = 0;
  int type = 0;
  std::array<int, kMaxDims> sizes;     // dims of them
  std::array<size_t, kMaxDims> steps;  // bytes; mean nothing if there are no elements
};

[[gnu::cold, gnu::noinline]] inline absl::Status RefuseMat(const Tensor& tensor,
                                                           absl::string_view reason,
                                                           absl::string_view remedy) {
  return internal_interop::Refusal(tensor, "a cv::Mat", reason, remedy);
}

inline bool HasChannels(const Tensor& tensor, ChannelDimension dimension) {
  return dimension == ChannelDimension::kLastOfThree
             ? tensor.rank() == 3
             : dimension == ChannelDimension::kLast && tensor.rank() > 0;
}

[[gnu::cold, gnu::noinline]] inline absl::Status MisfitError(const internal_interop::Misfit& misfit,
                                                             const Tensor& tensor) {
  using internal_interop::Want;
  switch (misfit.want) {
    case Want::kDevice:
      return RefuseMat(tensor, "the CPU can't reach its memory",
                       "Pass Copied(tensor, {.device = Device::Cpu()})");
    case Want::kInnerDense:
      return RefuseMat(tensor, "the channels of a pixel are not next to each other",
                       "Pass Copied(tensor)");
    default:
      return RefuseMat(tensor,
                       absl::StrCat("element 0 is not aligned to ", misfit.wanted, " bytes"),
                       "Pass Copied(tensor)");
  }
}

// Sizes and steps of the first `dims` dimensions. `channels` follow them in memory. One walk both
// computes the steps and checks them, by what each must step over.
inline absl::Status FillLayout(const Tensor& tensor, int dims, int channels, MatLayout* layout) {
  const int64_t itemsize = tensor.dtype().itemsize();
  const bool has_elements = tensor.num_elements() > 0;
  int64_t dense = channels;  // elements: what a step is at least
  for (int i = dims - 1; i >= 0; --i) {
    const int64_t size = tensor.layout().shape(i);
    if (size > std::numeric_limits<int>::max()) {
      return RefuseMat(tensor, "a size does not fit an int", "Pass a Slice of it");
    }
    int64_t stride = dense;  // the stride of a single element means nothing
    if (size > 1 && has_elements) {
      stride = tensor.layout().stride(i);
      const bool is_inner = i == dims - 1 && dims > 1;
      if (is_inner ? stride != dense : stride < dense) {
        return RefuseMat(
            tensor, "a Mat's rows are dense and do not overlap, and its dimensions are row-major",
            "Pass Copied(tensor)");
      }
    }
    layout->sizes[static_cast<size_t>(i)] = static_cast<int>(size);
    layout->steps[static_cast<size_t>(i)] = static_cast<size_t>(WrappingMultiply(stride, itemsize));
    if (__builtin_mul_overflow(stride, size, &dense)) dense = std::numeric_limits<int64_t>::max();
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
  namespace in = internal_interop;
  if (tensor.is_null()) return RefuseMat(tensor, "", "Pass a tensor with memory");
  const std::optional<int> depth = ToCvDepth(tensor.dtype());
  if (!depth) {
    return RefuseMat(tensor, absl::StrCat("OpenCV has no ", tensor.dtype().ToString()),
                     "Convert it with Copied(tensor, {.dtype = …})");
  }
  const bool has_channels = HasChannels(tensor, dimension);
  const int dims = tensor.rank() - (has_channels ? 1 : 0);
  const int64_t channels = has_channels ? tensor.layout().shape(dims) : 1;
  if (channels < 1 || channels > CV_CN_MAX) {
    return RefuseMat(tensor, absl::StrCat("a Mat has 1 to ", CV_CN_MAX, " channels"),
                     "Pass ChannelDimension::kNone");
  }
  if (dims > kMaxDims) {
    return RefuseMat(tensor, absl::StrCat("a Mat has at most ", kMaxDims, " dimensions"),
                     "Reshape it");
  }
  const in::Misfit misfit = in::FindMisfit(
      in::OfferOf(tensor), {.device = in::kHostMemory,
                            .alignment = static_cast<uint32_t>(tensor.dtype().itemsize()),
                            .flags = has_channels ? in::kWantInnerDense : 0u});
  if (!misfit.fits()) return MisfitError(misfit, tensor);
  layout->type = CV_MAKETYPE(*depth, static_cast<int>(channels));
  return FillLayout(tensor, dims, static_cast<int>(channels), layout);
}

}  // namespace internal_opencv
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_OPENCV_MAT_LAYOUT_H_
