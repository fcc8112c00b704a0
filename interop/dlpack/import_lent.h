// Imports a borrowed DLTensor. The producer lends the memory; `release` gives it back.
//
//   Tensor x;
//   absl::Status s = ImportDLTensor(lent, /*flags=*/0, {&DropOwner, owner}, &x);
//
// Inline, because some exchange paths consist of this call alone.

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

// Copies the shape and the strides. Calls `release` when the last reference to the memory is
// dropped. `flags` are those of DLManagedTensorVersioned. On an error `release` is not called and
// `*out` is null.
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
