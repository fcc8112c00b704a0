// What the cast kernels need to know of two element types.
//
//   CastFormats f = CastFormatsOf(kFloat16, kInt32);
//
// Any thread; nothing fails.

#ifndef DOVETAIL_DEVICES_GPU_PLANNING_CAST_FORMATS_H_
#define DOVETAIL_DEVICES_GPU_PLANNING_CAST_FORMATS_H_

#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/devices/gpu/kernels/cast_formats.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// Whether the kernels cast elements of this type: a real number of whole bytes, of one lane.
bool IsCastable(DType type);

// Both types are castable, or `from` is complex and `to` is bool: `from` is then that of a part. A
// source of one byte, which is cast by a table, has no format.
CastFormats CastFormatsOf(DType from, DType to);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_PLANNING_CAST_FORMATS_H_
