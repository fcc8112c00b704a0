// Where each kind of processor keeps its kernels. For kernels.cc alone.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_KERNELS_INTERNAL_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_KERNELS_INTERNAL_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// For a level that the machine has and that is above kNone. Defined on x86-64 only.
const Kernels* X86Kernels(SimdLevel level);
// Defined on 64-bit ARM only.
const Kernels* NeonKernels();

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_KERNELS_INTERNAL_H_
