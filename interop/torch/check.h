// Whether a tensor can be one of PyTorch's, for both of its interfaces (export.h, stable.h).

#ifndef DOVETAIL_INTEROP_TORCH_CHECK_H_
#define DOVETAIL_INTEROP_TORCH_CHECK_H_

#include <cstdint>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/refusal.h"
#include "dovetail/interop/torch/type_table.h"
#include "dovetail/interop/usable_strides.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_torch {

// The tensor's type and device in PyTorch's terms.
struct TorchFacts {
  TorchScalarType type{};
  TorchDeviceType device{};
  int8_t index = -1;          // -1 for the CPU, as PyTorch has it
  bool has_negative = false;  // strides, which lead to no element (interop/usable_strides.h)
};

[[gnu::cold]] inline absl::Status RefuseForTorch(const Tensor& tensor, absl::string_view reason,
                                                 absl::string_view remedy) {
  return internal_interop::Refusal(tensor, "a tensor of PyTorch", reason, remedy);
}

// FailedPrecondition if it cannot, with the reason and the remedy.
inline absl::Status CheckForTorch(const Tensor& tensor, bool allow_read_only, TorchFacts* facts) {
  if (tensor.is_null()) return RefuseForTorch(tensor, "", "Pass a tensor with memory");
  if (tensor.is_read_only() && !allow_read_only) {
    return RefuseForTorch(tensor, "it is read-only, and PyTorch has no read-only tensors",
                          "Pass Copied(tensor), or allow_read_only if nothing writes");
  }
  const std::optional<TorchScalarType> type = ToTorchType(tensor.dtype());
  if (!type || tensor.packing() != Packing::kPacked) {
    return RefuseForTorch(tensor, absl::StrCat("PyTorch has no such ", tensor.dtype().ToString()),
                          "Convert it with Copied(tensor, {.dtype = …})");
  }
  const Device device = tensor.device();
  const std::optional<TorchDeviceType> device_type = ToTorchDevice(device.type);
  if (!device_type || device.index > std::numeric_limits<int8_t>::max()) {
    return RefuseForTorch(tensor, "PyTorch does not know its device",
                          "Copy it to another device with Copied(tensor, {.device = …})");
  }
  *facts = {*type, *device_type};
  for (int i = 0; i < tensor.rank(); ++i) facts->has_negative |= tensor.layout().stride(i) < 0;
  if (facts->has_negative && internal_interop::StepsBack(tensor.layout())) {
    return RefuseForTorch(tensor, "PyTorch has no negative strides", "Pass Copied(tensor)");
  }
  if (*device_type != TorchDeviceType::CPU) facts->index = static_cast<int8_t>(device.index);
  return absl::OkStatus();
}

// The strides of such a tensor, in `*usable` if its own will not do.
inline absl::Span<const int64_t> StridesForTorch(const Tensor& tensor, const TorchFacts& facts,
                                                 internal_interop::UsableStrideList* usable) {
  if (!facts.has_negative) [[likely]]
    return tensor.strides();
  return *usable = internal_interop::UsableStrides(tensor.layout());
}

}  // namespace internal_torch
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TORCH_CHECK_H_
