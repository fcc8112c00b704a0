// Makes managed tensors over borrowed memory, without a Tensor.
//
//   UniqueDLPack out = LendDLPack(view, {&DropOwner, owner});     // null: too many dimensions
//   SetRelease(out.get(), {&DropOwner, other});                   // only before it is handed out
//
// For passing one library's object straight to another. One block holds the struct, the shape and
// the strides. The deleter calls the Release, on the consumer's thread. Inline, so that the whole
// conversion compiles to one function.

#ifndef DOVETAIL_INTEROP_DLPACK_LEND_H_
#define DOVETAIL_INTEROP_DLPACK_LEND_H_

#include <cstdint>
#include <type_traits>

#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/blocks/block_cache.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/managed.h"
#include "dovetail/interop/dlpack/type_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

namespace internal_dlpack {

struct LentBlock {
  DLManagedTensorVersioned managed;  // at offset 0
  Storage::Release release;
  int64_t dims[2 * Layout::kInlineRank];

  static LentBlock* Of(DLManagedTensorVersioned* managed) {
    return reinterpret_cast<LentBlock*>(managed);
  }
  static void Delete(DLManagedTensorVersioned* managed) noexcept {
    const Storage::Release release = Of(managed)->release;
    FreeBlock<sizeof(LentBlock)>(managed);
    release.function(release.context);
  }
};
static_assert(std::is_standard_layout_v<LentBlock>);

}  // namespace internal_dlpack

// `view` must be host memory that an import would accept. Copies its shape and strides. Null for
// more than Layout::kInlineRank dimensions.
[[gnu::always_inline]] inline UniqueDLPack LendDLPack(const TensorView& view,
                                                      Storage::Release release) {
  using internal_dlpack::LentBlock;
  const int rank = view.rank();
  if (rank > Layout::kInlineRank) return nullptr;
  auto* block = static_cast<LentBlock*>(AllocateBlock<sizeof(LentBlock)>());
  block->release = release;
  bool empty = false;
  for (int i = 0; i < rank; ++i) {
    empty |= view.shape[i] == 0;
    block->dims[i] = view.shape[i];
    block->dims[rank + i] = view.strides[i];
  }
  DLManagedTensorVersioned& managed = block->managed;
  managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed.manager_ctx = block;
  managed.deleter = &LentBlock::Delete;
  // Without branches or comparisons: no more instructions than the access alone would take.
  static_assert(static_cast<int>(Access::kReadOnly) == 1 &&
                static_cast<int>(Packing::kPadded) == 1);
  managed.flags = static_cast<uint64_t>(view.access) * DLPACK_FLAG_BITMASK_READ_ONLY +
                  static_cast<uint64_t>(view.packing) * DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
  DLTensor& d = managed.dl_tensor;  // member by member, as in export.cc
  d.data = empty ? nullptr : view.data;
  d.device = ToDLDevice(view.device);
  d.ndim = rank;
  d.dtype = ToDLDataType(view.dtype);
  d.shape = rank == 0 ? nullptr : block->dims;
  d.strides = rank == 0 ? nullptr : block->dims + rank;
  d.byte_offset = 0;
  return UniqueDLPack(&managed);
}

// Replaces the Release of a managed tensor that LendDLPack made.
inline void SetRelease(DLManagedTensorVersioned* lent, Storage::Release release) {
  internal_dlpack::LentBlock::Of(lent)->release = release;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_DLPACK_LEND_H_
