// Imports tensors through DLPack.
//
//   absl::StatusOr<Tensor> x = FromDLPack(managed);   // DLManagedTensorVersioned* or legacy, or a
//                                                     // unique_ptr of either
//
// No copy: the tensor's Storage spans the bytes that the strides reach. It calls the producer's
// deleter when its last reference is dropped, on that thread. Sources: dlpack.h 1.3 and the array
// API standard's data interchange. parse.h has the checks.
//
// A managed tensor that this shared object exported is unwrapped: the new tensor shares the
// original Storage, so passing a tensor back and forth adds no layers.

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

// Takes ownership; on an error the deleter has run. InvalidArgument, with the reason, for an
// invalid tensor or nullptr. A legacy tensor is writable, because it has no read-only flag. Any
// thread.
absl::StatusOr<Tensor> FromDLPack(DLManagedTensorVersioned* managed);
absl::StatusOr<Tensor> FromDLPack(DLManagedTensor* managed);
inline absl::StatusOr<Tensor> FromDLPack(UniqueDLPack managed) {
  return FromDLPack(managed.release());
}
inline absl::StatusOr<Tensor> FromDLPack(UniqueDLPackLegacy managed) {
  return FromDLPack(managed.release());
}

// Takes ownership on success only. On an error the caller still owns `managed`, the deleter has not
// run, and `*tensor` is null.
absl::Status ImportDLPack(DLManagedTensorVersioned* managed, Tensor* tensor);
absl::Status ImportDLPack(DLManagedTensor* managed, Tensor* tensor);

// The same, with a function that calls the deleter when the last reference is dropped: for programs
// in which a deleter needs more than a call.
absl::Status ImportDLPack(DLManagedTensorVersioned* managed, void (*call_deleter)(void* managed),
                          Tensor* tensor);
absl::Status ImportDLPack(DLManagedTensor* managed, void (*call_deleter)(void* managed),
                          Tensor* tensor);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_DLPACK_IMPORT_H_
