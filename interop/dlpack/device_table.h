// Converts between DLDevice and Device. One table serves both directions.
//
//   DLDevice d = ToDLDevice(Device::Cuda(1));   // {kDLCUDA, 1}
//   Device e = ToDevice(d);
//
// Both enumerations use the same numbers (checked by static_assert below), so a conversion is a
// cast. A device code that dlpack.h does not list passes through unchanged.

#ifndef DOVETAIL_INTEROP_DLPACK_DEVICE_TABLE_H_
#define DOVETAIL_INTEROP_DLPACK_DEVICE_TABLE_H_

#include <iterator>

#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/interop/dlpack/bijection.h"
#include "dovetail/interop/dlpack/newer_codes.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct DeviceCodePair {
  DLDeviceType dlpack;
  DeviceType core;
};

DOVETAIL_NOT_SHARED inline constexpr DeviceCodePair kDeviceCodes[] = {
    {kDLCPU, DeviceType::kCpu},
    {kDLCUDA, DeviceType::kCuda},
    {kDLCUDAHost, DeviceType::kCudaHost},
    {kDLOpenCL, DeviceType::kOpenCL},
    {kDLVulkan, DeviceType::kVulkan},
    {kDLMetal, DeviceType::kMetal},
    {kDLVPI, DeviceType::kVpi},
    {kDLROCM, DeviceType::kRocm},
    {kDLROCMHost, DeviceType::kRocmHost},
    {kDLExtDev, DeviceType::kExtDev},
    {kDLCUDAManaged, DeviceType::kCudaManaged},
    {kDLOneAPI, DeviceType::kOneApi},
    {kDLWebGPU, DeviceType::kWebGpu},
    {kDLHexagon, DeviceType::kHexagon},
    {kDLMAIA, DeviceType::kMaia},
    {kDLTrn, DeviceType::kTrainium},
    {kDLTPU, DeviceType::kTpu},
    {kDLTPUHost, DeviceType::kTpuHost},
    {kDLAscend, DeviceType::kAscend},
};

DOVETAIL_NOT_SHARED inline constexpr DeviceType kAllDeviceTypes[] = {
#define DOVETAIL_DEVICE_TYPE(id, code, name, host, addressable, indexed) DeviceType::id,
#include "dovetail/core/internal/device_list.inc"
#undef DOVETAIL_DEVICE_TYPE
};
static_assert(std::size(kDeviceCodes) == std::size(kAllDeviceTypes), "a type is not in the table");
static_assert(internal_dlpack::IsBijection(kDeviceCodes));
static_assert(internal_dlpack::NumbersAgree(kDeviceCodes));

// Device types without an index (CPU, pinned, managed) get index 0 on export and on import. (The
// CPU is tested first, because most tensors are there.)
static_assert(!IsIndexed(DeviceType::kCpu));
constexpr DLDevice ToDLDevice(Device d) {
  if (d.type == DeviceType::kCpu) [[likely]]
    return {kDLCPU, 0};
  return {static_cast<DLDeviceType>(d.type), IsIndexed(d.type) ? d.index : 0};
}

constexpr Device ToDevice(DLDevice d) {
  const auto type = static_cast<DeviceType>(d.device_type);
  if (type == DeviceType::kCpu) [[likely]]
    return Device::Cpu();
  return {type, IsIndexed(type) ? d.device_id : 0};
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_DLPACK_DEVICE_TABLE_H_
