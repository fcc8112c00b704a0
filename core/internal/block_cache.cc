#include "dovetail/core/internal/block_cache.h"

#include "dovetail/core/internal/address_sanitizer.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_block_cache {
namespace {

constexpr int kMaxLists = 8;  // sizes of blocks in use

// Set when this thread's lists were emptied. Of trivial type, so that it can still be asked then.
thread_local bool ended = false;

// Empties this thread's lists at its end. What is freed later still (by destructors of other
// thread-local objects) goes straight to operator delete, since the lists then have no room.
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

// Whether `list`, which no block was freed into yet, takes any from now on.
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
