// Allocation, pools, pointers, copies, fills, and memory shared with other processes.

#include <utility>

#include "dovetail/devices/cuda/testing/driver/cuda_call.h"

namespace vendor_driver {
namespace {

CUresult GetAttribute(CUpointer_attribute attribute, const PointerInfo& info, const void* ptr,
                      void* value) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<CUmemorytype*>(value) =
          info.kind == PointerKind::kPinnedHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<bool*>(value) = info.kind == PointerKind::kManaged;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(value) = info.device;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<void**>(value) = info.base;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t*>(value) = info.nbytes;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      *static_cast<CUmemoryPool*>(value) = PoolHandle<CUmemoryPool>(PoolOf(ptr));
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      *static_cast<bool*>(value) = info.kind == PointerKind::kDevice && PoolOf(ptr) == kNoPool;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

void* Pointer(CUmemorytype type, const void* host, CUdeviceptr device) {
  return type == CU_MEMORYTYPE_HOST ? const_cast<void*>(host) : PointerOf(device);
}

}  // namespace

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t nbytes) {
  return CudaCall("cuMemAlloc_v2", nbytes).Make(address, &RuntimeApi::malloc_device, nbytes);
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  return CudaCall("cuMemFree_v2", address).On(&RuntimeApi::free_device, PointerOf(address));
}
CUresult cuMemAllocManaged(CUdeviceptr* address, size_t nbytes, unsigned flags) {
  return CudaCall("cuMemAllocManaged", nbytes, flags)
      .Make(address, &RuntimeApi::malloc_managed, nbytes);
}
CUresult cuMemHostAlloc(void** address, size_t nbytes, unsigned flags) {
  return CudaCall("cuMemHostAlloc", nbytes, flags).On(&RuntimeApi::malloc_host, nbytes, address);
}
CUresult cuMemFreeHost(void* address) {
  return CudaCall("cuMemFreeHost", address).On(&RuntimeApi::free_host, address);
}
CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) {
  return CudaCall("cuMemGetInfo_v2").On(&RuntimeApi::memory_info, free_bytes, total_bytes);
}

// Writes nothing for memory that the driver does not know.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** where,
                                CUdeviceptr address) {
  const void* const ptr = PointerOf(address);
  PointerInfo info{};
  CUresult error = CudaCall().Ask(&RuntimeApi::pointer_info, ptr, &info);
  if (info.kind == PointerKind::kUnknown) return error;
  for (unsigned i = 0; i < count && error == CUDA_SUCCESS; ++i) {
    error = GetAttribute(which[i], info, ptr, where[i]);
  }
  return error;
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  const int device = properties->location.id;
  return MakePool(CudaCall("cuMemPoolCreate", device), pool, device);
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t nbytes, CUmemoryPool pool,
                                 CUstream stream) {
  return CudaCall("cuMemAllocFromPoolAsync", nbytes, pool, stream)
      .Make(address, &RuntimeApi::malloc_async, nbytes, StreamOf(stream));
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return CudaCall("cuMemFreeAsync", address, stream)
      .On(&RuntimeApi::free_async, PointerOf(address), StreamOf(stream));
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  return CudaCall("cuMemPoolTrimTo", pool, keep)
      .Ask(&RuntimeApi::pool_trim, DeviceOfPool(pool), keep);
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  const CudaCall call("cuMemPoolSetAttribute", pool, static_cast<int>(attribute),
                      *static_cast<cuuint64_t*>(value));
  return SetPoolAttribute(call, DeviceOfPool(pool), attribute, value);
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  const CudaCall call("cuMemPoolGetAttribute", pool, static_cast<int>(attribute));
  return GetPoolAttribute(call, DeviceOfPool(pool), attribute, value);
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* access, size_t count) {
  const CudaCall call("cuMemPoolSetAccess", pool, access->location.id,
                      static_cast<int>(access->flags), count);
  return SetPoolAccess(call, DeviceOfPool(pool), access, count);
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t nbytes, CUstream stream) {
  return CudaCall("cuMemcpyAsync", dst, src, nbytes, stream)
      .On(&RuntimeApi::copy_async, PointerOf(dst), PointerOf(src), nbytes, StreamOf(stream));
}
CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext to, CUdeviceptr src, CUcontext from,
                           size_t nbytes, CUstream stream) {
  return CudaCall("cuMemcpyPeerAsync", dst, to, src, from, nbytes, stream)
      .On(&RuntimeApi::copy_peer_async, PointerOf(dst), DeviceOf(to), PointerOf(src),
          DeviceOf(from), nbytes, StreamOf(stream));
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return CudaCall("cuMemcpy2DAsync_v2", static_cast<int>(copy->dstMemoryType), copy->dstDevice,
                  copy->dstHost, copy->dstPitch, static_cast<int>(copy->srcMemoryType),
                  copy->srcDevice, copy->srcHost, copy->srcPitch, copy->WidthInBytes, copy->Height,
                  stream)
      .On(&RuntimeApi::copy_2d_async, Pointer(copy->dstMemoryType, copy->dstHost, copy->dstDevice),
          copy->dstPitch, Pointer(copy->srcMemoryType, copy->srcHost, copy->srcDevice),
          copy->srcPitch, copy->WidthInBytes, copy->Height, StreamOf(stream));
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count, CUstream stream) {
  return Fill(CudaCall("cuMemsetD8Async", dst, value, count, stream), PointerOf(dst), value, 1,
              count, StreamOf(stream));
}
CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count, CUstream stream) {
  return Fill(CudaCall("cuMemsetD16Async", dst, value, count, stream), PointerOf(dst), value, 2,
              count, StreamOf(stream));
}
CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned value, size_t count, CUstream stream) {
  return Fill(CudaCall("cuMemsetD32Async", dst, value, count, stream), PointerOf(dst), value, 4,
              count, StreamOf(stream));
}

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  return CudaCall("cuIpcGetMemHandle", address)
      .On(&RuntimeApi::ipc_memory_handle, PointerOf(address), OurHandle(handle));
}
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  return CudaCall("cuIpcOpenMemHandle_v2", int{handle.reserved[63]}, flags)
      .Make(address, &RuntimeApi::ipc_open, OurHandle(&std::as_const(handle)));
}
CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return CudaCall("cuIpcCloseMemHandle", address).On(&RuntimeApi::ipc_close, PointerOf(address));
}

}  // extern "C"

}  // namespace vendor_driver
