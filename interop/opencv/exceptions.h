// Turns OpenCV's exceptions into a Status.
//
//   absl::StatusOr<cv::Mat> mat = Catching([&]() -> absl::StatusOr<cv::Mat> { return f(x); });
//
// Other exceptions, such as std::bad_alloc, pass.

#ifndef DOVETAIL_INTEROP_OPENCV_EXCEPTIONS_H_
#define DOVETAIL_INTEROP_OPENCV_EXCEPTIONS_H_

#include <opencv2/core.hpp>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_opencv {

// What `call` returns, a Status or a StatusOr; Internal, with OpenCV's own text, if it throws a
// cv::Exception.
template <typename Call>
auto Catching(Call call) -> decltype(call()) {
#ifdef ABSL_HAVE_EXCEPTIONS
  try {
    return call();
  } catch (const cv::Exception& error) {
    return absl::InternalError(absl::StrCat("OpenCV: ", error.what()));
  }
#else
  return call();
#endif
}

}  // namespace internal_opencv
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_OPENCV_EXCEPTIONS_H_
