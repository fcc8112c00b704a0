#include "dovetail/interop/arrow/device_table.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

struct ArrowDevice {
  ArrowDeviceType arrow;
  DeviceType core;
};

constexpr ArrowDevice kDevices[] = {
    {1, DeviceType::kCpu},     {2, DeviceType::kCuda},         {3, DeviceType::kCudaHost},
    {4, DeviceType::kOpenCL},  {7, DeviceType::kVulkan},       {8, DeviceType::kMetal},
    {9, DeviceType::kVpi},     {10, DeviceType::kRocm},        {11, DeviceType::kRocmHost},
    {12, DeviceType::kExtDev}, {13, DeviceType::kCudaManaged}, {14, DeviceType::kOneApi},
    {15, DeviceType::kWebGpu}, {16, DeviceType::kHexagon},
};

// The device types that only DLPack has.
constexpr DeviceType kNotInArrow[] = {DeviceType::kMaia, DeviceType::kTrainium, DeviceType::kTpu,
                                      DeviceType::kTpuHost, DeviceType::kAscend};

constexpr DeviceType kAllDeviceTypes[] = {
#define DOVETAIL_DEVICE_TYPE(id, code, name, host, addressable, indexed) DeviceType::id,
#include "dovetail/core/internal/device_list.inc"
#undef DOVETAIL_DEVICE_TYPE
};

constexpr bool EachTypeStandsOnce() {
  for (DeviceType type : kAllDeviceTypes) {
    const auto there = std::ranges::count(kDevices, type, &ArrowDevice::core);
    if (there + std::ranges::count(kNotInArrow, type) != 1) return false;
  }
  return std::size(kDevices) + std::size(kNotInArrow) == std::size(kAllDeviceTypes);
}
static_assert(EachTypeStandsOnce());
static_assert(std::ranges::all_of(kDevices, [](const ArrowDevice& d) {
  return d.arrow == static_cast<ArrowDeviceType>(d.core);  // and so each number stands once, too
}));

constexpr int64_t kNoId = -1;

}  // namespace

absl::StatusOr<Device> DeviceFromArrow(ArrowDeviceType type, int64_t id) {
  const auto* found = std::ranges::find(kDevices, type, &ArrowDevice::arrow);
  if (found == std::end(kDevices)) {
    return absl::InvalidArgumentError(absl::StrCat("Arrow has no device type ", type, "."));
  }
  const bool indexed = IsIndexed(found->core);
  if (id < (indexed ? 0 : kNoId) || id > INT32_MAX) {
    return absl::InvalidArgumentError(absl::StrCat("No ", DeviceTypeName(found->core),
                                                   " device has the Arrow device id ", id, "."));
  }
  return Device{found->core, indexed ? static_cast<int32_t>(id) : 0};
}

absl::StatusOr<ArrowDeviceId> ArrowFromDevice(Device device) {
  const auto* found = std::ranges::find(kDevices, device.type, &ArrowDevice::core);
  if (found == std::end(kDevices)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "Arrow has no device type for ", device.ToString(), "; exchange over DLPack instead."));
  }
  return ArrowDeviceId{found->arrow, IsIndexed(device.type) ? device.index : kNoId};
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
