// The functions of RuntimeApi for allocation, pools and fills, for vendors whose functions have the
// shape of CUDA's: MemoryFunctions<Vendor>::Fill(api).
//
// `Vendor` has the types (Address, Pool, ...), flags and symbols named below. What differs between
// vendors stays in their folders: pointer_info and the copies.

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_MEMORY_FUNCTIONS_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_MEMORY_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "dovetail/devices/gpu/vendor/device_functions.h"
#include "dovetail/devices/gpu/vendor/handles.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

template <typename Vendor>
struct MemoryFunctions {
  using Address = typename Vendor::Address;
  using Pool = typename Vendor::Pool;

  // ---- Device memory ----

  static Result MallocDevice(void* self, size_t nbytes, void** ptr) {
    Address address;
    const Result result = LibraryOf<Vendor>(self).Call(Vendor::kMalloc, &address, nbytes);
    if (result == kCodeSuccess) *ptr = ToPointer(address);
    return result;
  }

  static Result FreeDevice(void* self, void* ptr) {
    return LibraryOf<Vendor>(self).Call(Vendor::kFree, ToAddress<Vendor>(ptr));
  }

  static Result MemoryInfo(void* self, size_t* free_bytes, size_t* total_bytes) {
    return LibraryOf<Vendor>(self).Call(Vendor::kMemoryInfo, free_bytes, total_bytes);
  }

  // ---- Pools ----

  static Result MallocAsync(void* self, size_t nbytes, NativeStream stream, void** ptr) {
    typename Vendor::Library& library = LibraryOf<Vendor>(self);
    int device;
    Pool pool;
    Result result = library.CurrentDevice(&device);
    if (result == kCodeSuccess) result = library.GetPool(device, &pool);
    if (result != kCodeSuccess) return result;
    Address address;
    result = library.Call(Vendor::kPoolMalloc, &address, nbytes, pool, ToStream<Vendor>(stream));
    if (result == kCodeSuccess) *ptr = ToPointer(address);
    return result;
  }

  static Result FreeAsync(void* self, void* ptr, NativeStream stream) {
    return LibraryOf<Vendor>(self).Call(Vendor::kPoolFree, ToAddress<Vendor>(ptr),
                                        ToStream<Vendor>(stream));
  }

  static Result PoolTrim(void* self, int device, size_t keep) {
    typename Vendor::Library& library = LibraryOf<Vendor>(self);
    Pool pool;
    const Result result = library.GetPool(device, &pool);
    return result != kCodeSuccess ? result : library.Call(Vendor::kPoolTrim, pool, keep);
  }

  static Result PoolSetReleaseThreshold(void* self, int device, size_t nbytes) {
    typename Vendor::Library& library = LibraryOf<Vendor>(self);
    Pool pool;
    const Result result = library.GetPool(device, &pool);
    if (result != kCodeSuccess) return result;
    uint64_t threshold = nbytes;
    return library.Call(Vendor::kPoolSetAttribute, pool, Vendor::kPoolReleaseThreshold, &threshold);
  }

  static Result GetPoolStats(void* self, int device, PoolStats* stats) {
    typename Vendor::Library& library = LibraryOf<Vendor>(self);
    Pool pool;
    Result result = library.GetPool(device, &pool);
    if (result != kCodeSuccess) return result;
    uint64_t used = 0, reserved = 0;
    result = library.Call(Vendor::kPoolGetAttribute, pool, Vendor::kPoolUsedBytes, &used);
    if (result == kCodeSuccess) {
      result = library.Call(Vendor::kPoolGetAttribute, pool, Vendor::kPoolReservedBytes, &reserved);
    }
    if (result == kCodeSuccess) *stats = {used, reserved};
    return result;
  }

  static Result PoolAllowAccess(void* self, int device, int peer) {
    typename Vendor::Library& library = LibraryOf<Vendor>(self);
    Pool pool;
    const Result result = library.GetPool(device, &pool);
    if (result != kCodeSuccess) return result;
    typename Vendor::PoolAccess access = {};
    access.location.type = Vendor::kPoolOnDevice;
    access.location.id = peer;
    access.flags = Vendor::kPoolReadWrite;
    return library.Call(Vendor::kPoolSetAccess, pool, &access, size_t{1});
  }

  // Our pool's memory has the rights of the pool. Of other memory, only what the plain function
  // allocated follows peer_enable; the library says of it that the plain IPC handles can share it.
  static Result PeersReach(void* self, const void* ptr, int device, bool* reach) {
    typename Vendor::Library& library = LibraryOf<Vendor>(self);
    Pool pool = nullptr;
    Result result =
        Vendor::GetPointerAttribute(library, static_cast<void*>(&pool), Vendor::kPointerPool, ptr);
    if (result == kCodeSuccess && pool != nullptr) {
      Pool ours = nullptr;
      result = library.GetPool(device, &ours);
      if (result == kCodeSuccess) *reach = pool == ours;
      return result;
    }
    unsigned is_plain = 0;  // the library writes a boolean of one byte or of four
    result = Vendor::GetPointerAttribute(library, &is_plain, Vendor::kPointerIsPlain, ptr);
    if (result == kCodeSuccess) *reach = is_plain != 0;
    return result;
  }

  // ---- Host and managed memory ----

  static Result MallocHost(void* self, size_t nbytes, void** ptr) {
    return LibraryOf<Vendor>(self).Call(Vendor::kMallocHost, ptr, nbytes, Vendor::kHostFlags);
  }

  static Result FreeHost(void* self, void* ptr) {
    return LibraryOf<Vendor>(self).Call(Vendor::kFreeHost, ptr);
  }

  static Result MallocManaged(void* self, size_t nbytes, void** ptr) {
    Address address;
    const Result result = LibraryOf<Vendor>(self).Call(Vendor::kMallocManaged, &address, nbytes,
                                                       Vendor::kManagedFlags);
    if (result == kCodeSuccess) *ptr = ToPointer(address);
    return result;
  }

  // ---- Fills: the vendors have elements of 1, 2 and 4 bytes ----

  static Result FillAsync(void* self, void* dst, uint32_t pattern, size_t element_size,
                          size_t count, NativeStream stream) {
    typename Vendor::Library& library = LibraryOf<Vendor>(self);
    const Address address = ToAddress<Vendor>(dst);
    const typename Vendor::Stream handle = ToStream<Vendor>(stream);
    switch (element_size) {
      case 1:
        return library.Call(Vendor::kFill8, address, static_cast<uint8_t>(pattern), count, handle);
      case 2:
        return library.Call(Vendor::kFill16, address, static_cast<uint16_t>(pattern), count,
                            handle);
      case 4:
        return library.Call(Vendor::kFill32, address, pattern, count, handle);
      default:
        return kCodeInvalidValue;
    }
  }

  static void Fill(RuntimeApi& api) {
    api.malloc_device = MallocDevice;
    api.free_device = FreeDevice;
    api.memory_info = MemoryInfo;
    api.malloc_async = MallocAsync;
    api.free_async = FreeAsync;
    api.pool_trim = PoolTrim;
    api.pool_set_release_threshold = PoolSetReleaseThreshold;
    api.pool_stats = GetPoolStats;
    api.pool_allow_access = PoolAllowAccess;
    api.peers_reach = PeersReach;
    api.malloc_host = MallocHost;
    api.free_host = FreeHost;
    api.malloc_managed = MallocManaged;
    api.fill_async = FillAsync;
  }
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_MEMORY_FUNCTIONS_H_
