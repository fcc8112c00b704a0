// Converts between Arrow's device types and Device. One table serves both directions.
//
//   absl::StatusOr<Device> d = DeviceFromArrow(2, 1);      // cuda:1
//   absl::StatusOr<ArrowDeviceId> a = ArrowFromDevice(d);  // {2, 1}
//
// Arrow's specification takes its numbers from DLPack; a static_assert checks that. Devices that
// DLPack added later have no Arrow number. Source:
// arrow.apache.org/docs/format/CDeviceDataInterface.html. Any thread.

#ifndef DOVETAIL_INTEROP_ARROW_DEVICE_TABLE_H_
#define DOVETAIL_INTEROP_ARROW_DEVICE_TABLE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/interop/arrow/c_data.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct ArrowDeviceId {
  ArrowDeviceType type;
  int64_t id;
};

// InvalidArgument for a type that is not in Arrow's list and for an id that no device can have.
absl::StatusOr<Device> DeviceFromArrow(ArrowDeviceType type, int64_t id);

// The id is -1 for device types without an index. InvalidArgument for a type that Arrow lacks.
absl::StatusOr<ArrowDeviceId> ArrowFromDevice(Device device);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_DEVICE_TABLE_H_
