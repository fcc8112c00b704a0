// Copies the elements of one strided view to another on the host.
//
//   StridedCopy(dst, src);                     // plans and copies
//
//   cpu::CopyPlan plan;                        // the same, planned once for many copies
//   if (PlanStridedCopy(dst, src, &plan)) cpu::Execute(plan, dst.data, src.data);
//
// How copies are planned and done: copy/plan.h, copy/execute.h; large ones by several threads
// (copy/parts.h, core/parallel.h). Never throws. Threads: any.

#ifndef DOVETAIL_DEVICES_CPU_COPY_STRIDED_COPY_H_
#define DOVETAIL_DEVICES_CPU_COPY_STRIDED_COPY_H_

#include "dovetail/core/tensor_view.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Both host-accessible, of one type and shape; any strides, alignment and packing; no overlap. A
// stride of 0 in `src` repeats an element. False when the copy was stopped before its end
// (core/interruption.h).
bool StridedCopy(const TensorView& dst, const TensorView& src);

// Looks at types, shapes and strides alone: the plan is good for any memory. False where elements
// share bytes, which no plan says.
bool PlanStridedCopy(const TensorView& dst, const TensorView& src, cpu::CopyPlan* plan);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_STRIDED_COPY_H_
