// Host access to a tensor's memory: whether there is any, and when the memory is ready.
//
//   if (!CheckHostAccess(tensor) || !WaitUntilReady(tensor)) return nullptr;
//
// Needs the GIL, and lets it go while it waits.

#ifndef DOVETAIL_PYTHON_EXCHANGE_LIFETIME_HOST_READY_H_
#define DOVETAIL_PYTHON_EXCHANGE_LIFETIME_HOST_READY_H_

#include "absl/strings/str_cat.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/lifetime/without_gil.h"
#include "dovetail/python/exchange/support/error.h"

namespace dovetail::python {

// Whether the host can reach the memory. False with an ExchangeError set.
inline bool CheckHostAccess(const Tensor& tensor) {
  if (IsHostAccessible(tensor.device().type)) return true;
  RaiseExchange(absl::StrCat("The host can't reach memory on ", tensor.device().ToString(),
                             "; copy it first, as in dovetail.from_dlpack(t, device=\"cpu\")."));
  return false;
}

// Waits for the work that is pending on the tensor's memory, such as pinned or managed memory that
// a GPU writes. False with an error set. Returns at once for memory of the CPU and of devices
// without a backend, on which Dovetail started no work.
inline bool WaitUntilReady(const Tensor& tensor) {
  const DeviceType type = tensor.device().type;
  if (type == DeviceType::kCpu || Registry::Global().Find(type) == nullptr) return true;
  const absl::Status status = WithoutGilIf(true, [&] { return tensor.storage()->Synchronize(); });
  return status.ok() || (RaiseExchange(status), false);
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_LIFETIME_HOST_READY_H_
