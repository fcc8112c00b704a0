// Opening a tensor of another process of the machine.
//
//   absl::StatusOr<ipc::Handle> handle = ipc::Handle::FromBytes(Receive());
//   absl::StatusOr<Tensor> t = ipc::Open(*handle);       // over the same memory, nothing is copied
//
// The tensor has the shape, strides, type, packing and access of the one that was shared. Its
// memory is mapped as long as a tensor over it is kept; share.h tells whose it is. On a GPU later
// work on it starts after the owner's work so far. A handle may be opened any number of times, in
// any process, the owner's own included, where it gives the same memory without mapping it again.
// Any thread.

#ifndef DOVETAIL_INTEROP_IPC_OPEN_H_
#define DOVETAIL_INTEROP_IPC_OPEN_H_

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/ipc/handle.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

// FailedPrecondition, with the reason, where the memory is gone, its owner has ended, it is another
// user's, or on a GPU that this process does not see; InvalidArgument where the tensor would reach
// outside of it; NotFound where no backend serves its device.
absl::StatusOr<Tensor> Open(const Handle& handle);

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_IPC_OPEN_H_
