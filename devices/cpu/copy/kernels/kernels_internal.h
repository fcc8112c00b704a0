// Returns the kernels of each instruction set. Only kernels.cc uses it.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_KERNELS_INTERNAL_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_KERNELS_INTERNAL_H_

#include "dovetail/devices/cpu/copy/kernels/kernels.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// `level` must be above kNone and supported by this machine. Defined on x86-64 only.
const Kernels* X86Kernels(SimdLevel level);
// Defined on 64-bit ARM only.
const Kernels* NeonKernels();

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_KERNELS_INTERNAL_H_
