// Allocation, pools, pointers, and memory shared with other processes.

#include <cstring>
#include <optional>

#include "tests/forwarding_hip/forward.h"
#include "tests/forwarding_hip/owners.h"

using dovetail::gpu::IpcHandle;
using dovetail::gpu::PointerInfo;
using dovetail::gpu::PointerKind;
using dovetail::gpu::PoolStats;
using forwarding_hip::AreOneGpu;
using forwarding_hip::CurrentDevice;
using forwarding_hip::Forward;
using forwarding_hip::HavePeers;
using forwarding_hip::Keep;
using forwarding_hip::Memory;
using forwarding_hip::Owner;
using forwarding_hip::RealDevice;
using forwarding_hip::RuntimeApi;
using forwarding_hip::StreamOf;

namespace {

// A pool's handle is a number that names the device, whose CUDA pool is used.
hipMemPool_t PoolOf(int device) { return reinterpret_cast<hipMemPool_t>(intptr_t{device} + 1); }
int DeviceOf(hipMemPool_t pool) { return static_cast<int>(reinterpret_cast<intptr_t>(pool) - 1); }

// Allocates, and remembers the device that memory is of.
template <typename Function, typename... Args>
hipError_t Allocate(Function RuntimeApi::* function, void** ptr, size_t nbytes, Args... args) {
  const hipError_t error = Forward(function, nbytes, args..., ptr);
  const bool is_pooled = sizeof...(args) != 0;
  if (error == hipSuccess) Memory().Add(*ptr, nbytes, {CurrentDevice(), is_pooled});
  return error;
}
template <typename Function, typename... Args>
hipError_t Free(Function RuntimeApi::* function, void* ptr, Args... args) {
  Memory().Remove(ptr);
  return Forward(function, ptr, args...);
}

// HIP 6's fields, by the names of the header that this is compiled with.
struct Attributes {
  int type;
  int device;
  void* device_pointer;
  void* host_pointer;
  int is_managed;
  unsigned flags;
};
static_assert(sizeof(Attributes) <= sizeof(hipPointerAttribute_t));

template <typename Vendor>
IpcHandle HandleOf(const Vendor& vendor) {
  IpcHandle handle;
  static_assert(sizeof(handle) == sizeof(vendor));
  std::memcpy(&handle, &vendor, sizeof(handle));
  return handle;
}

}  // namespace

extern "C" {

hipError_t hipMalloc(void** ptr, size_t nbytes) {
  return Allocate(&RuntimeApi::malloc_device, ptr, nbytes);
}
hipError_t hipFree(void* ptr) { return Free(&RuntimeApi::free_device, ptr); }
hipError_t hipMallocManaged(void** ptr, size_t nbytes, unsigned) {
  return Allocate(&RuntimeApi::malloc_managed, ptr, nbytes);
}
hipError_t hipHostMalloc(void** ptr, size_t nbytes, unsigned) {
  return Allocate(&RuntimeApi::malloc_host, ptr, nbytes);
}
hipError_t hipHostFree(void* ptr) { return Free(&RuntimeApi::free_host, ptr); }
hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return Forward(&RuntimeApi::memory_info, free_bytes, total_bytes);
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* nbytes, hipDeviceptr_t ptr) {
  PointerInfo info;
  const hipError_t error = Forward(&RuntimeApi::pointer_info, static_cast<const void*>(ptr), &info);
  if (error != hipSuccess) return error;
  if (info.kind == PointerKind::kUnknown || info.base == nullptr) {
    return Keep(hipErrorInvalidValue);
  }
  *base = info.base;
  *nbytes = info.nbytes;
  return hipSuccess;
}
hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* ptr) {
  PointerInfo info;
  const hipError_t error = Forward(&RuntimeApi::pointer_info, ptr, &info);
  if (error != hipSuccess) return error;
  void* const address = const_cast<void*>(ptr);
  const bool managed = info.kind == PointerKind::kManaged;
  const int type = info.kind == PointerKind::kPinnedHost ? 1
                   : info.kind == PointerKind::kDevice   ? 2
                   : managed                             ? 3
                                                         : 0;
  const int device = Memory().Find(ptr).value_or(Owner{info.device}).device;
  const Attributes found = {type, device, address, address, managed, 0};
  std::memcpy(attributes, &found, sizeof(found));
  return hipSuccess;
}

