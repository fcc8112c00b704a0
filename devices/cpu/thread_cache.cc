#include "dovetail/devices/cpu/thread_cache.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "dovetail/core/address_sanitizer.h"
#include "dovetail/devices/cpu/bytes_setting.h"

namespace dovetail::inline DOVETAIL_ABI::internal_cpu {
namespace {

// What a thread keeps of each size at most, in bytes.
int64_t BytesKept() {
  static const int64_t bytes =
      std::min(BytesSetting("DOVETAIL_CPU_CACHE_BYTES", 256 << 10), int64_t{1} << 30);
  return kAddressSanitizer ? 0 : bytes;
}

std::atomic<int64_t> block_bytes{0};  // changed only where the system is asked

void* NewBlock(int size_class) noexcept {
  void* block = std::aligned_alloc(kAllocationAlignment, BlockSize(size_class));
  if (block != nullptr) {
    block_bytes.fetch_add(static_cast<int64_t>(BlockSize(size_class)), std::memory_order_relaxed);
  }
  return block;
}

void DeleteBlock(int size_class, void* block) noexcept {
  block_bytes.fetch_sub(static_cast<int64_t>(BlockSize(size_class)), std::memory_order_relaxed);
  std::free(block);
}

// The threads that have used their lists. Never destroyed.
class Threads {
 public:
  static Threads& Get() {
    static Threads* const threads = [] {
      auto* made = new Threads;
      // A child forked while another thread holds the mutex would find it locked for ever.
      pthread_atfork([] { Get().mutex_.lock(); }, [] { Get().mutex_.unlock(); }, &AfterFork);
      return made;
    }();
    return *threads;
  }

  void Add(ThreadCache& cache) {
    std::lock_guard lock(mutex_);
    live_.push_back(&cache);
  }
  // What a thread counted stays counted.
  void End(ThreadCache& cache) {
    std::lock_guard lock(mutex_);
    std::erase(live_, &cache);
    Fold(cache);
  }

  SmallStats Sum() {
    std::lock_guard lock(mutex_);
    SmallStats sum = ended_;
    for (const ThreadCache* cache : live_) {
      sum.allocated_bytes += cache->allocated_bytes.value();
      sum.allocations += cache->allocations.value();
    }
    return sum;
  }

 private:
  // A forked child has one thread.
  static void AfterFork() {
    Threads& threads = Get();
    std::erase_if(threads.live_, [&](ThreadCache* cache) {
      if (cache == &thread_cache) return false;
      threads.Fold(*cache);
      return true;
    });
    threads.mutex_.unlock();
  }
  void Fold(ThreadCache& cache) {
    ended_.allocated_bytes += cache.allocated_bytes.value();
    ended_.allocations += cache.allocations.value();
    cache.allocated_bytes.Add(-cache.allocated_bytes.value());
    cache.allocations.Add(-cache.allocations.value());
  }

  std::mutex mutex_;
  std::vector<ThreadCache*> live_;
  SmallStats ended_{};
};

void Empty(ThreadCache& cache) noexcept {
  for (int c = 0; c < kBlockSizes; ++c) {
    while (void* block = cache.free[c]) {
      cache.free[c] = *static_cast<void**>(block);
      if (cache.started) ++cache.room[c];
      DeleteBlock(c, block);
    }
  }
}

// Empties a thread's lists at its end. What it frees later still (in destructors of other
// thread-local objects) finds no room and goes straight back.
struct ThreadEnd {
  ~ThreadEnd() {
    ThreadCache& cache = thread_cache;
    Empty(cache);
    for (int& room : cache.room) room = 0;
    cache.ended = true;
    Threads::Get().End(cache);
  }
};

// Opens the lists on their first use.
void Start(ThreadCache& cache) {
  cache.started = true;
  static thread_local ThreadEnd end;
  (void)end;
  Threads::Get().Add(cache);
  cache.trims = trims.load(std::memory_order_relaxed);
  for (int c = 0; c < kBlockSizes; ++c) {
    cache.room[c] = static_cast<int>(BytesKept() / static_cast<int64_t>(BlockSize(c)));
  }
}

// Starts or empties the lists where one of the two is due.
void CatchUp(ThreadCache& cache) noexcept {
  if (!cache.started) {
    try {
      Start(cache);
    } catch (...) {  // no memory to note the thread: it keeps nothing
    }
  }
  if (const uint32_t now = trims.load(std::memory_order_relaxed); cache.trims != now) {
    cache.trims = now;
    Empty(cache);
  }
  if (cache.ended) Threads::Get().End(cache);
}

}  // namespace

void* AllocateSlow(ThreadCache& cache, int size_class, size_t nbytes) noexcept {
  CatchUp(cache);
  void* const block = NewBlock(size_class);
  if (block != nullptr) {
    cache.allocated_bytes.Add(static_cast<int64_t>(nbytes));
    cache.allocations.Add(1);
  }
  return block;
}

void FreeSlow(ThreadCache& cache, int size_class, void* block) noexcept {
  CatchUp(cache);
  if (cache.room[size_class] <= 0) return DeleteBlock(size_class, block);
  *static_cast<void**>(block) = cache.free[size_class];
  cache.free[size_class] = block;
  --cache.room[size_class];
}

SmallStats GetSmallStats() { return Threads::Get().Sum(); }

int64_t SmallBlockBytes() { return block_bytes.load(std::memory_order_relaxed); }

void TrimSmall() {
  trims.fetch_add(1, std::memory_order_relaxed);
  CatchUp(thread_cache);
}

}  // namespace dovetail::inline DOVETAIL_ABI::internal_cpu
