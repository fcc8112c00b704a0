// A kernel as XLA calls it, within programs that JAX compiled.

#ifndef DOVETAIL_PYTHON_KERNELS_LOADER_XLA_KERNEL_H_
#define DOVETAIL_PYTHON_KERNELS_LOADER_XLA_KERNEL_H_

#include <cstdint>

#include "dovetail/python/kernels/kernel_abi.h"

namespace dovetail::python {

// The name of the attribute that says how many operands each parameter has, for calls in which that
// is not one for each tensor and none for each number. An array of int64: -1 stands for None.
// (Sorted before the names of all parameters, which it can't be one of.)
inline constexpr char kOperandsAttribute[] = "@operands";

// DovetailKernelHost's xla_kernel: an XLA_FFI_Handler. The operands are the arguments in the order
// of the parameters, but for Outs; numbers, lists of numbers and texts that JAX does not trace are
// attributes of the parameter's name. The results are what is written, in the order of the
// parameters. An InOut has both, in one memory. Without the GIL, on any thread; throws nothing.
void* RunXlaKernel(const DovetailKernel* kernel, void* call_frame, int32_t device_type);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_KERNELS_LOADER_XLA_KERNEL_H_
