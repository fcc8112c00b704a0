// Converts between TensorView and DLTensor, two structs for a borrowed tensor.
//
//   DLTensor d = ToDLTensor(tensor.view());        // valid while the tensor is
//   absl::StatusOr<TensorView> v = FromDLTensor(d);
//
// Neither owns anything: the result points to the source's shape and strides. FromDLTensor is
// inline, because some exchange paths consist of little else.

#ifndef DOVETAIL_INTEROP_DLPACK_VIEW_H_
#define DOVETAIL_INTEROP_DLPACK_VIEW_H_

#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/interop/dlpack/validate.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// A DLTensor has no flags: the caller must pass on whether the view is read-only or padded.
DLTensor ToDLTensor(const TensorView& view);

namespace internal_dlpack {
[[gnu::cold]] absl::Status NoStridesError();
}  // namespace internal_dlpack

// Performs the checks of an import. InvalidArgument also for NULL strides of a tensor with
// dimensions, because nothing could own the row-major strides that they stand for.
[[gnu::always_inline]] inline absl::Status FromDLTensor(const DLTensor& tensor, TensorView* view) {
  CheckedTensor checked;
  const Defect defect = FindDefect(tensor, /*flags=*/0, &checked);
  if (defect != Defect::kNone) [[unlikely]]
    return DefectError(defect, tensor, /*flags=*/0);
  if (tensor.ndim > 0 && tensor.strides == nullptr) return internal_dlpack::NoStridesError();
  const auto rank = static_cast<size_t>(tensor.ndim);
  view->device = checked.device;
  view->dtype = checked.dtype;
  view->shape = {tensor.shape, rank};
  view->strides = {tensor.strides, rank};
  view->access = checked.options.access;
  view->packing = checked.options.packing;
  view->data = checked.data;
  view->byte_offset = checked.byte_offset;
  if (checked.data != nullptr && IsAddressable(checked.device.type)) {
    view->data = static_cast<char*>(checked.data) + checked.byte_offset;
    view->byte_offset = 0;
  }
  return absl::OkStatus();
}

// The same as a value.
inline absl::StatusOr<TensorView> FromDLTensor(
    const DLTensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  absl::StatusOr<TensorView> view{TensorView()};
  if (absl::Status s = FromDLTensor(tensor, &*view); !s.ok()) view = std::move(s);
  return view;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_DLPACK_VIEW_H_
