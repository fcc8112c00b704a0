// The parts of the CPU backend that a program has only if it links them:
//
//   //devices/cpu:copies     Copy and CastCopy; @dovetail//:copy brings them
//   //devices/cpu:sharing    memory that other processes open; @dovetail//:ipc brings it
//
// They are most of the backend, and a program that only exchanges tensors needs none of them. Each
// function here has a weak definition that refuses (parts.cc); its part's definition replaces that
// one when a program is linked. So there is nothing to register, and no static initialiser. They
// are hidden: a copy of Dovetail without a part does not take it away from another one in the
// process.

#ifndef DOVETAIL_DEVICES_CPU_PARTS_H_
#define DOVETAIL_DEVICES_CPU_PARTS_H_

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/allocator.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/tensor_view.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {

// As in DeviceBackend; both views are host-accessible. FailedPrecondition without the part.
DOVETAIL_NOT_SHARED absl::Status Copy(const TensorView& dst, const TensorView& src);
DOVETAIL_NOT_SHARED absl::Status CastCopy(const TensorView& dst, const TensorView& src);

// The allocator for MemoryKind::kShared, and what DeviceBackend says of the memory.
// FailedPrecondition without the part.
DOVETAIL_NOT_SHARED absl::StatusOr<std::unique_ptr<Allocator>> MakeSharedAllocator();
DOVETAIL_NOT_SHARED absl::StatusOr<MemoryShare> ShareMemory(void* data, size_t nbytes);
DOVETAIL_NOT_SHARED absl::StatusOr<OpenedMemory> OpenMemory(std::string_view name);

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_PARTS_H_
