// Shares a tensor's memory with other processes on the same machine.
//
//   absl::StatusOr<Tensor> t = ipc::Empty({1024, 1024}, kFloat32);   // in shared memory
//   absl::StatusOr<ipc::Handle> handle = ipc::Share(*t);
//   Send(handle->ToBytes());                                          // receiver: ipc::Open
//   (open.h)
//
// Ownership: keep a tensor over the memory until the others have opened it; opening memory that is
// gone is an error. An opened tensor stays valid as long as it is kept, even if the owner drops its
// own: memory is used again only when no living process has it open. One exception comes from the
// drivers: GPU memory disappears for all when the owner process ends or dies.
//
// Ordering: a process that opens the handle sees all work that this thread's streams received
// before Share. The processes order later accesses themselves (by a barrier, a queue, an event).
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

struct ShareOptions {
  // Memory of the CPU: whoever opens the handle gets a mapping that can't be written, so that a
  // write there is a SIGSEGV (ReportWriteFaults in core/ipc/write_faults.h names the tensor).
  bool read_only = false;
};

// A handle to the tensor's own memory; nothing is copied. Views, strides, read-only access and
// packing are preserved. FailedPrecondition, with a remedy, for memory that no other process can
// open: ordinary CPU memory, memory of a GPU pool, pinned memory.
absl::StatusOr<Handle> Share(const Tensor& tensor, const ShareOptions& options = {});

// A new row-major tensor, uninitialised, in memory that Share accepts: on the CPU a
// part of this process's file in /dev/shm, on a GPU memory of the allocator "direct". Fails as
// Tensor::Empty does.
absl::StatusOr<Tensor> Empty(absl::Span<const int64_t> shape, DType dtype,
                             Device device = Device::Cpu());

// A row-major copy in such memory, on the tensor's device (on the CPU for pinned and managed
// memory). FailedPrecondition in a NoCopiesScope.
absl::StatusOr<Tensor> CopyToShared(const Tensor& tensor);

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_IPC_SHARE_H_
