// Kernels, access between devices, and handles for other processes.

#include <cstring>

#include "absl/strings/str_split.h"
#include "dovetail/devices/rocm/architecture.h"
#include "dovetail/devices/rocm/kernels_hip.inc"
#include "dovetail/devices/rocm/runtime_parts.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// ---- Peers ----

Result PeerCanAccess(void* self, int device, int peer, bool* can) {
  int answer = 0;
  const Result result = Call(self, &HipSymbols::hipDeviceCanAccessPeer, &answer, device, peer);
  if (result == hipSuccess) *can = answer != 0;
  return result;
}

Result PeerEnable(void* self, int peer) {
  return Call(self, &HipSymbols::hipDeviceEnablePeerAccess, peer, 0u);
}

// ---- Kernels ----

bool IsForChip(absl::string_view chip) {
  for (absl::string_view known : absl::StrSplit(kKernelsHipArchitectures, ' ')) {
    if (known == chip) return true;
  }
  return false;
}

// A chip that is not known is given what there is: the library looks through it itself.
KernelImage Image(void* self, int device) {
  if (kKernelsHipBytes == 0) {
    return {.reason = "this build has no kernels for AMD GPUs: it was made without --config=rocm"};
  }
  char address[32] = "";
  const int size = sizeof(address);
  Call(self, &HipSymbols::hipDeviceGetPCIBusId, static_cast<char*>(address), size, device);
  const std::string chip = FindArchitecture(address, kKfdNodes);
  if (!chip.empty() && !IsForChip(chip)) {
    static const char kNotForChip[] =
        "this build has no kernels for this chip; it was compiled by a hipcc that does not know it";
    return {.reason = kNotForChip};
  }
  return {.data = kKernelsHip, .nbytes = kKernelsHipBytes};
}

Result ModuleLoad(void* self, const KernelImage* image, NativeModule* module) {
  hipModule_t loaded;
  const Result result = Call(self, &HipSymbols::hipModuleLoadData, &loaded, image->data);
  if (result == hipSuccess) *module = loaded;
  return result;
}

Result ModuleFunction(void* self, NativeModule module, const char* name, NativeFunction* function) {
  hipFunction_t found;
  const Result result =
      Call(self, &HipSymbols::hipModuleGetFunction, &found, static_cast<hipModule_t>(module), name);
  if (result == hipSuccess) *function = found;
  return result;
}

Result Launch(void* self, NativeFunction function, const uint32_t grid[3], const uint32_t block[3],
              uint32_t shared_bytes, NativeStream stream, void** args) {
  void** const no_extra = nullptr;
  return Call(self, &HipSymbols::hipModuleLaunchKernel, static_cast<hipFunction_t>(function),
              grid[0], grid[1], grid[2], block[0], block[1], block[2], shared_bytes,
              AsStream(stream), args, no_extra);
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
  hipIpcMemHandle_t made;
  const Result result = Call(self, &HipSymbols::hipIpcGetMemHandle, &made, ptr);
  if (result == hipSuccess) std::memcpy(handle->bytes, &made, kIpcHandleSize);
  return result;
}

// hipIpcMemLazyEnablePeerAccess is 1 in newer versions and 0 in older ones, which take nothing
// else.
Result IpcOpen(void* self, const IpcHandle* handle, void** ptr) {
  const auto vendor = FromHandle<hipIpcMemHandle_t>(*handle);
  const Result result = Call(self, &HipSymbols::hipIpcOpenMemHandle, ptr, vendor, 1u);
  if (result != hipErrorInvalidValue) return result;
  return Call(self, &HipSymbols::hipIpcOpenMemHandle, ptr, vendor, 0u);
}

Result IpcClose(void* self, void* ptr) {
  return Call(self, &HipSymbols::hipIpcCloseMemHandle, ptr);
}

Result IpcEventHandle(void* self, NativeEvent event, IpcHandle* handle) {
  hipIpcEventHandle_t made;
  const Result result = Call(self, &HipSymbols::hipIpcGetEventHandle, &made, AsEvent(event));
  if (result == hipSuccess) std::memcpy(handle->bytes, &made, kIpcHandleSize);
  return result;
}

Result IpcOpenEvent(void* self, const IpcHandle* handle, NativeEvent* event) {
  hipEvent_t opened;
  const Result result = Call(self, &HipSymbols::hipIpcOpenEventHandle, &opened,
                             FromHandle<hipIpcEventHandle_t>(*handle));
  if (result == hipSuccess) *event = opened;
  return result;
}

}  // namespace

void FillHipKernels(RuntimeApi& api) {
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
