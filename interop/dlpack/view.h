// TensorView and DLTensor: the same borrowed tensor in two structs.
//
//   DLTensor d = ToDLTensor(tensor.view());        // valid while the tensor is
//   TensorView v; absl::Status s = FromDLTensor(d, &v);
//
// Nothing is owned on either side: shape and strides are pointed at, not copied.

#ifndef DOVETAIL_INTEROP_DLPACK_VIEW_H_
#define DOVETAIL_INTEROP_DLPACK_VIEW_H_

#include "absl/status/status.h"
#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor_view.h"

namespace dovetail::inline DOVETAIL_ABI {

// A DLTensor has no flags: that the view is read-only or padded is for the caller to keep.
DLTensor ToDLTensor(const TensorView& view);

// Checks as an import does. InvalidArgument, too, for NULL strides of a tensor with dimensions,
// since there is nothing that could own the strides which are meant.
absl::Status FromDLTensor(const DLTensor& tensor, TensorView* view);

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_INTEROP_DLPACK_VIEW_H_
