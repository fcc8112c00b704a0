// One heap block for each managed tensor that Dovetail exports. It holds the managed struct, the
// reference to the Storage, and the shape and strides that the struct points to.
//
// Internal to interop/dlpack: export makes blocks, and import recognises them by their deleter.

#ifndef DOVETAIL_INTEROP_DLPACK_EXPORT_BLOCK_H_
#define DOVETAIL_INTEROP_DLPACK_EXPORT_BLOCK_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/blocks/block_cache.h"
#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/storage.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_dlpack {

template <typename Managed>
struct ExportBlock {
  Managed managed;
  StorageRef storage;
  int64_t* large_dims;  // heap array if the rank exceeds Layout::kInlineRank, else nullptr
  int64_t small_dims[2 * Layout::kInlineRank];

  // Copies the shape and the strides, and sets `*dims` to the copy.
  static ExportBlock* New(StorageRef storage, const Layout& layout, int64_t** dims) {
    std::unique_ptr<int64_t[]> large_dims;
    if (layout.rank() > Layout::kInlineRank) large_dims.reset(new int64_t[2 * layout.rank()]);
    auto* block = static_cast<ExportBlock*>(AllocateBlock<sizeof(ExportBlock)>());
    new (&block->storage) StorageRef(std::move(storage));
    block->large_dims = large_dims.release();
    *dims = block->large_dims != nullptr ? block->large_dims : block->small_dims;
    internal_layout::CopyDims(layout, *dims);
    return block;
  }

  static void Free(ExportBlock* block) noexcept {
    block->storage.~StorageRef();
    delete[] block->large_dims;
    FreeBlock<sizeof(ExportBlock)>(block);
  }

  // The deleter of the managed struct. Its address identifies a struct that this library exported.
  static void Delete(Managed* managed) noexcept { Free(FromManaged(managed)); }
  // Delete() for a DeletionMark: manager_ctx points to its bool, which is set to true, unless it
  // points to the block.
  static void DeleteMarked(Managed* managed) noexcept {
    if (managed->manager_ctx != FromManaged(managed))
      *static_cast<bool*>(managed->manager_ctx) = true;
    Delete(managed);
  }
  static bool Owns(const Managed* managed) { return managed->deleter == &Delete; }
  static ExportBlock* FromManaged(Managed* managed) {
    return reinterpret_cast<ExportBlock*>(managed);
  }
};
static_assert(std::is_standard_layout_v<ExportBlock<DLManagedTensor>>);  // managed is at offset 0
static_assert(std::is_standard_layout_v<ExportBlock<DLManagedTensorVersioned>>);

}  // namespace internal_dlpack
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_DLPACK_EXPORT_BLOCK_H_
