// The functions of RuntimeApi that load a vendor's library and describe its devices.
//
//   DeviceFunctions<CudaVendor>::Fill(api);
//
// `Vendor` has, besides what vendor_library.h needs: Library, the class of api.self; the symbols
// and attributes named below; and SetArchitecture(library, device, info), which writes
// info.architecture.

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_DEVICE_FUNCTIONS_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_DEVICE_FUNCTIONS_H_

#include <string>
#include <vector>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// The library behind RuntimeApi::self.
template <typename Vendor>
typename Vendor::Library& LibraryOf(void* self) {
  return *static_cast<typename Vendor::Library*>(self);
}

template <typename Vendor>
struct DeviceFunctions {
  static bool Load(void* self, std::string* reason) { return LibraryOf<Vendor>(self).Load(reason); }

  static Result Count(void* self, int* count) {
    *count = LibraryOf<Vendor>(self).device_count();
    return kCodeSuccess;
  }

  static Result Version(void* self, int* runtime, int* driver) {
    *runtime = LibraryOf<Vendor>(self).version();
    *driver = LibraryOf<Vendor>(self).driver_version();
    return kCodeSuccess;
  }

  static Result Info(void* self, int device, DeviceInfo* info) {
    typename Vendor::Library& library = LibraryOf<Vendor>(self);
    typename Vendor::Device handle;
    Result result = library.Call(Vendor::kDeviceGet, &handle, device);
    if (result != kCodeSuccess) return result;
    *info = {};
    const int name_size = sizeof(info->name), id_size = sizeof(info->pci_bus_id);
    char* const name = info->name;
    char* const id = info->pci_bus_id;
    result = library.Call(Vendor::kDeviceGetName, name, name_size, handle);
    if (result == kCodeSuccess) result = library.Call(Vendor::kDeviceGetPciId, id, id_size, handle);
    if (result == kCodeSuccess) {
      result = library.Call(Vendor::kDeviceTotalMemory, &info->total_bytes, handle);
    }
    if (result != kCodeSuccess) return result;
    Vendor::SetArchitecture(library, device, info);
    info->multiprocessors = library.GetAttribute(device, Vendor::kAttributeMultiprocessors);
    info->has_pools = library.HasPools(device);
    info->has_managed = library.GetAttribute(device, Vendor::kAttributeManaged) != 0 &&
                        library.GetAttribute(device, Vendor::kAttributeConcurrentManaged) != 0;
    info->maps_pinned_host = library.GetAttribute(device, Vendor::kAttributeMapsPinned) != 0;
    return kCodeSuccess;
  }

  static Result PeerCanAccess(void* self, int device, int peer, bool* can) {
    const typename Vendor::Library& library = LibraryOf<Vendor>(self);
    typename Vendor::Device from, to;
    Result result = library.Call(Vendor::kDeviceGet, &from, device);
    if (result == kCodeSuccess) result = library.Call(Vendor::kDeviceGet, &to, peer);
    int answer = 0;
    if (result == kCodeSuccess) {
      result = library.Call(Vendor::kDeviceCanAccessPeer, &answer, from, to);
    }
    if (result == kCodeSuccess) *can = answer != 0;
    return result;
  }

  static void LibraryFiles(void* self, std::vector<std::string>* files) {
    *files = LibraryOf<Vendor>(self).Files();
  }

  static ResultClass Classify(void*, Result result) { return ClassifyCode(result); }

  static const char* Describe(void* self, Result result) {
    return LibraryOf<Vendor>(self).Describe(result);
  }

  static void Fill(RuntimeApi& api) {
    api.load = Load;
    api.device_count = Count;
    api.runtime_version = Version;
    api.device_info = Info;
    api.peer_can_access = PeerCanAccess;
    api.classify = Classify;
    api.describe = Describe;
    api.library_files = LibraryFiles;
  }
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_DEVICE_FUNCTIONS_H_
