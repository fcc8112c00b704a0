#include "dovetail/devices/gpu/memory/user_allocator.h"

#include <cstdint>
#include <new>

#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/exceptions.h"
#include "dovetail/devices/gpu/memory/allocator_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

absl::StatusOr<void*> UserAllocator::Obtain(size_t nbytes, const Stream& stream) {
  Runtime& runtime = context().runtime;
  if (!is_host_accessible_ && StreamDevice(stream.device()).index != device()) {
    return absl::InvalidArgumentError(
        absl::StrCat("Memory on ", runtime.DeviceAt(device()).ToString(),
                     " can't be allocated in the order of ", stream.ToString(), "."));
  }
  const RelaxedCaptureMode relaxed(runtime);
  DeviceGuard guard(runtime, device());
  if (!guard.ok()) return guard.status();
  absl::StatusOr<void*> data = source_.Allocate(nbytes, stream);
  if (!data.ok()) return data;
  if (is_host_accessible_) {
    // The host would fault on other memory.
    const RuntimeApi& api = runtime.api();
    PointerInfo info{};
    if (api.pointer_info(api.self, *data, &info) == 0 && info.kind == PointerKind::kDevice) {
      source_.Deallocate(*data, nbytes, stream);
      return absl::InvalidArgumentError(absl::StrCat(
          "The program's allocator returned memory of ", runtime.DeviceAt(info.device).ToString(),
          " that the host can't access, for pinned or managed memory."));
    }
  }
  Block block;
  if (stream.is_lasting()) block.stream = stream;
  DOVETAIL_TRY {
    absl::MutexLock lock(&mutex_);
    blocks_[*data] = std::move(block);
    AddReserved(static_cast<int64_t>(nbytes));
    return data;
  }
  DOVETAIL_CATCH(const std::bad_alloc&) {}
  source_.Deallocate(*data, nbytes, stream);
  return absl::ResourceExhaustedError("there is no memory to record an allocation");
}

bool UserAllocator::MayReclaimInOrder(void* data, const Stream& stream) noexcept {
  if (is_host_accessible_) return false;
  {
    const RelaxedCaptureMode relaxed(context().runtime);
    DeviceGuard guard(context().runtime, device());
    if (!guard.ok() || MayBeCaptured(stream)) return false;
  }
  absl::MutexLock lock(&mutex_);
  const auto found = blocks_.find(data);
  if (found == blocks_.end() || found->second.stream != stream) return false;
  found->second.in_order = true;
  return true;
}

void UserAllocator::Reclaim(void* data, size_t nbytes) noexcept {
  Block block;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = blocks_.find(data);
    if (found != blocks_.end()) {
      block = std::move(found->second);
      blocks_.erase(found);
    }
  }
  Runtime& runtime = context().runtime;
  const RelaxedCaptureMode relaxed(runtime);
  const DeviceGuard guard(runtime, device());
  // On a stream in a capture, a stream-ordered free would be one of the graph's.
  const bool usable = block.stream && (block.in_order || !MayBeCaptured(*block.stream));
  source_.Deallocate(data, nbytes,
                     usable ? *block.stream : Stream::Default(runtime.DeviceAt(device())));
  AddReserved(-static_cast<int64_t>(nbytes));
}

absl::StatusOr<std::unique_ptr<Allocator>> MakeUserAllocator(GpuContext& context,
                                                             AllocatorTable& table, Device device,
                                                             MemoryKind kind,
                                                             MemorySource& source) {
  // Checks that the device has such memory.
  if (absl::Status s = table.Get(device, kind).status(); !s.ok()) return s;
  const int index = StreamDevice(device).index;
  const MemoryKind in_effect = table.KindOf(device, kind);
  const bool is_host_accessible =
      in_effect == MemoryKind::kPinnedHost || in_effect == MemoryKind::kManaged;
  const std::string_view what = in_effect == MemoryKind::kPinnedHost ? "pinned host memory of "
                                : in_effect == MemoryKind::kManaged  ? "managed memory of "
                                                                     : "";
  return std::make_unique<UserAllocator>(
      context, table, index,
      absl::StrCat(what, context.runtime.DeviceAt(index).ToString(), ", the program's allocator"),
      is_host_accessible, source);
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
