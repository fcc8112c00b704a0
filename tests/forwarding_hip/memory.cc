// Memory, whose owners are remembered, and pools.

#include <optional>

#include "dovetail/devices/gpu/vendor/result_codes.h"
#include "dovetail/devices/gpu/vendor/testing/driver/backing.h"
#include "tests/forwarding_hip/owners.h"
#include "tests/forwarding_hip/real_devices.h"
#include "tests/forwarding_hip/shared_gpu.h"

namespace forwarding_hip {
namespace {

using dovetail::gpu::IpcHandle;
using dovetail::gpu::PointerInfo;
using dovetail::gpu::PointerKind;
using dovetail::gpu::PoolStats;

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

void FillAllocations(RuntimeApi& api) {
  // (Without captures, so that they are function pointers.)
  api.malloc_device = [](void* self, size_t nbytes, void** ptr) {
    return Added(Cuda().malloc_device(self, nbytes, ptr), ptr, nbytes);
  };
  api.malloc_managed = [](void* self, size_t nbytes, void** ptr) {
    return Added(Cuda().malloc_managed(self, nbytes, ptr), ptr, nbytes);
  };
  api.malloc_host = [](void* self, size_t nbytes, void** ptr) {
    return Added(Cuda().malloc_host(self, nbytes, ptr), ptr, nbytes);
  };
  api.malloc_async = [](void* self, size_t nbytes, NativeStream stream, void** ptr) {
    return Added(Cuda().malloc_async(self, nbytes, stream, ptr), ptr, nbytes, /*is_pooled=*/true);
  };
  // (Removed before it is freed: owners.h.)
  api.free_device = [](void* self, void* ptr) {
    Memory().Remove(ptr);
    return Cuda().free_device(self, ptr);
  };
  api.free_host = [](void* self, void* ptr) {
    Memory().Remove(ptr);
    return Cuda().free_host(self, ptr);
  };
  api.free_async = [](void* self, void* ptr, NativeStream stream) {
    Memory().Remove(ptr);
    return Cuda().free_async(self, ptr, stream);
  };
  api.ipc_open = IpcOpen;
  api.ipc_close = [](void* self, void* ptr) {
    Memory().Remove(ptr);
    return Cuda().ipc_close(self, ptr);
  };
  api.pointer_info = GetPointerInfo;
  api.copy_peer_async = CopyPeer;
}

// ---- Pools ----

Result PoolAllowAccess(void* self, int device, int peer) {
  if (!AreOneGpu(device, peer)) {
    return Cuda().pool_allow_access(self, RealDevice(device), RealDevice(peer));
  }
  return HavePeers() ? 0 : dovetail::gpu::kCodeInvalidDevice;
}

void FillPools(RuntimeApi& api) {
  api.pool_trim = [](void* self, int device, size_t keep) {
    return Cuda().pool_trim(self, RealDevice(device), keep);
  };
  api.pool_set_release_threshold = [](void* self, int device, size_t nbytes) {
    return Cuda().pool_set_release_threshold(self, RealDevice(device), nbytes);
  };
  api.pool_stats = [](void* self, int device, PoolStats* stats) {
    return Cuda().pool_stats(self, RealDevice(device), stats);
  };
  api.pool_allow_access = PoolAllowAccess;
}

}  // namespace

void FillMemory(RuntimeApi& api) {
  FillAllocations(api);
  FillPools(api);
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
