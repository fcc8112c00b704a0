// Copies the elements of one strided view to another on the host.
//
//   StridedCopy(dst, src);                     // plans and copies
//
//   cpu::CopyPlan plan;                        // the same, planned once for many copies
//   if (PlanStridedCopy(dst, src, &plan)) cpu::Execute(plan, dst.data, src.data);
//
// plan.h and execute.h say how copies are planned and executed. Large copies run on several threads
// (divided_plan.h, core/internal/threads/parallel.h). Never throws. Any thread.

#ifndef DOVETAIL_DEVICES_CPU_COPY_STRIDED_COPY_H_
#define DOVETAIL_DEVICES_CPU_COPY_STRIDED_COPY_H_

#include "dovetail/core/tensor_view.h"
#include "dovetail/devices/cpu/copy/plan.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Both views are host-accessible and have the same type and shape, with any strides, alignment and
// packing. They do not overlap. A stride of 0 in `src` repeats an element. False if the copy was
// stopped before its end (core/internal/threads/interruption.h).
bool StridedCopy(const TensorView& dst, const TensorView& src);

// Uses only types, shapes and strides, so the plan is good for any memory. False if elements share
// bytes: there are no plans for these.
bool PlanStridedCopy(const TensorView& dst, const TensorView& src, cpu::CopyPlan* plan);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_STRIDED_COPY_H_
