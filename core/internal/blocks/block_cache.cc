#include "dovetail/core/internal/blocks/block_cache.h"

#include "dovetail/core/internal/address_sanitizer.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_block_cache {
namespace {

constexpr int kMaxLists = 8;  // sizes of blocks in use

// Set when this thread's lists have been emptied. It is trivially destructible, so it can be read
// after that.
thread_local bool ended = false;

// Empties this thread's lists at its end. Blocks that are freed even later (by destructors of other
// thread-local objects) go straight to operator delete, since the lists then have no room.
struct ThreadEnd {
  FreeList* lists[kMaxLists];
  int count = 0;
  ~ThreadEnd() {
    ended = true;
    for (int i = 0; i < count; ++i) {
      lists[i]->room = 0;
      while (void* block = lists[i]->head) {
        lists[i]->head = *static_cast<void**>(block);
        ::operator delete(block);
      }
    }
  }
};

// Opens `list` at its first use. Returns whether it takes blocks from now on.
bool Start(FreeList& list) noexcept {
  list.started = true;
  if (kAddressSanitizer || ended) return false;
  static thread_local ThreadEnd end;
  if (end.count == kMaxLists) return false;
  end.lists[end.count++] = &list;
  list.room = kBlocksPerThread;
  return true;
}

}  // namespace

void FreeWithoutRoom(FreeList& list, void* block) noexcept {
  if (!list.started && Start(list)) {
    Push(list, block);
  } else {
    ::operator delete(block);
  }
}

}  // namespace internal_block_cache
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
