// Memory that the host shares with a GPU (pinned, managed), before somebody reads it on the host.
//
//   if (!WaitUntilReady(tensor)) return nullptr;
//
// Needs the GIL, and lets it go while it waits.

#ifndef DOVETAIL_PYTHON_SRC_HOST_READY_H_
#define DOVETAIL_PYTHON_SRC_HOST_READY_H_

#include "dovetail/core/registry.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/src/error.h"
#include "dovetail/python/src/without_gil.h"

namespace dovetail::python {

// Waits for the work that is pending on the tensor's memory. False with an error set. Nothing for
// memory of the CPU, and for that of devices without a backend, which nothing here gave work on.
inline bool WaitUntilReady(const Tensor& tensor) {
  const DeviceType type = tensor.device().type;
  if (type == DeviceType::kCpu || Registry::Global().Find(type) == nullptr) return true;
  const absl::Status status = WithoutGilIf(true, [&] { return tensor.storage()->Synchronize(); });
  return status.ok() || (RaiseExchange(status), false);
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_HOST_READY_H_
