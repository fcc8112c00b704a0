// A new tensor that a kernel returns: made by the package, in the memory of its allocators.

#ifndef DOVETAIL_PYTHON_KERNELS_MAKE_TENSOR_H_
#define DOVETAIL_PYTHON_KERNELS_MAKE_TENSOR_H_

#include <cstdint>
#include <stdexcept>

#include "dovetail/python/kernels/failure.h"
#include "dovetail/python/kernels/host.h"
#include "dovetail/python/kernels/kernel_abi.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_kernels {

// Row-major, not initialised. std::invalid_argument for a shape or a type that is none,
// std::bad_alloc for want of memory, std::runtime_error without the package.
inline DLManagedTensorVersioned* MakeTensor(DLDataType dtype, DLDevice device, int32_t ndim,
                                            const int64_t* shape) {
  if (host == nullptr) {
    throw std::runtime_error(
        "dovetail::Empty makes no tensor without the package: load this file by "
        "dovetail.load_kernels(), or return OwnedTensor::Wrap(vector, sizes)");
  }
  KernelFailure failure;
  DLManagedTensorVersioned* made = nullptr;
  if (host->empty(dtype, device, ndim, shape, &made, &failure) != 0) failure.Throw();
  return made;
}

}  // namespace internal_kernels
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_KERNELS_MAKE_TENSOR_H_
