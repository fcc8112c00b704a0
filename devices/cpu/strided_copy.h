// Copies the elements of one strided view to another on the host.

#ifndef DOVETAIL_DEVICES_CPU_STRIDED_COPY_H_
#define DOVETAIL_DEVICES_CPU_STRIDED_COPY_H_

#include "dovetail/core/tensor_view.h"

namespace dovetail::inline DOVETAIL_ABI {

// Both host-accessible, of one type and shape; any strides, alignment and packing; no overlap. A
// stride of 0 in `src` repeats an element. Never throws. Threads: any.
void StridedCopy(const TensorView& dst, const TensorView& src);

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_DEVICES_CPU_STRIDED_COPY_H_
