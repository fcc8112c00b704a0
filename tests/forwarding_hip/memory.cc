// Memory, whose owners are remembered, and pools.

#include <optional>

#include "dovetail/devices/gpu/vendor/result_codes.h"
#include "dovetail/devices/gpu/vendor/testing/driver/backing.h"
#include "tests/forwarding_hip/owners.h"
#include "tests/forwarding_hip/shared_gpu.h"

namespace forwarding_hip {
namespace {

using dovetail::gpu::IpcHandle;
using dovetail::gpu::PointerInfo;
using dovetail::gpu::PointerKind;

Owners& Memory() {
  static Owners* const owners = new Owners;
  return *owners;
}

// Remembers the device that memory is of.
Result Added(Result result, void* const* ptr, size_t nbytes, bool is_pooled = false) {
  if (result == 0) Memory().Add(*ptr, nbytes, {CurrentDevice(), is_pooled});
  return result;
}

Result GetPointerInfo(void* self, const void* ptr, PointerInfo* info) {
  const Result result = Cuda().pointer_info(self, ptr, info);
  if (result == 0) info->device = Memory().Find(ptr).value_or(Owner{info->device}).device;
  return result;
}

Result IpcOpen(void* self, const IpcHandle* handle, void** ptr) {
  const Result result = Cuda().ipc_open(self, handle, ptr);
  PointerInfo info;
  if (result == 0 && Cuda().pointer_info(self, *ptr, &info) == 0) Added(0, ptr, info.nbytes);
  return result;
}

Result CopyPeer(void* self, void* dst, int to, const void* src, int from, size_t nbytes,
                NativeStream stream) {
  if (!MayBeOf(Memory().Find(dst), to) || !MayBeOf(Memory().Find(src), from)) {
    return dovetail::gpu::kCodeInvalidValue;
  }
  if (AreOneGpu(to, from)) return Cuda().copy_async(self, dst, src, nbytes, stream);
  return Cuda().copy_peer_async(self, dst, RealDevice(to), src, RealDevice(from), nbytes, stream);
}

template <auto kFunction>
Result Allocate(void* self, size_t nbytes, void** ptr) {
  return Added((Cuda().*kFunction)(self, nbytes, ptr), ptr, nbytes);
}
Result AllocateFromPool(void* self, size_t nbytes, NativeStream stream, void** ptr) {
  const Result result = Cuda().malloc_async(self, nbytes, stream, ptr);
  return Added(result, ptr, nbytes, /*is_pooled=*/true);
}

// (Another thread may get the address as soon as it is free.)
template <auto kFunction, typename... Args>
Result Free(void* self, void* ptr, Args... args) {
  Memory().Remove(ptr);
  return (Cuda().*kFunction)(self, ptr, args...);
}

// ---- Pools ----

Result PoolAllowAccess(void* self, int device, int peer) {
  if (!AreOneGpu(device, peer)) {
    return Cuda().pool_allow_access(self, RealDevice(device), RealDevice(peer));
  }
  return HavePeers() ? 0 : dovetail::gpu::kCodeInvalidDevice;
}

template <auto kFunction, typename... Args>
Result OnRealDevice(void* self, int device, Args... args) {
  return (Cuda().*kFunction)(self, RealDevice(device), args...);
}

}  // namespace

void FillMemory(RuntimeApi& api) {
  api.malloc_device = Allocate<&RuntimeApi::malloc_device>;
  api.malloc_managed = Allocate<&RuntimeApi::malloc_managed>;
  api.malloc_host = Allocate<&RuntimeApi::malloc_host>;
  api.malloc_async = AllocateFromPool;
  api.free_device = Free<&RuntimeApi::free_device>;
  api.free_host = Free<&RuntimeApi::free_host>;
  api.free_async = Free<&RuntimeApi::free_async>;
  api.ipc_open = IpcOpen;
  api.ipc_close = Free<&RuntimeApi::ipc_close>;
  api.pointer_info = GetPointerInfo;
  api.copy_peer_async = CopyPeer;
  api.pool_trim = OnRealDevice<&RuntimeApi::pool_trim>;
  api.pool_set_release_threshold = OnRealDevice<&RuntimeApi::pool_set_release_threshold>;
  api.pool_stats = OnRealDevice<&RuntimeApi::pool_stats>;
  api.pool_allow_access = PoolAllowAccess;
}

int PoolOf(const void* ptr) {
  const std::optional<Owner> owner = Memory().Find(ptr);
  if (owner && owner->is_pooled) return owner->device;
  PointerInfo info;
  bool reach = false;
  const bool is_apart = Cuda().pointer_info(Cuda().self, ptr, &info) == 0 &&
                        info.kind == PointerKind::kDevice &&
                        Cuda().peers_reach(Cuda().self, ptr, info.device, &reach) == 0 && !reach;
  return is_apart ? vendor_driver::kOtherPool : vendor_driver::kNoPool;
}

}  // namespace forwarding_hip
