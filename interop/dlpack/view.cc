#include "dovetail/interop/dlpack/view.h"

#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/interop/dlpack/validate.h"

namespace dovetail::inline DOVETAIL_ABI {

DLTensor ToDLTensor(const TensorView& view) {
  bool empty = false;
  for (int64_t size : view.shape) empty |= size == 0;
  const bool scalar = view.shape.empty();
  return {
      .data = empty ? nullptr : view.data,
      .device = ToDLDevice(view.device),
      .ndim = view.rank(),
      .dtype = ToDLDataType(view.dtype),
      .shape = scalar ? nullptr : const_cast<int64_t*>(view.shape.data()),
      .strides = scalar ? nullptr : const_cast<int64_t*>(view.strides.data()),
      .byte_offset = static_cast<uint64_t>(view.byte_offset),
  };
}

absl::Status FromDLTensor(const DLTensor& tensor, TensorView* view) {
  CheckedTensor checked;
  if (absl::Status s = Validate(tensor, /*flags=*/0, &checked, /*layout=*/nullptr); !s.ok()) {
    return s;
  }
  if (tensor.ndim > 0 && tensor.strides == nullptr) {
    return absl::InvalidArgumentError("This DLPack tensor has no strides (NULL) to borrow.");
  }
  const bool addressable = IsAddressable(checked.device.type);
  const auto rank = static_cast<size_t>(tensor.ndim);
  *view = {
      .data = addressable && checked.data != nullptr
                  ? static_cast<char*>(checked.data) + checked.byte_offset
                  : checked.data,
      .byte_offset = addressable ? 0 : checked.byte_offset,
      .device = checked.device,
      .dtype = checked.dtype,
      .shape = {tensor.shape, rank},
      .strides = {tensor.strides, rank},
  };
  return absl::OkStatus();
}

}  // namespace dovetail::inline DOVETAIL_ABI