// HIP itself does not support these two attributes yet. Here they let kernels access the memory of
// another device, as on CUDA.
hipError_t hipPointerGetAttribute(void* value, hipPointer_attribute attribute, hipDeviceptr_t ptr) {
  const std::optional<Owner> owner = Memory().Find(ptr);
  switch (static_cast<int>(attribute)) {
    case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      *static_cast<hipMemPool_t*>(value) =
          owner && owner->is_pooled ? PoolOf(owner->device) : nullptr;
      return hipSuccess;
    case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE: {
      PointerInfo info;
      bool reach = false;
      hipError_t error = Forward(&RuntimeApi::pointer_info, static_cast<const void*>(ptr), &info);
      if (error == hipSuccess) {
        error =
            Forward(&RuntimeApi::peers_reach, static_cast<const void*>(ptr), info.device, &reach);
      }
      *static_cast<bool*>(value) = reach;
      return error;
    }
    default:
      return Keep(hipErrorInvalidValue);
  }
}

hipError_t hipMemPoolCreate(hipMemPool_t* pool, const hipMemPoolProps* properties) {
  *pool = PoolOf(properties->location.id);
  return hipSuccess;
}
hipError_t hipMallocFromPoolAsync(void** ptr, size_t nbytes, hipMemPool_t pool,
                                  hipStream_t stream) {
  if (DeviceOf(pool) != CurrentDevice()) return Keep(hipErrorInvalidValue);
  return Allocate(&RuntimeApi::malloc_async, ptr, nbytes, StreamOf(stream));
}
hipError_t hipFreeAsync(void* ptr, hipStream_t stream) {
  return Free(&RuntimeApi::free_async, ptr, StreamOf(stream));
}
hipError_t hipMemPoolTrimTo(hipMemPool_t pool, size_t keep) {
  return Forward(&RuntimeApi::pool_trim, RealDevice(DeviceOf(pool)), keep);
}
hipError_t hipMemPoolSetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  if (attribute != hipMemPoolAttrReleaseThreshold) return Keep(hipErrorInvalidValue);
  const size_t threshold = *static_cast<uint64_t*>(value);
  return Forward(&RuntimeApi::pool_set_release_threshold, RealDevice(DeviceOf(pool)), threshold);
}
hipError_t hipMemPoolGetAttribute(hipMemPool_t pool, hipMemPoolAttr attribute, void* value) {
  PoolStats stats;
  const hipError_t error = Forward(&RuntimeApi::pool_stats, RealDevice(DeviceOf(pool)), &stats);
  if (error != hipSuccess) return error;
  switch (attribute) {
    case hipMemPoolAttrUsedMemCurrent:
      *static_cast<uint64_t*>(value) = stats.used_bytes;
      return hipSuccess;
    case hipMemPoolAttrReservedMemCurrent:
      *static_cast<uint64_t*>(value) = stats.reserved_bytes;
      return hipSuccess;
    default:
      return Keep(hipErrorInvalidValue);
  }
}
hipError_t hipMemPoolSetAccess(hipMemPool_t pool, const hipMemAccessDesc* access, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const int device = DeviceOf(pool), peer = access[i].location.id;
    if (AreOneGpu(device, peer)) {
      if (!HavePeers()) return Keep(hipErrorInvalidDevice);
      continue;
    }
    const hipError_t error =
        Forward(&RuntimeApi::pool_allow_access, RealDevice(device), RealDevice(peer));
    if (error != hipSuccess) return error;
  }
  return hipSuccess;
}

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* ptr) {
  IpcHandle made;
  const hipError_t error = Forward(&RuntimeApi::ipc_memory_handle, ptr, &made);
  if (error == hipSuccess) std::memcpy(handle, &made, sizeof(made));
  return error;
}
hipError_t hipIpcOpenMemHandle(void** ptr, hipIpcMemHandle_t handle, unsigned) {
  const IpcHandle made = HandleOf(handle);
  const hipError_t error = Forward(&RuntimeApi::ipc_open, &made, ptr);
  PointerInfo info{};
  if (error == hipSuccess &&
      Forward(&RuntimeApi::pointer_info, static_cast<const void*>(*ptr), &info) == hipSuccess) {
    Memory().Add(*ptr, info.nbytes, {CurrentDevice()});
  }
  return error;
}
hipError_t hipIpcCloseMemHandle(void* ptr) { return Free(&RuntimeApi::ipc_close, ptr); }
hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event) {
  IpcHandle made;
  const hipError_t error = Forward(&RuntimeApi::ipc_event_handle, static_cast<void*>(event), &made);
  if (error == hipSuccess) std::memcpy(handle, &made, sizeof(made));
  return error;
}
hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle) {
  const IpcHandle made = HandleOf(handle);
  void* opened = nullptr;
  const hipError_t error = Forward(&RuntimeApi::ipc_open_event, &made, &opened);
  if (error == hipSuccess) *event = static_cast<hipEvent_t>(opened);
  return error;
}

}  // extern "C"
