// Allocation, pools, pointers, copies, fills, and memory shared with other processes.

#include <cstring>

#include "tests/emulated_cuda/forward.h"

using dovetail::gpu::IpcHandle;
using dovetail::gpu::PointerInfo;
using dovetail::gpu::PointerKind;
using dovetail::gpu::PoolStats;
using dovetail::gpu::RuntimeApi;
using emulated_cuda::DeviceOf;
using emulated_cuda::Forward;
using emulated_cuda::Gpu;
using emulated_cuda::PointerOf;
using emulated_cuda::StreamOf;

namespace {

// A pool's handle names the device, whose pool is used.
int DeviceOfPool(CUmemoryPool pool) { return DeviceOf(reinterpret_cast<CUcontext>(pool)); }

// Calls `allocate` with where to put a pointer, which it then writes to `*address`.
template <typename Allocate>
CUresult Address(CUdeviceptr* address, Allocate allocate) {
  void* made = nullptr;
  const CUresult result = allocate(&made);
  if (result == CUDA_SUCCESS) *address = reinterpret_cast<CUdeviceptr>(made);
  return result;
}

// A copy on the legacy default stream that the host waits for.
CUresult CopyNow(void* dst, const void* src, size_t nbytes) {
  const CUresult result =
      Forward(&RuntimeApi::copy_async, dst, src, nbytes, dovetail::NativeStream{1});
  if (result != CUDA_SUCCESS) return result;
  return Forward(&RuntimeApi::stream_synchronize, dovetail::NativeStream{1});
}

void* Pointer(CUmemorytype type, const void* host, CUdeviceptr device) {
  return type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : PointerOf(device);
}

}  // namespace

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t nbytes) {
  return Address(address,
                 [&](void** made) { return Forward(&RuntimeApi::malloc_device, nbytes, made); });
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  return Forward(&RuntimeApi::free_device, PointerOf(address));
}
CUresult cuMemAllocManaged(CUdeviceptr* address, size_t nbytes, unsigned) {
  return Address(address,
                 [&](void** made) { return Forward(&RuntimeApi::malloc_managed, nbytes, made); });
}
CUresult cuMemHostAlloc(void** address, size_t nbytes, unsigned) {
  return Forward(&RuntimeApi::malloc_host, nbytes, address);
}
CUresult cuMemFreeHost(void* address) { return Forward(&RuntimeApi::free_host, address); }
CUresult cuMemHostRegister_v2(void* address, size_t nbytes, unsigned) {
  Gpu().Pin(address, nbytes);
  return CUDA_SUCCESS;
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* host, unsigned) {
  *device = reinterpret_cast<CUdeviceptr>(host);
  return CUDA_SUCCESS;
}
CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  return Forward(&RuntimeApi::memory_info, free_bytes, total_bytes);
}
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** where,
                                CUdeviceptr address) {
  PointerInfo info;
  const auto& api = Gpu().api();
  if (api.pointer_info(api.self, PointerOf(address), &info) != 0) return CUDA_ERROR_INVALID_VALUE;
  if (info.kind == PointerKind::kUnknown) return CUDA_SUCCESS;
  for (unsigned i = 0; i < count; ++i) {
    switch (which[i]) {
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<CUmemorytype*>(where[i]) =
            info.kind == PointerKind::kPinnedHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        break;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *static_cast<bool*>(where[i]) = info.kind == PointerKind::kManaged;
        break;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *static_cast<int*>(where[i]) = info.device;
        break;
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *static_cast<void**>(where[i]) = info.base;
        break;
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *static_cast<size_t*>(where[i]) = info.nbytes;
        break;
      case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *static_cast<CUcontext*>(where[i]) =
            Gpu().IsOfPool(PointerOf(address)) ? emulated_cuda::ContextOf(info.device) : nullptr;
        break;
      case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *static_cast<bool*>(where[i]) =
            info.kind == PointerKind::kDevice && !Gpu().IsOfPool(PointerOf(address));
        break;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  *pool = reinterpret_cast<CUmemoryPool>(emulated_cuda::ContextOf(properties->location.id));
  return CUDA_SUCCESS;
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t nbytes, CUmemoryPool,
                                 CUstream stream) {
  return Address(address, [&](void** made) {
    return Forward(&RuntimeApi::malloc_async, nbytes, StreamOf(stream), made);
  });
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return Forward(&RuntimeApi::free_async, PointerOf(address), StreamOf(stream));
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  return Forward(&RuntimeApi::pool_trim, DeviceOfPool(pool), keep);
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute, void* value) {
  const size_t threshold = *static_cast<cuuint64_t*>(value);
  return Forward(&RuntimeApi::pool_set_release_threshold, DeviceOfPool(pool), threshold);
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  PoolStats stats;
  const CUresult result = Forward(&RuntimeApi::pool_stats, DeviceOfPool(pool), &stats);
  *static_cast<cuuint64_t*>(value) =
      attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT ? stats.used_bytes : stats.reserved_bytes;
  return result;
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* access, size_t count) {
  CUresult result = CUDA_SUCCESS;
  for (size_t i = 0; i < count && result == CUDA_SUCCESS; ++i) {
    result =
        Forward(&RuntimeApi::pool_allow_access, DeviceOfPool(pool), int{access[i].location.id});
  }
  return result;
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void* src, size_t nbytes) {
  return CopyNow(PointerOf(dst), src, nbytes);
}
CUresult cuMemcpyDtoH_v2(void* dst, CUdeviceptr src, size_t nbytes) {
  return CopyNow(dst, PointerOf(src), nbytes);
}
CUresult cuMemcpyDtoHAsync_v2(void* dst, CUdeviceptr src, size_t nbytes, CUstream stream) {
  return Forward(&RuntimeApi::copy_async, dst, PointerOf(src), nbytes, StreamOf(stream));
}
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t nbytes, CUstream stream) {
  return Forward(&RuntimeApi::copy_async, PointerOf(dst), PointerOf(src), nbytes, StreamOf(stream));
}
CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
                           size_t nbytes, CUstream stream) {
  return Forward(&RuntimeApi::copy_peer_async, PointerOf(dst), DeviceOf(to), PointerOf(src),
                 DeviceOf(from), nbytes, StreamOf(stream));
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return Forward(
      &RuntimeApi::copy_2d_async, Pointer(copy->dstMemoryType, copy->dstHost, copy->dstDevice),
      size_t{copy->dstPitch}, Pointer(copy->srcMemoryType, copy->srcHost, copy->srcDevice),
      size_t{copy->srcPitch}, size_t{copy->WidthInBytes}, size_t{copy->Height}, StreamOf(stream));
}
CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream) {
  return Forward(&RuntimeApi::fill_async, PointerOf(dst), uint32_t{value}, size_t{1}, count,
                 StreamOf(stream));
}
CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream) {
  return Forward(&RuntimeApi::fill_async, PointerOf(dst), uint32_t{value}, size_t{2}, count,
                 StreamOf(stream));
}
CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned value, size_t count, CUstream stream) {
  return Forward(&RuntimeApi::fill_async, PointerOf(dst), uint32_t{value}, size_t{4}, count,
                 StreamOf(stream));
}

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  return Forward(&RuntimeApi::ipc_memory_handle, PointerOf(address),
                 reinterpret_cast<IpcHandle*>(handle));
}
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned) {
  return Address(address, [&](void** made) {
    return Forward(&RuntimeApi::ipc_open, reinterpret_cast<const IpcHandle*>(&handle), made);
  });
}
CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return Forward(&RuntimeApi::ipc_close, PointerOf(address));
}

}  // extern "C"
