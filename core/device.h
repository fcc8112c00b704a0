// Device: where memory lives. A type (CPU, CUDA, …) and an index.
//
//   Device d = Device::Cuda(1);
//   d.ToString()                     // "cuda:1"
//   Device::Parse("cuda:1")          // the same device; "cuda" is "cuda:0"
//   IsHostAccessible(d.type)         // false
//
// A device type outside the list is legal, since DLPack adds codes over time. Its memory passes
// through Dovetail untouched, as an opaque handle. It prints as "device(42):0".

#ifndef DOVETAIL_CORE_DEVICE_H_
#define DOVETAIL_CORE_DEVICE_H_

#include <bit>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

enum class DeviceType : int32_t {
#define DOVETAIL_DEVICE_TYPE(id, code, name, host, addressable, indexed) id = code,
#include "dovetail/core/internal/device_list.inc"
#undef DOVETAIL_DEVICE_TYPE
};

// Whether plain loads and stores of the CPU reach memory of this type. False for unlisted types.
constexpr bool IsHostAccessible(DeviceType type) {
  switch (type) {
#define DOVETAIL_DEVICE_TYPE(id, code, name, host, addressable, indexed) \
  case DeviceType::id:                                                   \
    return host;
#include "dovetail/core/internal/device_list.inc"
#undef DOVETAIL_DEVICE_TYPE
  }
  return false;
}

// Whether `data` of this type is a pointer that byte offsets may be added to, rather than an opaque
// handle. False for unlisted types.
constexpr bool IsAddressable(DeviceType type) {
  switch (type) {
#define DOVETAIL_DEVICE_TYPE(id, code, name, host, addressable, indexed) \
  case DeviceType::id:                                                   \
    return addressable;
#include "dovetail/core/internal/device_list.inc"
#undef DOVETAIL_DEVICE_TYPE
  }
  return false;
}

// Whether the index distinguishes devices of this type. Host memory is one place, whatever its
// index (DLPack: device_id is 0 for CPU, pinned and managed memory). True for unlisted types.
constexpr bool IsIndexed(DeviceType type) {
  switch (type) {
#define DOVETAIL_DEVICE_TYPE(id, code, name, host, addressable, indexed) \
  case DeviceType::id:                                                   \
    return indexed;
#include "dovetail/core/internal/device_list.inc"
#undef DOVETAIL_DEVICE_TYPE
  }
  return true;
}

// "cpu", "cuda", …; "device(42)" for a type outside the list.
std::string DeviceTypeName(DeviceType type);

struct Device {
  DeviceType type = DeviceType::kCpu;
  int32_t index = 0;

  static constexpr Device Cpu() { return {DeviceType::kCpu, 0}; }
  static constexpr Device Cuda(int32_t index) { return {DeviceType::kCuda, index}; }
  static constexpr Device Rocm(int32_t index) { return {DeviceType::kRocm, index}; }

  // "cpu", "cuda:1", "device(42):0". InvalidArgument, with what is accepted, for anything else.
  static absl::StatusOr<Device> Parse(std::string_view text);

  // The text that Parse reads. The index is omitted if it is 0 and the type is not indexed.
  std::string ToString() const;

  // One comparison of 64 bits. The default would compare one member after the other (g++).
  friend constexpr bool operator==(Device a, Device b) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  }
  template <typename H>
  friend H AbslHashValue(H h, Device d) {
    return H::combine(std::move(h), d.type, d.index);
  }
  template <typename Sink>
  friend void AbslStringify(Sink& sink, Device d) {
    sink.Append(d.ToString());
  }
  friend std::ostream& operator<<(std::ostream& os, Device d) { return os << d.ToString(); }
};
static_assert(sizeof(Device) == 8);

// The device whose streams order the work on memory of `device`. For pinned and managed host memory
// it is the vendor's first device, else the device itself.
constexpr Device StreamDevice(Device device) {
  switch (device.type) {
    case DeviceType::kCudaHost:
    case DeviceType::kCudaManaged:
      return Device::Cuda(0);
    case DeviceType::kRocmHost:
      return Device::Rocm(0);
    default:
      return device;
  }
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_DEVICE_H_
