// Versions, errors, devices and access between them.

#include "dovetail/devices/rocm/testing/driver/hip_call.h"

namespace vendor_driver {
namespace {

thread_local hipError_t last_error = hipSuccess;

}  // namespace

int& Hip::Current() {
  thread_local int device = 0;
  return device;
}

hipError_t Hip::Returned(hipError_t error) {
  if (error != hipSuccess && error != hipErrorNotReady) last_error = error;
  return error;
}

namespace {

// Those that Dovetail asks for.
int Attribute(const DeviceInfo& info, hipDeviceAttribute_t attribute) {
  switch (attribute) {
    case hipDeviceAttributeMultiprocessorCount:
      return info.multiprocessors;
    case hipDeviceAttributeMemoryPoolsSupported:
      return info.has_pools;
    case hipDeviceAttributeManagedMemory:
    case hipDeviceAttributeConcurrentManagedAccess:
      return info.has_managed;
    case hipDeviceAttributeCanMapHostMemory:
      return info.maps_pinned_host;
    default:
      return 0;
  }
}

hipError_t CheckDevice(int device) {
  int count = 0;
  const hipError_t error = HipCall().Ask(&RuntimeApi::device_count, &count);
  if (error != hipSuccess) return error;
  return device < 0 || device >= count ? Hip::Returned(hipErrorInvalidDevice) : hipSuccess;
}

}  // namespace

extern "C" {

hipError_t hipRuntimeGetVersion(int* version) {
  *version = GetBacking().version;
  return hipSuccess;
}
// That of the kernel's driver, which has numbers of its own.
hipError_t hipDriverGetVersion(int* version) {
  *version = 7;
  return hipSuccess;
}
const char* hipGetErrorName(hipError_t error) {
  const RuntimeApi* api = GetBacking().api;
  return error == hipErrorOutOfMemory                 ? "hipErrorOutOfMemory"
         : error == hipErrorNoDevice                  ? "hipErrorNoDevice"
         : api != nullptr && api->describe != nullptr ? api->describe(api->self, error)
                                                      : nullptr;
}
const char* hipGetErrorString(hipError_t error) {
  return error == hipErrorOutOfMemory ? "out of memory" : nullptr;
}
hipError_t hipGetLastError() {
  const HipCall call("hipGetLastError");
  const hipError_t error = last_error;
  last_error = hipSuccess;
  return error;
}

hipError_t hipGetDeviceCount(int* count) { return HipCall().Ask(&RuntimeApi::device_count, count); }
hipError_t hipGetDevice(int* device) { return Hip::GetDevice(device); }
hipError_t hipSetDevice(int device) {
  if (const hipError_t error = CheckDevice(device); error != hipSuccess) return error;
  return HipCall("hipSetDevice", device).Do([&](const RuntimeApi&) {
    Hip::Current() = device;
    return hipSuccess;
  });
}
// Some versions call only the current device active, as here.
hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned* flags, int* active) {
  *flags = 0;
  *active = device == Hip::Current();
  return HipCall("hipDevicePrimaryCtxGetState", device).Do([](const RuntimeApi&) {
    return hipSuccess;
  });
}
hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  *device = ordinal;
  return CheckDevice(ordinal);
}
hipError_t hipDeviceGetName(char* name, int size, hipDevice_t device) {
  return DescribeText(HipCall(), device, &DeviceInfo::name, name, size);
}
hipError_t hipDeviceGetPCIBusId(char* id, int size, int device) {
  return DescribeText(HipCall(), device, &DeviceInfo::pci_bus_id, id, size);
}
hipError_t hipDeviceTotalMem(size_t* nbytes, hipDevice_t device) {
  return Describe(HipCall(), device, nbytes,
                  [](const DeviceInfo& info) { return info.total_bytes; });
}
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return Describe(HipCall(), device, value,
                  [=](const DeviceInfo& info) { return Attribute(info, attribute); });
}
hipError_t hipDeviceSynchronize() {
  return HipCall("hipDeviceSynchronize").On(&RuntimeApi::device_synchronize);
}

hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  bool answer = false;
  const hipError_t error = HipCall("hipDeviceCanAccessPeer", device, peer)
                               .Ask(&RuntimeApi::peer_can_access, device, peer, &answer);
  *can = answer;
  return error;
}
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return HipCall("hipDeviceEnablePeerAccess", peer, flags).On(&RuntimeApi::peer_enable, peer);
}

}  // extern "C"

}  // namespace vendor_driver
