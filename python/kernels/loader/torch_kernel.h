// Kernels as PyTorch's operators.
//
//   RegisterTorchOperator(loaded, "mylib", {"scale_add(Tensor x, …) -> ()", …});
//
// PyTorch's dispatcher calls the library's function, which calls RunTorchKernel(). An operator
// raises RuntimeError, whatever the kernel's error is: PyTorch's C interface has no other.

#ifndef DOVETAIL_PYTHON_KERNELS_LOADER_TORCH_KERNEL_H_
#define DOVETAIL_PYTHON_KERNELS_LOADER_TORCH_KERNEL_H_

#include <Python.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "dovetail/python/kernels/kernel_abi.h"
#include "dovetail/python/kernels/loader/loaded_kernel.h"

namespace dovetail::python {

// DovetailKernelHost.torch_kernel. The stack has the arguments, without the Streams. With results
// expected, it has no Outs, which are made, and InOuts are copied. Throws std::runtime_error.
// Without the GIL, or with it.
void RunTorchKernel(const DovetailKernel* kernel, uint64_t* stack, uint64_t num_arguments,
                    uint64_t num_results);

// Defines an operator for each schema, in the namespace, with the kernel on the CPU and on CUDA.
// FailedPrecondition for a PyTorch without the functions for it or that refuses a schema.
absl::Status RegisterTorchOperator(const LoadedKernel& loaded, const std::string& name_space,
                                   const std::vector<std::string>& schemas);

// The last error of an operator on this thread, as an exception of its own class: the class that
// PyTorch does not keep. RestoreTorchFailure() sets it in the place of the error that is set, if
// that has its text. Needs the GIL.
void ForgetTorchFailure();
void RestoreTorchFailure();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_KERNELS_LOADER_TORCH_KERNEL_H_
