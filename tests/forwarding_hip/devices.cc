// Versions, errors, devices and access between them.

#include <cstring>
#include <string>

#include "dovetail/devices/cuda/runtime.h"
#include "tests/forwarding_hip/forward.h"

namespace forwarding_hip {

const RuntimeApi* Cuda() {
  static const RuntimeApi* const cuda = [] {
    const RuntimeApi& api = dovetail::gpu::CudaRuntimeApi();
    std::string reason;
    return api.load(api.self, &reason) ? &api : nullptr;
  }();
  return cuda;
}

int& CurrentDevice() {
  thread_local int device = 0;
  return device;
}

namespace {
thread_local hipError_t last_error = hipSuccess;
}

hipError_t Keep(int result) {
  // The numbers are the same (result_codes.h). HIP does not count "not ready" as an error.
  const auto error = static_cast<hipError_t>(result);
  if (error != hipSuccess && error != hipErrorNotReady) last_error = error;
  return error;
}

hipError_t TakeLastError() {
  const hipError_t error = last_error;
  last_error = hipSuccess;
  return error;
}

namespace {

// What CUDA knows of a device; hipErrorInvalidDevice where there is none.
hipError_t Describe(int device, dovetail::gpu::DeviceInfo* info) {
  const RuntimeApi* cuda = Cuda();
  if (cuda == nullptr) return Keep(hipErrorNoDevice);
  return Keep(cuda->device_info(cuda->self, device, info));
}

}  // namespace
}  // namespace forwarding_hip

using forwarding_hip::Cuda;
using forwarding_hip::CurrentDevice;
using forwarding_hip::Describe;
using forwarding_hip::Forward;
using forwarding_hip::Keep;
using forwarding_hip::RuntimeApi;

extern "C" {

hipError_t hipRuntimeGetVersion(int* version) {
  *version = 60200000;  // the numbers of memory types here are those of HIP 6
  return hipSuccess;
}
hipError_t hipDriverGetVersion(int* version) { return hipRuntimeGetVersion(version); }

const char* hipGetErrorName(hipError_t error) {
  const RuntimeApi* cuda = Cuda();
  return cuda != nullptr             ? cuda->describe(cuda->self, error)
         : error == hipErrorNoDevice ? "hipErrorNoDevice"
                                     : "an error, and no CUDA to name it";
}
const char* hipGetErrorString(hipError_t) { return "forwarded to CUDA"; }
hipError_t hipGetLastError() { return forwarding_hip::TakeLastError(); }

hipError_t hipGetDeviceCount(int* count) {
  const RuntimeApi* cuda = Cuda();
  if (cuda == nullptr) return Keep(hipErrorNoDevice);
  return Keep(cuda->device_count(cuda->self, count));
}
hipError_t hipGetDevice(int* device) {
  *device = CurrentDevice();
  return hipSuccess;
}
hipError_t hipSetDevice(int device) {
  int count = 0;
  if (hipError_t error = hipGetDeviceCount(&count); error != hipSuccess) return error;
  if (device < 0 || device >= count) return Keep(hipErrorInvalidDevice);
  CurrentDevice() = device;
  return hipSuccess;
}
hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  *device = ordinal;
  int count = 0;
  if (hipError_t error = hipGetDeviceCount(&count); error != hipSuccess) return error;
  return ordinal < 0 || ordinal >= count ? Keep(hipErrorInvalidDevice) : hipSuccess;
}
hipError_t hipDeviceGetName(char* name, int size, hipDevice_t device) {
  dovetail::gpu::DeviceInfo info;
  if (hipError_t error = Describe(device, &info); error != hipSuccess) return error;
  std::strncpy(name, info.name, size);
  return hipSuccess;
}
hipError_t hipDeviceGetPCIBusId(char* id, int size, int device) {
  dovetail::gpu::DeviceInfo info;
  if (hipError_t error = Describe(device, &info); error != hipSuccess) return error;
  std::strncpy(id, info.pci_bus_id, size);
  return hipSuccess;
}
hipError_t hipDeviceTotalMem(size_t* nbytes, hipDevice_t device) {
  dovetail::gpu::DeviceInfo info;
  if (hipError_t error = Describe(device, &info); error != hipSuccess) return error;
  *nbytes = info.total_bytes;
  return hipSuccess;
}
// Those that Dovetail asks for.
hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  dovetail::gpu::DeviceInfo info;
  if (hipError_t error = Describe(device, &info); error != hipSuccess) return error;
  switch (attribute) {
    case hipDeviceAttributeMultiprocessorCount:
      *value = info.multiprocessors;
      return hipSuccess;
    case hipDeviceAttributeMemoryPoolsSupported:
      *value = info.has_pools;
      return hipSuccess;
    case hipDeviceAttributeManagedMemory:
    case hipDeviceAttributeConcurrentManagedAccess:
      *value = info.has_managed;
      return hipSuccess;
    case hipDeviceAttributeCanMapHostMemory:
      *value = info.maps_pinned_host;
      return hipSuccess;
    default:
      return Keep(hipErrorInvalidValue);
  }
}

hipError_t hipDeviceSynchronize() { return Forward(&RuntimeApi::device_synchronize); }
hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  bool answer = false;
  const hipError_t error = Forward(&RuntimeApi::peer_can_access, device, peer, &answer);
  *can = answer;
  return error;
}
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned) {
  return Forward(&RuntimeApi::peer_enable, peer);
}

}  // extern "C"
