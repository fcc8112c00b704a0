// Tensors in, by a DLTensor that its producer only lends: nothing is handed over but the right to
// use the memory, and `release` says how that ends.
//
//   Tensor x;
//   absl::Status s = ImportDLTensor(lent, /*flags=*/0, {&DropOwner, owner}, &x);
//
// Inline, for the doors that are nothing but this call.

#ifndef DOVETAIL_INTEROP_DLPACK_IMPORT_LENT_H_
#define DOVETAIL_INTEROP_DLPACK_IMPORT_LENT_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/storage_access.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/validate.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// A tensor that its producer only lends: shape and strides are copied during the call, and the
// memory is given back by calling `release`. `flags` are those of DLManagedTensorVersioned. On an
// error `release` is not called, and `*out` is null.
[[gnu::always_inline]] inline absl::Status ImportDLTensor(const DLTensor& lent, uint64_t flags,
                                                          Storage::Release release, Tensor* out) {
  internal_tensor::TensorBuilder tensor(out);
  CheckedTensor checked;
  const Defect defect = FindDefect(lent, flags, &checked, tensor.layout());
  if (defect != Defect::kNone) [[unlikely]]
    return DefectError(defect, lent, flags);
  StorageRef storage =
      internal_storage::StorageAccess::Adopt(checked.data, checked.nbytes, checked.device, release);
  tensor.Finish(std::move(storage), checked.byte_offset, checked.dtype, checked.options);
  return absl::OkStatus();
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_DLPACK_IMPORT_LENT_H_
