// Versions, errors, devices and access between them.

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "dovetail/devices/cuda/runtime.h"
#include "tests/forwarding_hip/forward.h"
#include "tests/forwarding_hip/owners.h"

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

// A number from the environment, or `otherwise`.
int Setting(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? static_cast<int>(std::strtol(text, nullptr, 10)) : otherwise;
}

// The number of CUDA's devices; 0 if they can't be counted.
int RealCount() {
  static const int count = [] {
    int counted = 0;
    const RuntimeApi* cuda = Cuda();
    return cuda != nullptr && cuda->device_count(cuda->self, &counted) == 0 ? counted : 0;
  }();
  return count;
}

int Count() {
  static const int count = Setting("DOVETAIL_FORWARDED_DEVICES", RealCount());
  return RealCount() == 0 ? 0 : count;
}

}  // namespace

int RealDevice(int device) { return device % std::max(RealCount(), 1); }

bool HavePeers() {
  static const bool have = Setting("DOVETAIL_FORWARDED_PEERS", 1) != 0;
  return have;
}

Owners& Memory() {
  static Owners* const owners = new Owners;
  return *owners;
}
Owners& Streams() {
  static Owners* const owners = new Owners;
  return *owners;
}
Owners& Events() {
  static Owners* const owners = new Owners;
  return *owners;
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
  if (device < 0 || device >= Count()) return Keep(hipErrorInvalidDevice);
  return Keep(cuda->device_info(cuda->self, RealDevice(device), info));
}

}  // namespace
}  // namespace forwarding_hip

using forwarding_hip::AreOneGpu;
using forwarding_hip::Cuda;
using forwarding_hip::CurrentDevice;
using forwarding_hip::Describe;
using forwarding_hip::Forward;
using forwarding_hip::HavePeers;
using forwarding_hip::Keep;
using forwarding_hip::RealDevice;
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
  const hipError_t error = Keep(cuda->device_count(cuda->self, count));
  if (error == hipSuccess) *count = forwarding_hip::Count();
  return error;
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
  // Devices that are one GPU are functions of it, so that each has an address of its own.
  const size_t length = strnlen(id, static_cast<size_t>(size));
  if (length > 0)
    id[length - 1] = static_cast<char>(id[length - 1] + device / forwarding_hip::RealCount());
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
  bool answer = HavePeers() && device != peer;
  const hipError_t error =
      AreOneGpu(device, peer)
          ? hipSuccess
          : Forward(&RuntimeApi::peer_can_access, RealDevice(device), RealDevice(peer), &answer);
  *can = answer;
  return error;
}
hipError_t hipDeviceEnablePeerAccess(int peer, unsigned) {
  if (!AreOneGpu(CurrentDevice(), peer)) {
    return Forward(&RuntimeApi::peer_enable, RealDevice(peer));
  }
  if (!HavePeers() || peer == CurrentDevice()) return Keep(hipErrorInvalidDevice);
  static std::mutex mutex;
  static auto* const enabled = new std::set<std::pair<int, int>>;
  std::lock_guard<std::mutex> lock(mutex);
  const bool is_new = enabled->insert({CurrentDevice(), peer}).second;
  return is_new ? hipSuccess : Keep(hipErrorPeerAccessAlreadyEnabled);
}

}  // extern "C"
