// A new tensor that a kernel returns: made by the package, in the memory of its allocators.

#ifndef DOVETAIL_PYTHON_KERNELS_MAKE_TENSOR_H_
#define DOVETAIL_PYTHON_KERNELS_MAKE_TENSOR_H_

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

#include "dovetail/python/kernels/host.h"
#include "dovetail/python/kernels/kernel_abi.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_kernels {

// What failed, until it is thrown.
struct HeldFailure : DovetailFailure {
  HeldFailure() : DovetailFailure{&Set} {}
  static void Set(DovetailFailure* self, int32_t kind, const char* message) {
    auto* const held = static_cast<HeldFailure*>(self);
    held->kind = kind;
    held->message = message;
  }
  [[noreturn]] void Throw() const {
    if (kind == DOVETAIL_MEMORY_ERROR) throw std::bad_alloc();
    if (kind == DOVETAIL_VALUE_ERROR) throw std::invalid_argument(message);
    throw std::runtime_error(message);
  }

  int32_t kind = DOVETAIL_RUNTIME_ERROR;
  std::string message;
};

// Row-major, not initialised. std::invalid_argument for a shape or a type that is none,
// std::bad_alloc for want of memory, std::runtime_error without the package.
inline DLManagedTensorVersioned* MakeTensor(DLDataType dtype, DLDevice device, int32_t ndim,
                                            const int64_t* shape) {
  if (host == nullptr) throw std::runtime_error("the dovetail package makes tensors: import it");
  HeldFailure failure;
  DLManagedTensorVersioned* made = nullptr;
  if (host->empty(dtype, device, ndim, shape, &made, &failure) != 0) failure.Throw();
  return made;
}

}  // namespace internal_kernels
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_KERNELS_MAKE_TENSOR_H_
