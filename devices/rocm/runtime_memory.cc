// Memory: allocation, pools, and whose memory a pointer is.

#include "dovetail/devices/rocm/runtime_parts.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

Result MallocDevice(void* self, size_t nbytes, void** ptr) {
  return Call(self, &HipSymbols::hipMalloc, ptr, nbytes);
}

Result FreeDevice(void* self, void* ptr) { return Call(self, &HipSymbols::hipFree, ptr); }

Result MallocAsync(void* self, size_t nbytes, NativeStream stream, void** ptr) {
  int device;
  hipMemPool_t pool;
  Result result = Call(self, &HipSymbols::hipGetDevice, &device);
  if (result == hipSuccess) result = HipOf(self).Pool(device, &pool);
  if (result != hipSuccess) return result;
  return Call(self, &HipSymbols::hipMallocFromPoolAsync, ptr, nbytes, pool, AsStream(stream));
}

Result FreeAsync(void* self, void* ptr, NativeStream stream) {
  return Call(self, &HipSymbols::hipFreeAsync, ptr, AsStream(stream));
}

Result PoolTrim(void* self, int device, size_t keep) {
  hipMemPool_t pool;
  const Result result = HipOf(self).Pool(device, &pool);
  return result != hipSuccess ? result : Call(self, &HipSymbols::hipMemPoolTrimTo, pool, keep);
}

Result PoolSetReleaseThreshold(void* self, int device, size_t nbytes) {
  hipMemPool_t pool;
  const Result result = HipOf(self).Pool(device, &pool);
  if (result != hipSuccess) return result;
  uint64_t threshold = nbytes;
  void* const value = &threshold;
  return Call(self, &HipSymbols::hipMemPoolSetAttribute, pool, hipMemPoolAttrReleaseThreshold,
              value);
}

Result GetPoolStats(void* self, int device, PoolStats* stats) {
  hipMemPool_t pool;
  Result result = HipOf(self).Pool(device, &pool);
  if (result != hipSuccess) return result;
  uint64_t used = 0, reserved = 0;
  void* const used_at = &used;
  void* const reserved_at = &reserved;
  result =
      Call(self, &HipSymbols::hipMemPoolGetAttribute, pool, hipMemPoolAttrUsedMemCurrent, used_at);
  if (result == hipSuccess) {
    result = Call(self, &HipSymbols::hipMemPoolGetAttribute, pool, hipMemPoolAttrReservedMemCurrent,
                  reserved_at);
  }
  if (result == hipSuccess) *stats = {used, reserved};
  return result;
}

Result PoolAllowAccess(void* self, int device, int peer) {
  hipMemPool_t pool;
  const Result result = HipOf(self).Pool(device, &pool);
  if (result != hipSuccess) return result;
  hipMemAccessDesc access = {};
  access.location.type = hipMemLocationTypeDevice;
  access.location.id = peer;
  access.flags = hipMemAccessFlagsProtReadWrite;
  const hipMemAccessDesc* const list = &access;
  return Call(self, &HipSymbols::hipMemPoolSetAccess, pool, list, size_t{1});
}

Result MallocHost(void* self, size_t nbytes, void** ptr) {
  return Call(self, &HipSymbols::hipHostMalloc, ptr, nbytes,
              unsigned{hipHostMallocPortable | hipHostMallocMapped});
}

Result FreeHost(void* self, void* ptr) { return Call(self, &HipSymbols::hipHostFree, ptr); }

Result MallocManaged(void* self, size_t nbytes, void** ptr) {
  return Call(self, &HipSymbols::hipMallocManaged, ptr, nbytes, unsigned{hipMemAttachGlobal});
}

Result MemoryInfo(void* self, size_t* free_bytes, size_t* total_bytes) {
  return Call(self, &HipSymbols::hipMemGetInfo, free_bytes, total_bytes);
}

// What hipPointerGetAttributes fills: the fields that all versions begin with, and room for more.
struct Attributes {
  int type;
  int device;
  void* device_pointer;
  void* host_pointer;
  int is_managed;
  unsigned flags;
  char room[64];
};

// HIP 5 numbers memory types otherwise than HIP 6 and 7, and has no number for memory that it does
// not know: it answers with an error then.
PointerKind KindOf(const Attributes& found, int major) {
  if (found.is_managed != 0) return PointerKind::kManaged;
  if (major <= 5) {
    switch (found.type) {
      case 0:
        return PointerKind::kPinnedHost;
      case 1:
        return PointerKind::kDevice;
      case 3:  // unified
      case 4:
        return PointerKind::kManaged;
      default:
        return PointerKind::kUnknown;
    }
  }
  switch (found.type) {
    case 1:
      return PointerKind::kPinnedHost;
    case 2:
      return PointerKind::kDevice;
    case 3:
    case 11:  // unified
      return PointerKind::kManaged;
    default:
      return PointerKind::kUnknown;
  }
}

Result GetPointerInfo(void* self, const void* ptr, PointerInfo* info) {
  Attributes found = {};
  Result result = Call(self, &HipSymbols::hipPointerGetAttributes,
                       reinterpret_cast<hipPointerAttribute_t*>(&found), ptr);
  *info = {PointerKind::kUnknown, 0, nullptr, 0};
  if (result == hipErrorInvalidValue) return hipSuccess;
  if (result != hipSuccess) return result;
  info->kind = KindOf(found, HipOf(self).major());
  info->device = found.device;
  if (info->kind == PointerKind::kUnknown) return hipSuccess;
  // Of host memory some versions do not know the range.
  hipDeviceptr_t base = nullptr;
  size_t nbytes = 0;
  if (Call(self, &HipSymbols::hipMemGetAddressRange, &base, &nbytes, AsAddress(ptr)) ==
      hipSuccess) {
    info->base = base;
    info->nbytes = nbytes;
  }
  return hipSuccess;
}

}  // namespace

void FillHipMemory(RuntimeApi& api) {
  api.malloc_device = MallocDevice;
  api.free_device = FreeDevice;
  api.malloc_async = MallocAsync;
  api.free_async = FreeAsync;
  api.pool_trim = PoolTrim;
  api.pool_set_release_threshold = PoolSetReleaseThreshold;
  api.pool_stats = GetPoolStats;
  api.pool_allow_access = PoolAllowAccess;
  api.malloc_host = MallocHost;
  api.free_host = FreeHost;
  api.malloc_managed = MallocManaged;
  api.memory_info = MemoryInfo;
  api.pointer_info = GetPointerInfo;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
