// Versions, errors and devices.

#include <cstdio>
#include <cstring>

#include "dovetail/devices/cuda/testing/driver/cuda_call.h"

namespace vendor_driver {
namespace {

struct NamedError {
  CUresult error;
  const char* name;
  const char* text;
};
// Those that programs and tests meet.
constexpr NamedError kErrors[] = {
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", nullptr},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
};

NamedError Find(CUresult error) {
  for (const NamedError& known : kErrors) {
    if (known.error == error) return known;
  }
  return {error, nullptr, nullptr};
}

int Compute(const DeviceInfo& info, bool is_major) {
  int number = 90;
  std::sscanf(info.architecture, "sm_%d", &number);
  return is_major ? number / 10 : number % 10;
}

int Attribute(const DeviceInfo& info, CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return Compute(info, true);
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return Compute(info, false);
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return info.multiprocessors;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return info.has_pools;
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
      return 1;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
      return info.has_managed;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
      return info.maps_pinned_host;
    default:
      return 0;
  }
}

}  // namespace

extern "C" {

CUresult cuDriverGetVersion(int* version) {
  *version = GetBacking().version;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = Find(error).name;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = Find(error).text;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  return CudaCall("cuDeviceGetCount").Ask(&RuntimeApi::device_count, count);
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return Describe(CudaCall(), ordinal, device, [=](const DeviceInfo&) { return ordinal; });
}
CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  return DescribeText(CudaCall(), device, &DeviceInfo::name, name, size);
}
CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice device) {
  return DescribeText(CudaCall(), device, &DeviceInfo::pci_bus_id, id, size);
}
CUresult cuDeviceTotalMem_v2(size_t* nbytes, CUdevice device) {
  return Describe(CudaCall(), device, nbytes,
                  [](const DeviceInfo& info) { return info.total_bytes; });
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return Describe(CudaCall(), device, value,
                  [=](const DeviceInfo& info) { return Attribute(info, attribute); });
}
CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  bool answer = false;
  const CUresult error = CudaCall("cuDeviceCanAccessPeer", device, peer)
                             .Ask(&RuntimeApi::peer_can_access, device, peer, &answer);
  *can = answer;
  return error;
}

}  // extern "C"

}  // namespace vendor_driver
