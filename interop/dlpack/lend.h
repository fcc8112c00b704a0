// Managed tensors over memory that somebody lends: what ToDLPack makes, where there is no Tensor.
//
//   UniqueDLPack out = LendDLPack(view, {&DropOwner, owner});     // null: too many dimensions
//   SetRelease(out.get(), {&DropOwner, other});                   // while nobody has it yet
//
// One block holds all of it; the deleter calls the Release, on whichever thread the consumer calls
// it. For objects of other libraries that go to yet others: nothing is kept between.

#ifndef DOVETAIL_INTEROP_DLPACK_LEND_H_
#define DOVETAIL_INTEROP_DLPACK_LEND_H_

#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/interop/dlpack/managed.h"

namespace dovetail::inline DOVETAIL_ABI {

// `view` is one of host memory that an import would accept; its shape and strides are copied. Null
// for more than Layout::kInlineRank dimensions.
UniqueDLPack LendDLPack(const TensorView& view, Storage::Release release);

// Another Release for what LendDLPack gave.
void SetRelease(DLManagedTensorVersioned* lent, Storage::Release release);

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_INTEROP_DLPACK_LEND_H_
