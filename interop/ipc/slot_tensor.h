// Tensors over slots of shared memory (core/ipc/segment.h).

#ifndef DOVETAIL_INTEROP_IPC_SLOT_TENSOR_H_
#define DOVETAIL_INTEROP_IPC_SLOT_TENSOR_H_

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/ipc/slot_pool.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

// A new tensor on the CPU, which holds a slot of the pool; uninitialised. Fails as
// SlotPool::Allocate does.
absl::StatusOr<Tensor> NewInPool(SlotPool& pool, Layout layout, DType dtype, Packing packing,
                                 const AllocateOptions& options);

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_IPC_SLOT_TENSOR_H_
