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
#include "dovetail/interop/pair_table.h"

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

static_assert(internal_interop::IsBijection(kDepths, &DepthPair::depth, &DepthPair::dtype));

constexpr std::optional<int> ToCvDepth(DType dtype) {
  return internal_interop::Find(kDepths, &DepthPair::dtype, dtype, &DepthPair::depth);
}

constexpr std::optional<DType> FromCvDepth(int depth) {
  return internal_interop::Find(kDepths, &DepthPair::depth, depth, &DepthPair::dtype);
}

}  // namespace internal_opencv
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_OPENCV_DEPTH_TABLE_H_
