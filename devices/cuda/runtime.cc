#include "dovetail/devices/cuda/runtime.h"

#include <cstdio>
#include <iterator>

#include "dovetail/devices/cuda/driver.h"
#include "dovetail/devices/cuda/kernels_fatbin.inc"
#include "dovetail/devices/gpu/runtime/vendor_traits.h"
#include "dovetail/devices/gpu/vendor/device_functions.h"
#include "dovetail/devices/gpu/vendor/handles.h"
#include "dovetail/devices/gpu/vendor/kernel_functions.h"
#include "dovetail/devices/gpu/vendor/memory_functions.h"
#include "dovetail/devices/gpu/vendor/stream_functions.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

void CudaVendor::SetArchitecture(CudaDriver& driver, int device, DeviceInfo* info) {
  std::snprintf(info->architecture, sizeof(info->architecture), "sm_%d%d",
                driver.GetAttribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                driver.GetAttribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}

// CUDA's own functions. devices/gpu/vendor fills the rest of RuntimeApi.
namespace {

CudaDriver& DriverOf(void* self) { return LibraryOf<CudaVendor>(self); }
CUdeviceptr Address(const void* ptr) { return ToAddress<CudaVendor>(ptr); }
CUstream StreamOf(NativeStream stream) { return ToStream<CudaVendor>(stream); }

// ---- The current device ----

// `*previous` is nullptr if nothing was pushed.
Result PushDevice(void* self, int device, void** previous) {
  CudaDriver& driver = DriverOf(self);
  CUcontext context;
  Result result = driver.GetContext(device, &context);
  if (result != kCodeSuccess) return result;
  CUcontext current = nullptr;
  result = driver.Call(&CudaSymbols::cuCtxGetCurrent, &current);
  if (result != kCodeSuccess) return result;
  *previous = nullptr;
  if (current == context) return kCodeSuccess;
  result = driver.Call(&CudaSymbols::cuCtxPushCurrent_v2, context);
  if (result == kCodeSuccess) *previous = context;
  return result;
}

Result PopDevice(void* self, void* previous) {
  if (previous == nullptr) return kCodeSuccess;
  CUcontext popped;
  return DriverOf(self).Call(&CudaSymbols::cuCtxPopCurrent_v2, &popped);
}

Result CurrentDevice(void* self, int* device) {
  const Result result = DriverOf(self).CurrentDevice(device);
  if (result != kCodeInvalidContext) return result;
  *device = -1;
  return kCodeSuccess;
}

Result DeviceInUse(void* self, int device, bool* in_use) {
  return DriverOf(self).HasContext(device, in_use);
}

// ---- Whose memory a pointer is ----

// The driver leaves every attribute as it is here if it does not know the memory.
struct Attributes {
  CUmemorytype type = {};
  unsigned managed = 0;  // the driver writes a boolean of one byte or of four
  int device = 0;
  CUdeviceptr base = 0;
  size_t nbytes = 0;
};

Result GetAttributes(const CudaDriver& driver, const void* ptr, Attributes* found) {
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                 CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                 CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* where[] = {&found->type, &found->managed, &found->device, &found->base, &found->nbytes};
  return driver.Call(&CudaSymbols::cuPointerGetAttributes, unsigned{std::size(which)}, which, where,
                     Address(ptr));
}

// 0 if there is none.
int AnyDeviceWithContext(const CudaDriver& driver) {
  for (int device = 0; device < driver.device_count(); ++device) {
    bool has = false;
    if (driver.HasContext(device, &has) == kCodeSuccess && has) return device;
  }
  return 0;
}

Result GetPointerInfo(void* self, const void* ptr, PointerInfo* info) {
  CudaDriver& driver = DriverOf(self);
  Attributes found;
  Result result = GetAttributes(driver, ptr, &found);
  // Some drivers answer only a thread that has a context. Any context will do.
  if (result == kCodeInvalidContext) {
    CUcontext context;
    result = driver.GetContext(AnyDeviceWithContext(driver), &context);
    if (result != kCodeSuccess) return result;
    result = driver.Call(&CudaSymbols::cuCtxPushCurrent_v2, context);
    if (result != kCodeSuccess) return result;
    result = GetAttributes(driver, ptr, &found);
    driver.Call(&CudaSymbols::cuCtxPopCurrent_v2, &context);
  }
  if (result == kCodeInvalidValue) found = {};
  if (result != kCodeSuccess && result != kCodeInvalidValue) return result;
  *info = {PointerKind::kUnknown, found.device, ToPointer(found.base), found.nbytes};
  if (found.managed != 0) {
    info->kind = PointerKind::kManaged;
  } else if (found.type == CU_MEMORYTYPE_HOST) {
    info->kind = PointerKind::kPinnedHost;
  } else if (found.type == CU_MEMORYTYPE_DEVICE) {
    info->kind = PointerKind::kDevice;
  }
  return kCodeSuccess;
}

}  // namespace

Result CudaVendor::GetPointerAttribute(const CudaDriver& driver, void* value, int attribute,
                                       const void* ptr) {
  return driver.Call(&CudaSymbols::cuPointerGetAttributes, 1u, &attribute, &value, Address(ptr));
}

namespace {

// ---- Copies ----

Result CopyAsync(void* self, void* dst, const void* src, size_t nbytes, NativeStream stream) {
  return DriverOf(self).Call(&CudaSymbols::cuMemcpyAsync, Address(dst), Address(src), nbytes,
                             StreamOf(stream));
}

Result CopyPeer(void* self, void* dst, int dst_device, const void* src, int src_device,
                size_t nbytes, NativeStream stream) {
  CudaDriver& driver = DriverOf(self);
  CUcontext to, from;
  Result result = driver.GetContext(dst_device, &to);
  if (result == kCodeSuccess) result = driver.GetContext(src_device, &from);
  if (result != kCodeSuccess) return result;
  return driver.Call(&CudaSymbols::cuMemcpyPeerAsync, Address(dst), to, Address(src), from, nbytes,
                     StreamOf(stream));
}

// A 2D copy names the kind of memory of each side: the driver finds out by itself only the kind of
// memory that it knows.
Result MemoryTypeOf(void* self, const void* ptr, CUmemorytype* type) {
  PointerInfo info;
  const Result result = GetPointerInfo(self, ptr, &info);
  if (result != kCodeSuccess) return result;
  *type = info.kind == PointerKind::kDevice    ? CU_MEMORYTYPE_DEVICE
          : info.kind == PointerKind::kManaged ? CU_MEMORYTYPE_UNIFIED
                                               : CU_MEMORYTYPE_HOST;
  return result;
}

Result Copy2d(void* self, void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
              size_t width, size_t height, NativeStream stream) {
  CUDA_MEMCPY2D copy = {};
  Result result = MemoryTypeOf(self, dst, &copy.dstMemoryType);
  if (result == kCodeSuccess) result = MemoryTypeOf(self, src, &copy.srcMemoryType);
  if (result != kCodeSuccess) return result;
  copy.dstHost = dst;
  copy.dstDevice = Address(dst);
  copy.dstPitch = dst_pitch;
  copy.srcHost = src;
  copy.srcDevice = Address(src);
  copy.srcPitch = src_pitch;
  copy.WidthInBytes = width;
  copy.Height = height;
  return DriverOf(self).Call(&CudaSymbols::cuMemcpy2DAsync_v2, &copy, StreamOf(stream));
}

// ---- Streams and events by their contexts ----

Result StreamDevice(void* self, NativeStream stream, int* device) {
  const CudaDriver& driver = DriverOf(self);
  CUcontext context;
  const Result result = driver.Call(&CudaSymbols::cuStreamGetCtx, StreamOf(stream), &context);
  return result != kCodeSuccess ? result : driver.DeviceOf(context, device);
}

Result ContextRecordEvent(void* self, NativeEvent event) {
  const CudaDriver& driver = DriverOf(self);
  if (driver.symbols().cuCtxRecordEvent == nullptr) return kCodeNotSupported;
  CUcontext current;
  const Result result = driver.Call(&CudaSymbols::cuCtxGetCurrent, &current);
  if (result != kCodeSuccess) return result;
  return driver.Call(&CudaSymbols::cuCtxRecordEvent, current, ToEvent<CudaVendor>(event));
}

// ---- Access between devices ----

Result PeerEnable(void* self, int peer) {
  CUcontext context;
  const Result result = DriverOf(self).GetContext(peer, &context);
  if (result != kCodeSuccess) return result;
  return DriverOf(self).Call(&CudaSymbols::cuCtxEnablePeerAccess, context, 0u);
}

// ---- Kernels and other processes ----

KernelImage Image(void*, int) {
  if (kKernelsFatbinBytes == 0) {
    return {.reason = "this build has no kernels for NVIDIA GPUs: it was made without nvcc"};
  }
  return {.data = kKernelsFatbin, .nbytes = kKernelsFatbinBytes};
}

Result IpcOpen(void* self, const IpcHandle* handle, void** ptr) {
  CUdeviceptr address;
  const Result result = DriverOf(self).Call(&CudaSymbols::cuIpcOpenMemHandle_v2, &address,
                                            FromIpcHandle<CUipcMemHandle>(*handle),
                                            unsigned{CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS});
  if (result == kCodeSuccess) *ptr = ToPointer(address);
  return result;
}

RuntimeApi MakeApi() {
  RuntimeApi api;
  api.self = &CudaDriver::Get();
  api.vendor = &kCudaTraits;
  api.legacy_stream = NativeStream{1};      // CU_STREAM_LEGACY
  api.per_thread_stream = NativeStream{2};  // CU_STREAM_PER_THREAD
  DeviceFunctions<CudaVendor>::Fill(api);
  MemoryFunctions<CudaVendor>::Fill(api);
  StreamFunctions<CudaVendor>::Fill(api);
  KernelFunctions<CudaVendor>::Fill(api);
  IpcFunctions<CudaVendor>::Fill(api);
  api.push_device = PushDevice;
  api.pop_device = PopDevice;
  api.current_device = CurrentDevice;
  api.device_in_use = DeviceInUse;
  api.pointer_info = GetPointerInfo;
  api.copy_async = CopyAsync;
  api.copy_peer_async = CopyPeer;
  api.copy_2d_async = Copy2d;
  api.stream_device = StreamDevice;
  api.context_record_event = ContextRecordEvent;
  api.peer_enable = PeerEnable;
  api.kernel_image = Image;
  api.ipc_open = IpcOpen;
  return api;
}

}  // namespace

const RuntimeApi& CudaRuntimeApi() {
  static const RuntimeApi* const api = new RuntimeApi(MakeApi());
  return *api;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
