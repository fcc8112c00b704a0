#include "dovetail/devices/rocm/runtime.h"

#include <cstdio>

#include "absl/strings/str_split.h"
#include "dovetail/devices/gpu/runtime/vendor_traits.h"
#include "dovetail/devices/gpu/vendor/device_functions.h"
#include "dovetail/devices/gpu/vendor/handles.h"
#include "dovetail/devices/gpu/vendor/kernel_functions.h"
#include "dovetail/devices/gpu/vendor/memory_functions.h"
#include "dovetail/devices/gpu/vendor/stream_functions.h"
#include "dovetail/devices/rocm/architecture.h"
#include "dovetail/devices/rocm/kernels_hip.inc"
#include "dovetail/devices/rocm/library.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

void HipVendor::SetArchitecture(HipLibrary&, int, DeviceInfo* info) {
  std::snprintf(info->architecture, sizeof(info->architecture), "%s",
                FindArchitecture(info->pci_bus_id, kKfdNodes).c_str());
}

// HIP's own functions. devices/gpu/vendor fills the rest of RuntimeApi.
namespace {

HipLibrary& HipOf(void* self) { return LibraryOf<HipVendor>(self); }
hipStream_t StreamOf(NativeStream stream) { return ToStream<HipVendor>(stream); }

// ---- The current device ----

// `*previous` is nullptr if nothing was changed, else one more than the device that was current.
Result PushDevice(void* self, int device, void** previous) {
  const HipLibrary& hip = HipOf(self);
  int current = 0;
  Result result = hip.CurrentDevice(&current);
  if (result != kCodeSuccess) return result;
  *previous = nullptr;
  if (current == device) return kCodeSuccess;
  result = hip.Call(&HipSymbols::hipSetDevice, device);
  if (result == kCodeSuccess) *previous = reinterpret_cast<void*>(intptr_t{current} + 1);
  return result;
}

Result PopDevice(void* self, void* previous) {
  if (previous == nullptr) return kCodeSuccess;
  const int device = static_cast<int>(reinterpret_cast<intptr_t>(previous) - 1);
  return HipOf(self).Call(&HipSymbols::hipSetDevice, device);
}

Result CurrentDevice(void* self, int* device) { return HipOf(self).CurrentDevice(device); }

// Some versions call only the current device active, so that "not active" says nothing.
Result DeviceInUse(void* self, int device, bool* in_use) {
  unsigned flags = 0;
  int active = 0;
  const Result result = HipOf(self).Call(&HipSymbols::hipDevicePrimaryCtxGetState,
                                         hipDevice_t{device}, &flags, &active);
  if (result != kCodeSuccess) return result;
  if (active == 0) return kCodeNotSupported;
  *in_use = true;
  return kCodeSuccess;
}

// ---- Whose memory a pointer is ----

// HIP 5 numbers memory types in another way than HIP 6 and 7, and answers with an error for memory
// that it does not know.
PointerKind KindOf(const hipPointerAttribute_t& found, int major) {
  if (found.isManaged != 0) return PointerKind::kManaged;
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
  const HipLibrary& hip = HipOf(self);
  hipPointerAttribute_t found = {};
  const Result result = hip.Call(&HipSymbols::hipPointerGetAttributes, &found, ptr);
  *info = {PointerKind::kUnknown, 0, nullptr, 0};
  if (result == kCodeInvalidValue) return kCodeSuccess;
  if (result != kCodeSuccess) return result;
  info->kind = KindOf(found, hip.major());
  info->device = found.device;
  if (info->kind == PointerKind::kUnknown) return kCodeSuccess;
  // Some versions do not know the range of host memory.
  hipDeviceptr_t base = nullptr;
  size_t nbytes = 0;
  if (hip.Call(&HipSymbols::hipMemGetAddressRange, &base, &nbytes, ToAddress<HipVendor>(ptr)) ==
      kCodeSuccess) {
    info->base = base;
    info->nbytes = nbytes;
  }
  return kCodeSuccess;
}

}  // namespace

Result HipVendor::GetPointerAttribute(const HipLibrary& hip, void* value, int attribute,
                                      const void* ptr) {
  return hip.Call(&HipSymbols::hipPointerGetAttribute, value, attribute, ToAddress<HipVendor>(ptr));
}

