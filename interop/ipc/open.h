// Opens tensors that another process on the same machine has shared.
//
//   absl::StatusOr<ipc::Handle> handle = ipc::Handle::FromBytes(Receive());
//   absl::StatusOr<Tensor> t = ipc::Open(*handle);       // the same memory: nothing is copied
//
// The tensor has the shape, strides, type, packing and access of the shared one. Its memory stays
// mapped as long as a tensor over it exists; share.h says who owns it. On a GPU, later work on it
// starts after the owner's work up to Share. A handle can be opened any number of times and in any
// process. In the owner's process it gives the same memory without a second mapping. Any thread.

#ifndef DOVETAIL_INTEROP_IPC_OPEN_H_
#define DOVETAIL_INTEROP_IPC_OPEN_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/ipc/handle.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

// FailedPrecondition, with the reason, if the memory is gone, its owner has ended, it belongs to
// another user, or it is on a GPU that this process does not see. InvalidArgument if the tensor
// would reach outside the memory. NotFound if no backend serves the device.
absl::StatusOr<Tensor> Open(const Handle& handle);
// The same for a handle's bytes, or for a message of Pool::Share (pool.h). InvalidArgument also for
// bytes that are neither.
absl::StatusOr<Tensor> Open(std::string_view message);

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_IPC_OPEN_H_
