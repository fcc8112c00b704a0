// Copies the elements of one strided view to another of another type on the host.
//
//   absl::Status s = CastStrided(dst, src);        // the rules of CopyCast in core/copy.h
//
// Elements without gaps are cast in place. Others go in tiles that fit the L1 cache: StridedCopy
// gathers a tile, the cast converts it, StridedCopy scatters the result. Large casts run on several
// threads, as copies do (large_work.h).

#ifndef DOVETAIL_DEVICES_CPU_CAST_CAST_COPY_H_
#define DOVETAIL_DEVICES_CPU_CAST_CAST_COPY_H_

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor_view.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Both views are host-accessible and have the same shape, with any strides, alignment and packing.
// They do not overlap. A stride of 0 in `src` repeats an element. Any thread. Errors:
//   InvalidArgument     there is no cast between the types
//   ResourceExhausted   there is no memory to unpack elements that share bytes
//   Cancelled           the cast was stopped before its end (core/internal/threads/interruption.h)
absl::Status CastStrided(const TensorView& dst, const TensorView& src);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_CAST_COPY_H_
