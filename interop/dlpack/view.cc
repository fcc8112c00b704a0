#include "dovetail/interop/dlpack/view.h"

#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/type_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

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
      .byte_offset = empty ? 0 : static_cast<uint64_t>(view.byte_offset),
  };
}

absl::Status internal_dlpack::NoStridesError() {
  return absl::InvalidArgumentError("This DLPack tensor has no strides (NULL) to borrow.");
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
