#include "dovetail/devices/rocm/runtime.h"

#include <cstdio>

#include "dovetail/devices/gpu/runtime/vendor_traits.h"
#include "dovetail/devices/rocm/architecture.h"
#include "dovetail/devices/rocm/library.h"
#include "dovetail/devices/rocm/runtime_parts.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

bool Load(void* self, std::string* reason) { return HipOf(self).Load(reason); }

Result DeviceCount(void* self, int* count) {
  *count = HipOf(self).device_count();
  return hipSuccess;
}

Result Version(void* self, int* runtime, int* driver) {
  *runtime = HipOf(self).version();
  *driver = HipOf(self).driver_version();
  return hipSuccess;
}

Result Info(void* self, int device, DeviceInfo* info) {
  HipLibrary& hip = HipOf(self);
  hipDevice_t handle;
  Result result = Call(self, &HipSymbols::hipDeviceGet, &handle, device);
  if (result != hipSuccess) return result;
  *info = {};
  const int name_size = sizeof(info->name), id_size = sizeof(info->pci_bus_id);
  result = Call(self, &HipSymbols::hipDeviceGetName, info->name, name_size, handle);
  if (result == hipSuccess) {
    result = Call(self, &HipSymbols::hipDeviceGetPCIBusId, info->pci_bus_id, id_size, device);
  }
  if (result == hipSuccess) {
    result = Call(self, &HipSymbols::hipDeviceTotalMem, &info->total_bytes, handle);
  }
  if (result != hipSuccess) return result;
  std::snprintf(info->architecture, sizeof(info->architecture), "%s",
                FindArchitecture(info->pci_bus_id, kKfdNodes).c_str());
  info->multiprocessors = hip.Attribute(device, hipDeviceAttributeMultiprocessorCount);
  info->has_pools = hip.HasPools(device);
  info->has_managed = hip.Attribute(device, hipDeviceAttributeManagedMemory) != 0 &&
                      hip.Attribute(device, hipDeviceAttributeConcurrentManagedAccess) != 0;
  info->maps_pinned_host = hip.Attribute(device, hipDeviceAttributeCanMapHostMemory) != 0;
  return hipSuccess;
}

ResultClass Classify(void*, Result result) { return ClassifyCode(result); }

const char* Describe(void* self, Result result) { return HipOf(self).Describe(result); }

// `*previous` is null when nothing was changed, else one more than the device that was current.
Result PushDevice(void* self, int device, void** previous) {
  int current = 0;
  Result result = Call(self, &HipSymbols::hipGetDevice, &current);
  if (result != hipSuccess) return result;
  *previous = nullptr;
  if (current == device) return hipSuccess;
  result = Call(self, &HipSymbols::hipSetDevice, device);
  if (result == hipSuccess) *previous = reinterpret_cast<void*>(intptr_t{current} + 1);
  return result;
}

Result PopDevice(void* self, void* previous) {
  if (previous == nullptr) return hipSuccess;
  const int device = static_cast<int>(reinterpret_cast<intptr_t>(previous) - 1);
  return Call(self, &HipSymbols::hipSetDevice, device);
}

RuntimeApi MakeApi() {
  RuntimeApi api;
  api.self = &HipLibrary::Get();
  api.vendor = &kRocmTraits;
  api.legacy_stream = NativeStream{0};
  api.per_thread_stream = NativeStream{2};  // hipStreamPerThread
  api.load = Load;
  api.device_count = DeviceCount;
  api.runtime_version = Version;
  api.device_info = Info;
  api.classify = Classify;
  api.describe = Describe;
  api.push_device = PushDevice;
  api.pop_device = PopDevice;
  FillHipMemory(api);
  FillHipStreams(api);
  FillHipKernels(api);
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
