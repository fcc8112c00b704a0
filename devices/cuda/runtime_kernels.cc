// Kernels, access between devices, and handles for other processes.

#include <cstring>

#include "dovetail/devices/cuda/kernels_fatbin.inc"
#include "dovetail/devices/cuda/runtime_parts.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// ---- Peers ----

Result PeerCanAccess(void* self, int device, int peer, bool* can) {
  const CudaSymbols& cu = SymbolsOf(self);
  CUdevice from, to;
  CUresult result = cu.cuDeviceGet(&from, device);
  if (result == CUDA_SUCCESS) result = cu.cuDeviceGet(&to, peer);
  int answer = 0;
  if (result == CUDA_SUCCESS) result = cu.cuDeviceCanAccessPeer(&answer, from, to);
  if (result == CUDA_SUCCESS) *can = answer != 0;
  return result;
}

Result PeerEnable(void* self, int peer) {
  CUcontext context;
  const CUresult result = DriverOf(self).Context(peer, &context);
  return result != CUDA_SUCCESS ? result : SymbolsOf(self).cuCtxEnablePeerAccess(context, 0);
}

// ---- Kernels ----

KernelImage Image(void*, int) {
  if (kKernelsFatbinBytes == 0) {
    return {.reason = "this build has no kernels for NVIDIA GPUs: it was made without nvcc"};
  }
  return {.data = kKernelsFatbin, .nbytes = kKernelsFatbinBytes};
}

Result ModuleLoad(void* self, const KernelImage* image, NativeModule* module) {
  CUmodule loaded;
  const CUresult result = SymbolsOf(self).cuModuleLoadData(&loaded, image->data);
  if (result == CUDA_SUCCESS) *module = loaded;
  return result;
}

Result ModuleFunction(void* self, NativeModule module, const char* name, NativeFunction* function) {
  CUfunction found;
  const CUresult result =
      SymbolsOf(self).cuModuleGetFunction(&found, static_cast<CUmodule>(module), name);
  if (result == CUDA_SUCCESS) *function = found;
  return result;
}

Result Launch(void* self, NativeFunction function, const uint32_t grid[3], const uint32_t block[3],
              uint32_t shared_bytes, NativeStream stream, void** args) {
  return SymbolsOf(self).cuLaunchKernel(static_cast<CUfunction>(function), grid[0], grid[1],
                                        grid[2], block[0], block[1], block[2], shared_bytes,
                                        AsStream(stream), args, nullptr);
}

// ---- Other processes ----

template <typename Vendor>
Vendor FromHandle(const IpcHandle& handle) {
  static_assert(sizeof(Vendor) == kIpcHandleSize);
  Vendor vendor;
  std::memcpy(&vendor, handle.bytes, kIpcHandleSize);
  return vendor;
}

Result IpcMemoryHandle(void* self, void* ptr, IpcHandle* handle) {
  CUipcMemHandle made;
  const CUresult result = SymbolsOf(self).cuIpcGetMemHandle(&made, AsAddress(ptr));
  if (result == CUDA_SUCCESS) std::memcpy(handle->bytes, &made, kIpcHandleSize);
  return result;
}

Result IpcOpen(void* self, const IpcHandle* handle, void** ptr) {
  CUdeviceptr address;
  const CUresult result = SymbolsOf(self).cuIpcOpenMemHandle_v2(
      &address, FromHandle<CUipcMemHandle>(*handle), CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  if (result == CUDA_SUCCESS) *ptr = AsPointer(address);
  return result;
}

Result IpcClose(void* self, void* ptr) {
  return SymbolsOf(self).cuIpcCloseMemHandle(AsAddress(ptr));
}

Result IpcEventHandle(void* self, NativeEvent event, IpcHandle* handle) {
  CUipcEventHandle made;
  const CUresult result = SymbolsOf(self).cuIpcGetEventHandle(&made, AsEvent(event));
  if (result == CUDA_SUCCESS) std::memcpy(handle->bytes, &made, kIpcHandleSize);
  return result;
}

Result IpcOpenEvent(void* self, const IpcHandle* handle, NativeEvent* event) {
  CUevent opened;
  const CUresult result =
      SymbolsOf(self).cuIpcOpenEventHandle(&opened, FromHandle<CUipcEventHandle>(*handle));
  if (result == CUDA_SUCCESS) *event = opened;
  return result;
}

}  // namespace

void FillCudaKernels(RuntimeApi& api) {
  api.peer_can_access = PeerCanAccess;
  api.peer_enable = PeerEnable;
  api.kernel_image = Image;
  api.module_load = ModuleLoad;
  api.module_function = ModuleFunction;
  api.launch = Launch;
  api.ipc_memory_handle = IpcMemoryHandle;
  api.ipc_open = IpcOpen;
  api.ipc_close = IpcClose;
  api.ipc_event_handle = IpcEventHandle;
  api.ipc_open_event = IpcOpenEvent;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
