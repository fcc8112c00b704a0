// Copies the elements of one strided view to another of another type on the host.
//
//   absl::Status s = CastStrided(dst, src);        // what core/copy.h says of CopyCast
//
// What has no gaps is cast where it lies. Anything else goes in tiles that fit the first-level
// cache: StridedCopy gathers a tile, the cast works on it, StridedCopy scatters the result. Large
// casts are divided among threads, as copies are (large_work.h).

#ifndef DOVETAIL_DEVICES_CPU_CAST_CAST_COPY_H_
#define DOVETAIL_DEVICES_CPU_CAST_CAST_COPY_H_

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor_view.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Both host-accessible, of one shape; any strides, alignment and packing; no overlap. A stride of 0
// in `src` repeats an element. InvalidArgument where there is no cast between the types;
// ResourceExhausted when elements that share bytes can't be set aside; Cancelled when it was
// stopped before its end (core/interruption.h). Threads: any.
absl::Status CastStrided(const TensorView& dst, const TensorView& src);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_CAST_CAST_COPY_H_
