// Memory: allocation, pools, and whose memory a pointer is.

#include <iterator>

#include "dovetail/devices/cuda/runtime_parts.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

Result MallocDevice(void* self, size_t nbytes, void** ptr) {
  CUdeviceptr address;
  const CUresult result = SymbolsOf(self).cuMemAlloc_v2(&address, nbytes);
  if (result == CUDA_SUCCESS) *ptr = AsPointer(address);
  return result;
}

Result FreeDevice(void* self, void* ptr) { return SymbolsOf(self).cuMemFree_v2(AsAddress(ptr)); }

Result MallocAsync(void* self, size_t nbytes, NativeStream stream, void** ptr) {
  CudaDriver& driver = DriverOf(self);
  int device;
  CUmemoryPool pool;
  CUresult result = driver.CurrentDevice(&device);
  if (result == CUDA_SUCCESS) result = driver.Pool(device, &pool);
  if (result != CUDA_SUCCESS) return result;
  CUdeviceptr address;
  result = driver.symbols().cuMemAllocFromPoolAsync(&address, nbytes, pool, AsStream(stream));
  if (result == CUDA_SUCCESS) *ptr = AsPointer(address);
  return result;
}

Result FreeAsync(void* self, void* ptr, NativeStream stream) {
  return SymbolsOf(self).cuMemFreeAsync(AsAddress(ptr), AsStream(stream));
}

Result PoolTrim(void* self, int device, size_t keep) {
  CUmemoryPool pool;
  const CUresult result = DriverOf(self).Pool(device, &pool);
  return result != CUDA_SUCCESS ? result : SymbolsOf(self).cuMemPoolTrimTo(pool, keep);
}

Result PoolSetReleaseThreshold(void* self, int device, size_t nbytes) {
  CUmemoryPool pool;
  const CUresult result = DriverOf(self).Pool(device, &pool);
  if (result != CUDA_SUCCESS) return result;
  cuuint64_t threshold = nbytes;
  return SymbolsOf(self).cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
}

Result GetPoolStats(void* self, int device, PoolStats* stats) {
  CUmemoryPool pool;
  CUresult result = DriverOf(self).Pool(device, &pool);
  if (result != CUDA_SUCCESS) return result;
  const CudaSymbols& cu = SymbolsOf(self);
  cuuint64_t used = 0, reserved = 0;
  result = cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used);
  if (result == CUDA_SUCCESS) {
    result = cu.cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved);
  }
  if (result == CUDA_SUCCESS) *stats = {used, reserved};
  return result;
}

Result PoolAllowAccess(void* self, int device, int peer) {
  CUmemoryPool pool;
  const CUresult result = DriverOf(self).Pool(device, &pool);
  if (result != CUDA_SUCCESS) return result;
  CUmemAccessDesc access = {};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = peer;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return SymbolsOf(self).cuMemPoolSetAccess(pool, &access, 1);
}

Result MallocHost(void* self, size_t nbytes, void** ptr) {
  return SymbolsOf(self).cuMemHostAlloc(ptr, nbytes,
                                        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
}

Result FreeHost(void* self, void* ptr) { return SymbolsOf(self).cuMemFreeHost(ptr); }

Result MallocManaged(void* self, size_t nbytes, void** ptr) {
  CUdeviceptr address;
  const CUresult result = SymbolsOf(self).cuMemAllocManaged(&address, nbytes, CU_MEM_ATTACH_GLOBAL);
  if (result == CUDA_SUCCESS) *ptr = AsPointer(address);
  return result;
}

Result MemoryInfo(void* self, size_t* free_bytes, size_t* total_bytes) {
  return SymbolsOf(self).cuMemGetInfo_v2(free_bytes, total_bytes);
}

// Every attribute stays as it is here for memory that the driver does not know.
struct Attributes {
  CUmemorytype type = {};
  unsigned managed = 0;  // the driver writes a boolean, of a byte or of four
  int device = 0;
  CUdeviceptr base = 0;
  size_t nbytes = 0;
};

CUresult Ask(const CudaSymbols& cu, const void* ptr, Attributes* found) {
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                 CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* where[] = {&found->type, &found->managed, &found->device, &found->base, &found->nbytes};
  return cu.cuPointerGetAttributes(std::size(which), which, where, AsAddress(ptr));
}

}  // namespace

Result CudaPointerInfo(void* self, const void* ptr, PointerInfo* info) {
  Attributes found;
  CUresult result = Ask(SymbolsOf(self), ptr, &found);
  // Of a thread without a context some drivers ask for one.
  if (result == CUDA_ERROR_INVALID_CONTEXT) {
    CUcontext context;
    result = DriverOf(self).Context(0, &context);
    if (result != CUDA_SUCCESS) return result;
    result = SymbolsOf(self).cuCtxPushCurrent_v2(context);
    if (result != CUDA_SUCCESS) return result;
    result = Ask(SymbolsOf(self), ptr, &found);
    SymbolsOf(self).cuCtxPopCurrent_v2(&context);
  }
  if (result == CUDA_ERROR_INVALID_VALUE) found = {};
  if (result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE) return result;
  *info = {PointerKind::kUnknown, found.device, AsPointer(found.base), found.nbytes};
  if (found.managed != 0) {
    info->kind = PointerKind::kManaged;
  } else if (found.type == CU_MEMORYTYPE_HOST) {
    info->kind = PointerKind::kPinnedHost;
  } else if (found.type == CU_MEMORYTYPE_DEVICE) {
    info->kind = PointerKind::kDevice;
  }
  return CUDA_SUCCESS;
}

void FillCudaMemory(RuntimeApi& api) {
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
  api.pointer_info = CudaPointerInfo;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
