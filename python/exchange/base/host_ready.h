// Makes a tensor's memory ready for the host, which reads or writes it element by element.
//
//   if (!ReadyHost(tensor)) return nullptr;                   // to read and write in place
//
//   Tensor copy;
//   const Tensor* const ready = ReadyHost(tensor, &copy);     // to read, wherever it is
//   if (ready == nullptr) return nullptr;
//
// core/internal/host_ready.h says which memory is ready. Needs the GIL, which is released during
// waits and copies.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_HOST_READY_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_HOST_READY_H_

#include "absl/base/attributes.h"
#include "dovetail/core/device.h"
#include "dovetail/core/tensor.h"

namespace dovetail::python {

namespace internal_host_ready {
// For memory of other devices than the CPU.
bool Await(const Tensor& tensor);
const Tensor* AwaitOrCopy(const Tensor& tensor, Tensor* copy);
}  // namespace internal_host_ready

// False with an error set: ExchangeError for memory that the host can't reach, or the error of the
// wait.
inline bool ReadyHost(const Tensor& tensor) {
  return tensor.device().type == DeviceType::kCpu || internal_host_ready::Await(tensor);
}

// `tensor` itself or, for memory that the host can't reach, a copy on the CPU, which `*copy` holds.
// nullptr with an error set: ExchangeError for memory that no backend copies, or the error of the
// wait or the copy.
inline const Tensor* ReadyHost(const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND,
                               Tensor* copy ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  if (tensor.device().type == DeviceType::kCpu) return &tensor;
  return internal_host_ready::AwaitOrCopy(tensor, copy);
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_HOST_READY_H_
