// What Dovetail's own packages do with a Storage and its users do not: fast paths, and the transfer
// of what is released.
//
//   StorageRef s = StorageAccess::Adopt(data, nbytes, Device::Cpu(), release);   // inline
//   Storage* small = StorageAccess::TryTakeKept(100);                            // or nullptr

#ifndef DOVETAIL_CORE_INTERNAL_STORAGE_ACCESS_H_
#define DOVETAIL_CORE_INTERNAL_STORAGE_ACCESS_H_

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "dovetail/core/allocator.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/blocks/block_cache.h"
#include "dovetail/core/internal/blocks/small_blocks.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/trace/observed.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_storage {

class StorageAccess {
 public:
  // Storage::Adopt, inline: every import runs through it.
  static StorageRef Adopt(void* data, size_t nbytes, Device device, Release release) {
    return StorageRef::Take(new (AllocateBlock<sizeof(Storage)>())
                                Storage(data, nbytes, device, release));
  }

  // Storage::Allocate on the CPU from the small blocks that this thread keeps. nullptr if it keeps
  // none for `nbytes`, the CPU's backend does not use them, or a trace is on; then
  // Storage::Allocate decides. The caller has the only reference.
  static Storage* TryTakeKept(size_t nbytes) noexcept {
    if (!IsSmall(nbytes) || internal_trace::IsObserved()) [[unlikely]]
      return nullptr;
    SmallBlock* const block = TakeKeptSmallBlock(nbytes);
    return block == nullptr ? nullptr : In(block, nbytes);
  }

  static bool IsSmall(size_t nbytes) {
    return IsSmallSize(nbytes) && host_gives_small_blocks.load(std::memory_order_acquire);
  }

  // The Storage in the block's header, with one reference. It is constructed at the block's first
  // use and stays there; later uses only restart it.
  static Storage* In(SmallBlock* block, size_t nbytes) {
    static_assert(sizeof(Storage) <= sizeof(block->header));
    static_assert(std::is_trivially_destructible_v<Storage>);
    if (!block->has_header) [[unlikely]] {
      auto* storage = new (block->header) Storage(block->data(), 0, Device::Cpu(), {});
      storage->owner_ = Storage::Owner::kSmallBlock;
      block->has_header = true;
    }
    auto* storage = std::launder(reinterpret_cast<Storage*>(block->header));
    storage->refs_.Restart();
    storage->nbytes_ = nbytes;
    return storage;
  }

  // A copy of `ref`, cheaper if it is the only reference. No other thread may copy `ref` meanwhile.
  static StorageRef CopyUnshared(const StorageRef& ref) {
    if (ref) ref->refs_.AddUnshared();
    return StorageRef::Take(ref.get());
  }

  // Whether new memory is all zeros, because its allocator gives such memory.
  static bool GivesZeros(const Storage& storage) {
    return storage.owner_ == Storage::Owner::kAllocator &&
           storage.allocator_->GivesZeros(storage.nbytes_);
  }

  // Sets what is called at the end of adopted memory. Nobody else may have a reference yet.
  static void SetRelease(Storage& storage, Release release) { storage.release_ = release; }

  // Takes what is to be called at the end out of the Storage; the caller calls it once the Storage
  // is gone. A null function if the memory is not lent, has uses, or has other references.
  static Release TakeRelease(Storage& storage) {
    if (storage.refs_.value() != 1 || storage.owner_ != Storage::Owner::kLender ||
        storage.uses() != nullptr) {
      return {};
    }
    return std::exchange(storage.release_, {});
  }
};

}  // namespace internal_storage
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_STORAGE_ACCESS_H_
