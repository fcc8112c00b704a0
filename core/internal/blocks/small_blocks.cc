#include "dovetail/core/internal/blocks/small_blocks.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "dovetail/core/internal/address_sanitizer.h"
#include "dovetail/core/internal/bytes_setting.h"
#include "dovetail/core/internal/exceptions.h"
#include "dovetail/core/internal/std_mutex.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

thread_local constinit internal_small_blocks::ThreadLists internal_small_blocks::thread_lists{};
constinit std::atomic<uint32_t> internal_small_blocks::trims{0};

namespace {

using internal_small_blocks::thread_lists;
using internal_small_blocks::ThreadLists;
using internal_small_blocks::trims;

// The most bytes of each size that a thread keeps.
int64_t BytesKept() {
  static const int64_t bytes =
      std::min(BytesSetting("DOVETAIL_CPU_CACHE_BYTES", 256 << 10), int64_t{1} << 30);
  return kAddressSanitizer ? 0 : bytes;
}

std::atomic<int64_t> reserved_bytes{0};  // changes only with aligned_alloc and free

constexpr size_t WholeBytes(int size_class) { return sizeof(SmallBlock) + SmallBytes(size_class); }

SmallBlock* NewBlock(int size_class) noexcept {
  const size_t nbytes = WholeBytes(size_class);
  void* memory = std::aligned_alloc(alignof(SmallBlock), nbytes);
  if (memory == nullptr) return nullptr;
  reserved_bytes.fetch_add(static_cast<int64_t>(nbytes), std::memory_order_relaxed);
  auto* block = new (memory) SmallBlock;
  GuardBytes(block->gap, sizeof(block->gap));
  return block;
}

void DeleteBlock(int size_class, SmallBlock* block) noexcept {
  reserved_bytes.fetch_sub(static_cast<int64_t>(WholeBytes(size_class)), std::memory_order_relaxed);
  std::free(block);
}

// The threads that have used their lists. Never destroyed.
class Threads {
 public:
  static Threads& Get() {
    static Threads* const threads = [] {
      auto* made = new Threads;
      HoldDuringForks<&Mutex, &AfterFork>();
      return made;
    }();
    return *threads;
  }

  void Add(ThreadLists& lists) {
    const StdMutexLock lock(mutex_);
    live_.push_back(&lists);
  }
  // Removes a thread that ends and keeps its counts.
  void End(ThreadLists& lists) {
    const StdMutexLock lock(mutex_);
    std::erase(live_, &lists);
    Fold(lists);
  }

  SmallBlockStats Sum() {
    const StdMutexLock lock(mutex_);
    SmallBlockStats sum = ended_;
    for (const ThreadLists* lists : live_) {
      sum.allocated_bytes += lists->allocated_bytes.value();
      sum.allocations += lists->allocations.value();
    }
    return sum;
  }

 private:
  static StdMutex& Mutex() { return Get().mutex_; }
  // A forked child has only the thread that forked. The counts of the others are kept.
  static void AfterFork() {
    Threads& threads = Get();
    threads.mutex_.AssertHeld();
    for (ThreadLists* lists : threads.live_) {
      if (lists != &thread_lists) threads.Fold(*lists);
    }
    std::erase_if(threads.live_, [](ThreadLists* lists) { return lists != &thread_lists; });
  }
  void Fold(ThreadLists& lists) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ended_.allocated_bytes += lists.allocated_bytes.value();
    ended_.allocations += lists.allocations.value();
    lists.allocated_bytes.Add(-lists.allocated_bytes.value());
    lists.allocations.Add(-lists.allocations.value());
  }

  StdMutex mutex_;
  std::vector<ThreadLists*> live_ ABSL_GUARDED_BY(mutex_);
  SmallBlockStats ended_ ABSL_GUARDED_BY(mutex_){};
};

void Empty(ThreadLists& lists) noexcept {
  for (int c = 0; c < kSmallSizes; ++c) {
    while (SmallBlock* block = lists.free[c]) {
      lists.free[c] = block->next;
      if (lists.started) ++lists.room[c];
      DeleteBlock(c, block);
    }
  }
}

// Empties a thread's lists at its end. Blocks that are freed even later (in destructors of other
// thread-local objects) find no room and go straight back to the system.
struct ThreadEnd {
  ~ThreadEnd() {
    ThreadLists& lists = thread_lists;
    Empty(lists);
    for (int& room : lists.room) room = 0;
    lists.ended = true;
    Threads::Get().End(lists);
  }
};

// Opens the lists on their first use.
void Start(ThreadLists& lists) {
  lists.started = true;
  static thread_local ThreadEnd end;
  (void)end;
  Threads::Get().Add(lists);
  lists.trims = trims.load(std::memory_order_relaxed);
  for (int c = 0; c < kSmallSizes; ++c) {
    lists.room[c] = static_cast<int>(BytesKept() / static_cast<int64_t>(SmallBytes(c)));
  }
}

// Starts or empties the lists if either is due.
void CatchUp(ThreadLists& lists) noexcept {
  if (!lists.started) {
    DOVETAIL_TRY { Start(lists); }
    DOVETAIL_CATCH(...) {  // no memory to register the thread: it keeps nothing
    }
  }
  if (const uint32_t now = trims.load(std::memory_order_relaxed); lists.trims != now) {
    lists.trims = now;
    Empty(lists);
  }
  if (lists.ended) Threads::Get().End(lists);
}

}  // namespace

namespace internal_small_blocks {

SmallBlock* TakeSlow(ThreadLists& lists, size_t nbytes) noexcept {
  CatchUp(lists);
  SmallBlock* const block = NewBlock(SmallSizeClass(nbytes));
  if (block != nullptr) lists.Count(nbytes);
  return block;
}

void GiveSlow(ThreadLists& lists, int size_class, SmallBlock* block) noexcept {
  CatchUp(lists);
  if (lists.room[size_class] <= 0) return DeleteBlock(size_class, block);
  lists.Keep(size_class, block);
}

}  // namespace internal_small_blocks

SmallBlockStats GetSmallBlockStats() { return Threads::Get().Sum(); }

int64_t ReservedSmallBytes() { return reserved_bytes.load(std::memory_order_relaxed); }

void TrimSmallBlocks() {
  trims.fetch_add(1, std::memory_order_relaxed);
  CatchUp(thread_lists);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
