#include "dovetail/interop/dlpack/lend.h"

#include <cstdint>
#include <type_traits>

#include "dovetail/core/block_cache.h"
#include "dovetail/core/layout.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/type_table.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace {

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

}  // namespace

UniqueDLPack LendDLPack(const TensorView& view, Storage::Release release) {
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
  managed.flags = view.access == Access::kReadOnly ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  DLTensor& d = managed.dl_tensor;  // field by field, as in export.cc
  d.data = empty ? nullptr : view.data;
  d.device = ToDLDevice(view.device);
  d.ndim = rank;
  d.dtype = ToDLDataType(view.dtype);
  d.shape = rank == 0 ? nullptr : block->dims;
  d.strides = rank == 0 ? nullptr : block->dims + rank;
  d.byte_offset = 0;
  return UniqueDLPack(&managed);
}

void SetRelease(DLManagedTensorVersioned* lent, Storage::Release release) {
  LentBlock::Of(lent)->release = release;
}

}  // namespace dovetail::inline DOVETAIL_ABI
