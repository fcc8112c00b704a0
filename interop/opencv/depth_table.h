// Converts between OpenCV's depths (CV_8U, CV_32F, …) and DType. One table serves both directions.
//
//   std::optional<int> depth = ToCvDepth(kFloat32);       // CV_32F
//   std::optional<DType> dtype = FromCvDepth(CV_16F);     // kFloat16
//
// nullopt means that the other side has no such type.

#ifndef DOVETAIL_INTEROP_OPENCV_DEPTH_TABLE_H_
#define DOVETAIL_INTEROP_OPENCV_DEPTH_TABLE_H_

#include <opencv2/core.hpp>
#include <optional>

#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_opencv {

struct DepthPair {
  int depth;
  DType dtype;
};

DOVETAIL_NOT_SHARED inline constexpr DepthPair kDepths[] = {
    {CV_8U, kUInt8},   {CV_8S, kInt8},     {CV_16U, kUInt16},  {CV_16S, kInt16},
    {CV_32S, kInt32},  {CV_32F, kFloat32}, {CV_64F, kFloat64}, {CV_16F, kFloat16},
#if CV_VERSION_MAJOR >= 5
    {CV_32U, kUInt32}, {CV_64U, kUInt64},  {CV_64S, kInt64},   {CV_16BF, kBFloat16},
    {CV_Bool, kBool},
#endif
};

constexpr bool EachOnce() {
  for (const DepthPair& a : kDepths) {
    int depths = 0, dtypes = 0;
    for (const DepthPair& b : kDepths) {
      depths += a.depth == b.depth ? 1 : 0;
      dtypes += a.dtype == b.dtype ? 1 : 0;
    }
    if (depths != 1 || dtypes != 1) return false;
  }
  return true;
}
static_assert(EachOnce());

constexpr std::optional<int> ToCvDepth(DType dtype) {
  for (const DepthPair& pair : kDepths) {
    if (pair.dtype == dtype) return pair.depth;
  }
  return std::nullopt;
}

constexpr std::optional<DType> FromCvDepth(int depth) {
  for (const DepthPair& pair : kDepths) {
    if (pair.depth == depth) return pair.dtype;
  }
  return std::nullopt;
}

}  // namespace internal_opencv
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_OPENCV_DEPTH_TABLE_H_
