// The functions of RuntimeApi for kernels and for sharing with other processes, for vendors whose
// functions have the shape of CUDA's: KernelFunctions<Vendor>::Fill(api),
// IpcFunctions<Vendor>::Fill(api).
//
// `Vendor` has the types and symbols named below. What differs between vendors stays in their
// folders: kernel_image, the access between devices, and ipc_open.

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_KERNEL_FUNCTIONS_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_KERNEL_FUNCTIONS_H_

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
struct KernelFunctions {
  static Result ModuleLoad(void* self, const KernelImage* image, NativeModule* module) {
    typename Vendor::Module loaded;
    const Result result = LibraryOf<Vendor>(self).Call(Vendor::kModuleLoad, &loaded, image->data);
    if (result == kCodeSuccess) *module = loaded;
    return result;
  }

  static Result ModuleFunction(void* self, NativeModule module, const char* name,
                               NativeFunction* function) {
    typename Vendor::Function found;
    const Result result = LibraryOf<Vendor>(self).Call(
        Vendor::kModuleGetFunction, &found, static_cast<typename Vendor::Module>(module), name);
    if (result == kCodeSuccess) *function = found;
    return result;
  }

  static Result Launch(void* self, NativeFunction function, const uint32_t grid[3],
                       const uint32_t block[3], uint32_t shared_bytes, NativeStream stream,
                       void** args) {
    void** const no_extra = nullptr;
    return LibraryOf<Vendor>(self).Call(Vendor::kLaunch,
                                        static_cast<typename Vendor::Function>(function), grid[0],
                                        grid[1], grid[2], block[0], block[1], block[2],
                                        shared_bytes, ToStream<Vendor>(stream), args, no_extra);
  }

  static void Fill(RuntimeApi& api) {
    api.module_load = ModuleLoad;
    api.module_function = ModuleFunction;
    api.launch = Launch;
  }
};

template <typename Vendor>
struct IpcFunctions {
  static Result MemoryHandle(void* self, void* ptr, IpcHandle* handle) {
    typename Vendor::IpcMemory made;
    const Result result =
        LibraryOf<Vendor>(self).Call(Vendor::kIpcGetMemory, &made, ToAddress<Vendor>(ptr));
    if (result == kCodeSuccess) ToIpcHandle(made, handle);
    return result;
  }

  static Result Close(void* self, void* ptr) {
    return LibraryOf<Vendor>(self).Call(Vendor::kIpcCloseMemory, ToAddress<Vendor>(ptr));
  }

  static Result EventHandle(void* self, NativeEvent event, IpcHandle* handle) {
    typename Vendor::IpcEvent made;
    const Result result =
        LibraryOf<Vendor>(self).Call(Vendor::kIpcGetEvent, &made, ToEvent<Vendor>(event));
    if (result == kCodeSuccess) ToIpcHandle(made, handle);
    return result;
  }

  static Result OpenEvent(void* self, const IpcHandle* handle, NativeEvent* event) {
    typename Vendor::Event opened;
    const Result result = LibraryOf<Vendor>(self).Call(
        Vendor::kIpcOpenEvent, &opened, FromIpcHandle<typename Vendor::IpcEvent>(*handle));
    if (result == kCodeSuccess) *event = opened;
    return result;
  }

  static void Fill(RuntimeApi& api) {
    api.ipc_memory_handle = MemoryHandle;
    api.ipc_close = Close;
    api.ipc_event_handle = EventHandle;
    api.ipc_open_event = OpenEvent;
  }
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_KERNEL_FUNCTIONS_H_
