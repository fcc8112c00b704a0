// ReadOnlyMat: a cv::Mat whose elements must not be written.
//
//   ReadOnlyMat mat = AsReadOnlyMat(tensor).value();
//   double sum = cv::sum(mat)[0];       // any cv::InputArray
//   int rows = mat.get().rows;          // the Mat itself
//
// OpenCV's const is shallow: a copy of a const Mat can be written, and OpenCV takes a const Mat as
// an OutputArray, too. This type converts to neither. Who copies get() promises not to write.

#ifndef DOVETAIL_INTEROP_OPENCV_READ_ONLY_MAT_H_
#define DOVETAIL_INTEROP_OPENCV_READ_ONLY_MAT_H_

#include <opencv2/core.hpp>
#include <type_traits>
#include <utility>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

class ReadOnlyMat {
 public:
  explicit ReadOnlyMat(cv::Mat mat) : mat_(std::move(mat)) {}
  const cv::Mat& get() const { return mat_; }
  // An argument for the functions of OpenCV that read. Valid as long as this object.
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator cv::_InputArray() const { return mat_; }

 private:
  cv::Mat mat_;
};

static_assert(std::is_convertible_v<ReadOnlyMat, cv::_InputArray>);
static_assert(!std::is_convertible_v<ReadOnlyMat, cv::Mat>);
static_assert(!std::is_convertible_v<ReadOnlyMat, cv::_OutputArray>);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_OPENCV_READ_ONLY_MAT_H_
