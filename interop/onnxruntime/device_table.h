// Converts between OrtMemoryInfo, which names a device's allocator, and Device. One table serves
// both directions.
//
//   absl::StatusOr<Device> d = DeviceFromOrt(memory_info);      // {"Cuda", 1}: Device::Cuda(1)
//
// Any thread.

#ifndef DOVETAIL_INTEROP_ONNXRUNTIME_DEVICE_TABLE_H_
#define DOVETAIL_INTEROP_ONNXRUNTIME_DEVICE_TABLE_H_

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/interop/onnxruntime/status.h"
#include "dovetail/interop/pair_table.h"
#include "dovetail/interop/refusal.h"
#include "onnxruntime_cxx_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_onnxruntime {

struct DeviceRow {
  DeviceType core;
  const char* name;  // as CreateMemoryInfo takes it
  OrtMemType mem_type;
};

DOVETAIL_NOT_SHARED inline constexpr DeviceRow kDevices[] = {
    {DeviceType::kCpu, "Cpu", OrtMemTypeDefault},
    {DeviceType::kCuda, "Cuda", OrtMemTypeDefault},
    {DeviceType::kCudaHost, "CudaPinned", OrtMemTypeCPUOutput},
    {DeviceType::kRocm, "Hip", OrtMemTypeDefault},
    {DeviceType::kRocmHost, "HipPinned", OrtMemTypeCPUOutput},
};

static_assert(internal_interop::IsBijection(kDevices, &DeviceRow::core, [](const DeviceRow& row) {
  return std::string_view(row.name);
}));

inline const DeviceRow* RowOf(DeviceType type) {
  const auto* row = std::ranges::find(kDevices, type, &DeviceRow::core);
  return row == std::end(kDevices) ? nullptr : row;
}

struct ReleaseMemoryInfo {
  void operator()(OrtMemoryInfo* info) const noexcept { Ort::GetApi().ReleaseMemoryInfo(info); }
};
using OwnedMemoryInfo = std::unique_ptr<OrtMemoryInfo, ReleaseMemoryInfo>;

// The device must be in the table.
inline absl::StatusOr<OwnedMemoryInfo> MakeMemoryInfo(Device device) {
  const DeviceRow& row = *RowOf(device.type);
  OrtMemoryInfo* info = nullptr;
  const int id = IsIndexed(device.type) ? device.index : 0;
  absl::Status status = TakeOrtStatus(
      Ort::GetApi().CreateMemoryInfo(row.name, OrtDeviceAllocator, id, row.mem_type, &info));
  if (!status.ok()) return status;
  return OwnedMemoryInfo(info);
}

// The CPU's, made once and never destroyed, so that values may be released while the process exits.
// Null if ONNX Runtime could not make it.
DOVETAIL_NOT_SHARED inline const OrtMemoryInfo* CpuMemoryInfo() {
  static const OrtMemoryInfo* const info = [] {
    absl::StatusOr<OwnedMemoryInfo> made = MakeMemoryInfo(Device::Cpu());
    return made.ok() ? made->release() : nullptr;
  }();
  return info;
}

}  // namespace internal_onnxruntime

// InvalidArgument for a device that is not in the table. Memory of any name is the CPU's if ONNX
// Runtime says that it is on the CPU.
inline absl::StatusOr<Device> DeviceFromOrt(const OrtMemoryInfo* info) {
  const OrtApi& api = Ort::GetApi();
  const char* name = nullptr;
  if (OrtStatus* error = api.MemoryInfoGetName(info, &name)) {
    return internal_onnxruntime::ErrorOf(error);
  }
  for (const internal_onnxruntime::DeviceRow& row : internal_onnxruntime::kDevices) {
    if (std::string_view(name) != row.name) continue;
    int id = 0;
    if (IsIndexed(row.core)) {
      if (OrtStatus* error = api.MemoryInfoGetId(info, &id)) {
        return internal_onnxruntime::ErrorOf(error);
      }
    }
    return Device{row.core, id};
  }
  OrtMemoryInfoDeviceType type;
  api.MemoryInfoGetDeviceType(info, &type);
  if (type == OrtMemoryInfoDeviceType_CPU) return Device::Cpu();
  return internal_interop::RefusalOf(absl::StrCat("an Ort::Value in memory \"", name, "\""),
                                     "Dovetail has no device for this memory",
                                     "Let the session put it on the CPU, as with "
                                     "Ort::IoBinding::BindOutput and the CPU's memory info");
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ONNXRUNTIME_DEVICE_TABLE_H_
