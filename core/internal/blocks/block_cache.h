// A bounded per-thread cache of small fixed-size blocks, for the objects that every exchange makes
// and destroys: Storage and the structs that DLPack consumers receive.
//
//   void* p = AllocateBlock<128>();      // from the cache, or from operator new
//   FreeBlock<128>(p);                   // into the cache of the thread that frees
//
// A block may be freed on another thread than it was allocated on. A thread keeps at most
// kBlocksPerThread blocks of a size and frees them when it ends. Under AddressSanitizer the cache
// is off, so that a use after free is detected.

#ifndef DOVETAIL_CORE_INTERNAL_BLOCKS_BLOCK_CACHE_H_
#define DOVETAIL_CORE_INTERNAL_BLOCKS_BLOCK_CACHE_H_

#include <cstddef>
#include <new>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_block_cache {

inline constexpr int kBlocksPerThread = 32;

struct FreeList {
  void* head;    // a free block holds the pointer to the next in its first bytes
  int room;      // how many more blocks it takes; 0 before the first use and after the thread's end
  bool started;  // whether Start was called for it
};

// The list of blocks of `kSize` bytes that this thread keeps. It is constant-initialised, so access
// needs no guard. It is initial-exec, so access from a shared object needs no call; its few bytes
// come from the static TLS that the dynamic linker reserves.
template <size_t kSize>
DOVETAIL_NOT_SHARED
    [[gnu::tls_model("initial-exec")]] inline thread_local constinit FreeList free_list{nullptr, 0,
                                                                                        false};

// Frees a block for which `list` has no room. The first call for a list opens it and arranges that
// it is emptied when this thread ends. Later calls pass the block to operator delete.
[[gnu::noinline]] void FreeWithoutRoom(FreeList& list, void* block) noexcept;

inline void Push(FreeList& list, void* block) noexcept {
  *static_cast<void**>(block) = list.head;
  list.head = block;
  --list.room;
}

}  // namespace internal_block_cache

template <size_t kSize>
inline void* AllocateBlock() {
  static_assert(kSize >= sizeof(void*));
  auto& list = internal_block_cache::free_list<kSize>;
  if (void* block = list.head; block != nullptr) [[likely]] {
    list.head = *static_cast<void**>(block);
    ++list.room;
    return block;
  }
  return ::operator new(kSize);
}

template <size_t kSize>
inline void FreeBlock(void* block) noexcept {
  auto& list = internal_block_cache::free_list<kSize>;
  if (list.room > 0) [[likely]] {
    internal_block_cache::Push(list, block);
  } else {
    internal_block_cache::FreeWithoutRoom(list, block);
  }
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_BLOCKS_BLOCK_CACHE_H_
