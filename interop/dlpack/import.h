// Tensors in, over DLPack.
//
//   absl::StatusOr<Tensor> x = FromDLPack(managed);   // DLManagedTensorVersioned* or legacy, or a
//                                                     // unique_ptr of either
//
// No copy: the Tensor's Storage spans the bytes that the strides reach and calls the producer's
// deleter when its last reference is dropped, on whichever thread that is. Sources: dlpack.h 1.3
// and the array API standard's data interchange; the checks are in validate.h.
//
// A managed tensor that this shared object exported itself is unwrapped: its Storage is shared, so
// passing a tensor to and fro adds no layers.

#ifndef DOVETAIL_INTEROP_DLPACK_IMPORT_H_
#define DOVETAIL_INTEROP_DLPACK_IMPORT_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/managed.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Takes ownership, in failure too: the deleter has then run. InvalidArgument says what was wrong
// with the tensor, nullptr among it. A legacy one is writable, having no flag that says otherwise.
// Any thread.
absl::StatusOr<Tensor> FromDLPack(DLManagedTensorVersioned* managed);
absl::StatusOr<Tensor> FromDLPack(DLManagedTensor* managed);
inline absl::StatusOr<Tensor> FromDLPack(UniqueDLPack managed) {
  return FromDLPack(managed.release());
}
inline absl::StatusOr<Tensor> FromDLPack(UniqueDLPackLegacy managed) {
  return FromDLPack(managed.release());
}

// The same for callers that keep ownership until it works out: on an error nothing was taken and
// the deleter has not run, and `tensor` is null.
absl::Status ImportDLPack(DLManagedTensorVersioned* managed, Tensor* tensor);
absl::Status ImportDLPack(DLManagedTensor* managed, Tensor* tensor);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_DLPACK_IMPORT_H_