namespace {

// ---- Copies ----

Result CopyAsync(void* self, void* dst, const void* src, size_t nbytes, NativeStream stream) {
  return HipOf(self).Call(&HipSymbols::hipMemcpyAsync, dst, src, nbytes, hipMemcpyDefault,
                          StreamOf(stream));
}

Result CopyPeer(void* self, void* dst, int dst_device, const void* src, int src_device,
                size_t nbytes, NativeStream stream) {
  return HipOf(self).Call(&HipSymbols::hipMemcpyPeerAsync, dst, dst_device, src, src_device, nbytes,
                          StreamOf(stream));
}

Result Copy2d(void* self, void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
              size_t width, size_t height, NativeStream stream) {
  return HipOf(self).Call(&HipSymbols::hipMemcpy2DAsync, dst, dst_pitch, src, src_pitch, width,
                          height, hipMemcpyDefault, StreamOf(stream));
}

// ---- Whose device a stream is of ----

// HIP 5.6 has a function for it. The older function returns the device, or a negative number.
Result StreamDevice(void* self, NativeStream stream, int* device) {
  const HipLibrary& hip = HipOf(self);
  const HipSymbols& symbols = hip.symbols();
  if (symbols.hipStreamGetDevice != nullptr) {
    hipDevice_t found;
    const Result result = hip.Call(&HipSymbols::hipStreamGetDevice, StreamOf(stream), &found);
    if (result == kCodeSuccess) *device = found;
    return result;
  }
  if (symbols.hipGetStreamDeviceId == nullptr) return kCodeNotSupported;
  const int found = symbols.hipGetStreamDeviceId(StreamOf(stream));
  if (found < 0) return HipVendor::Checked(symbols, kCodeInvalidHandle);
  *device = found;
  return kCodeSuccess;
}

// ---- Access between devices ----

Result PeerEnable(void* self, int peer) {
  return HipOf(self).Call(&HipSymbols::hipDeviceEnablePeerAccess, peer, 0u);
}

// ---- Kernels and other processes ----

bool HasKernelsFor(absl::string_view architecture) {
  for (absl::string_view known : absl::StrSplit(kKernelsHipArchitectures, ' ')) {
    if (known == architecture) return true;
  }
  return false;
}

// A device of unknown architecture gets the whole image: the library looks for its code there.
KernelImage Image(void* self, int device) {
  if (kKernelsHipBytes == 0) {
    return {.reason = "this build has no kernels for AMD GPUs: it was made without --config=rocm"};
  }
  char address[32] = "";
  char* const text = address;
  const int size = sizeof(address);
  HipOf(self).Call(&HipSymbols::hipDeviceGetPCIBusId, text, size, device);
  const std::string architecture = FindArchitecture(address, kKfdNodes);
  if (!architecture.empty() && !HasKernelsFor(architecture)) {
    static const char kNotForChip[] =
        "this build has no kernels for this chip; it was compiled by a hipcc that does not know it";
    return {.reason = kNotForChip};
  }
  return {.data = kKernelsHip, .nbytes = kKernelsHipBytes};
}

// hipIpcMemLazyEnablePeerAccess is 1 in newer versions and 0 in older ones, which refuse 1.
Result IpcOpen(void* self, const IpcHandle* handle, void** ptr) {
  const HipLibrary& hip = HipOf(self);
  const auto memory = FromIpcHandle<hipIpcMemHandle_t>(*handle);
  const Result result = hip.Call(&HipSymbols::hipIpcOpenMemHandle, ptr, memory, 1u);
  if (result != kCodeInvalidValue) return result;
  return hip.Call(&HipSymbols::hipIpcOpenMemHandle, ptr, memory, 0u);
}

RuntimeApi MakeApi() {
  RuntimeApi api;
  api.self = &HipLibrary::Get();
  api.vendor = &kRocmTraits;
  api.legacy_stream = NativeStream{0};
  api.per_thread_stream = NativeStream{2};  // hipStreamPerThread
  DeviceFunctions<HipVendor>::Fill(api);
  MemoryFunctions<HipVendor>::Fill(api);
  StreamFunctions<HipVendor>::Fill(api);
  KernelFunctions<HipVendor>::Fill(api);
  IpcFunctions<HipVendor>::Fill(api);
  api.push_device = PushDevice;
  api.pop_device = PopDevice;
  api.current_device = CurrentDevice;
  api.device_in_use = DeviceInUse;
  api.pointer_info = GetPointerInfo;
  api.copy_async = CopyAsync;
  api.copy_peer_async = CopyPeer;
  api.copy_2d_async = Copy2d;
  api.stream_device = StreamDevice;
  api.peer_enable = PeerEnable;
  api.kernel_image = Image;
  api.ipc_open = IpcOpen;
  return api;
}

}  // namespace

const RuntimeApi& RocmRuntimeApi() {
  static const RuntimeApi* const api = new RuntimeApi(MakeApi());
  return *api;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
