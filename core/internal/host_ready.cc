#include "dovetail/core/internal/host_ready.h"

#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/storage.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

absl::Status internal_tensor::ReadyHost(const Tensor& tensor) {
  const Device device = tensor.device();
  if (device.type == DeviceType::kCpu) return absl::OkStatus();
  if (!IsHostAccessible(device.type)) return NotOnHostError(device);
  return FindServing(device.type) != nullptr ? tensor.storage()->Synchronize() : absl::OkStatus();
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
