// Giving a tensor's memory to other processes of the machine.
//
//   absl::StatusOr<Tensor> t = ipc::Empty({1024, 1024}, kFloat32);   // in shared memory
//   absl::StatusOr<ipc::Handle> handle = ipc::Share(*t);
//   Send(handle->ToBytes());                                          // ipc::Open takes it
//   (open.h)
//
// Ownership: the process that made the memory owns it. Keep a tensor over it until the others have
// opened it: opening what is gone is an error. What they have opened stays good as long as they
// keep it, when the owner has let go, too: the CPU's memory belongs to all who map it, and memory
// of a GPU goes back to the allocator only when no living process has it open. Only the owner's end
// (or death) takes a GPU's memory from the others, as the drivers have it.
//
// Order: who opens a handle sees the work that was given to this thread's streams before Share.
// What the processes do afterwards is theirs to order (by a barrier, a queue, an event).
//
// Any thread.

#ifndef DOVETAIL_INTEROP_IPC_SHARE_H_
#define DOVETAIL_INTEROP_IPC_SHARE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/ipc/handle.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

// A handle of the tensor's own memory: nothing is copied. FailedPrecondition, with the remedy, for
// memory that no other process can open: ordinary memory of the CPU, a GPU's pool, pinned memory.
// Views, strides, read-only access and packing are kept.
absl::StatusOr<Handle> Share(const Tensor& tensor);

// New memory of the kind that Share takes, row-major, its elements not set: on the CPU a file in
// /dev/shm, on a GPU the allocator "direct". Errors as Tensor::Empty's.
absl::StatusOr<Tensor> Empty(absl::Span<const int64_t> shape, DType dtype,
                             Device device = Device::Cpu());

// A row-major copy there, on the tensor's device (of pinned and managed memory: on the CPU).
absl::StatusOr<Tensor> CopyToShared(const Tensor& tensor);

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_IPC_SHARE_H_
