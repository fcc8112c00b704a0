#include "dovetail/devices/cpu/parts.h"

#include "absl/status/status.h"

#define DOVETAIL_UNLESS_LINKED [[gnu::weak]]

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

absl::Status NoCopies() {
  return absl::FailedPreconditionError(
      "This program was built without copies on the CPU: link @dovetail//:copy to it (by CMake "
      "dovetail::copy, by pkg-config dovetail-copy).");
}

absl::Status NoSharing() {
  return absl::FailedPreconditionError(
      "This program was built without the CPU's shared memory: link @dovetail//:ipc to it (by "
      "CMake dovetail::ipc, by pkg-config dovetail-ipc).");
}

}  // namespace

DOVETAIL_UNLESS_LINKED absl::Status Copy(const TensorView&, const TensorView&) {
  return NoCopies();
}
DOVETAIL_UNLESS_LINKED absl::Status CastCopy(const TensorView&, const TensorView&) {
  return NoCopies();
}
DOVETAIL_UNLESS_LINKED absl::StatusOr<std::unique_ptr<Allocator>> MakeSharedAllocator() {
  return NoSharing();
}
DOVETAIL_UNLESS_LINKED absl::StatusOr<MemoryShare> ShareMemory(void*, size_t) {
  return NoSharing();
}
DOVETAIL_UNLESS_LINKED absl::StatusOr<OpenedMemory> OpenMemory(std::string_view) {
  return NoSharing();
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
