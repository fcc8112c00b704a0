// Makes a tensor's memory ready for the host, which reads or writes it element by element.
//
//   if (absl::Status s = ReadyHost(tensor); !s.ok()) return s;

#ifndef DOVETAIL_CORE_INTERNAL_HOST_READY_H_
#define DOVETAIL_CORE_INTERNAL_HOST_READY_H_

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_tensor {

// Memory of the CPU is always ready. For pinned and managed memory the host waits for the pending
// work, such as a kernel that writes it. Memory of devices that no backend serves counts as ready:
// Dovetail started no work on it. FailedPrecondition for memory that the host can't reach, with the
// remedy; otherwise the error of the wait. `tensor` is not null. Any thread.
absl::Status ReadyHost(const Tensor& tensor);

}  // namespace internal_tensor
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_HOST_READY_H_
