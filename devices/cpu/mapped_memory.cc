#include "dovetail/devices/cpu/mapped_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <string_view>
#include <type_traits>

#include "absl/base/thread_annotations.h"
#include "dovetail/core/internal/address_sanitizer.h"
#include "dovetail/core/internal/bytes_setting.h"
#include "dovetail/core/internal/std_mutex.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_cpu {
namespace {

// The most bytes that are cached.
size_t MostKept() {
  static const auto bytes = static_cast<size_t>(
      kAddressSanitizer ? 0 : BytesSetting("DOVETAIL_CPU_LARGE_CACHE_BYTES", 64 << 20));
  return bytes;
}

bool UseHugePages() {
  static const bool use = [] {
    const char* text = std::getenv("DOVETAIL_CPU_HUGE_PAGES");
    return text == nullptr || std::string_view(text) != "0";
  }();
  return use;
}

constexpr size_t RoundUp(size_t nbytes, size_t multiple) {
  return (nbytes + multiple - 1) / multiple * multiple;
}

// The bytes that are mapped for `nbytes`. If the mapping can be cached, up to an eighth more, so
// that tensors of about the same size can reuse it; pages that are never written take no memory.
size_t MappedSize(size_t nbytes) {
  const size_t rounded = RoundUp(nbytes, std::bit_floor(nbytes) / 8);
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return rounded <= MostKept() ? rounded : RoundUp(nbytes, page);
}

struct Block {
  void* data;
  size_t size;  // MappedSize of the bytes that were asked for
};

void Unmap(Block block) noexcept { munmap(block.data, block.size); }

// nullptr if there is no memory.
void* Map(size_t size) noexcept {
  const auto map = [](size_t size) {
    void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return data == MAP_FAILED ? uintptr_t{0} : reinterpret_cast<uintptr_t>(data);
  };
  const auto unmap = [](uintptr_t begin, uintptr_t end) {
    if (begin != end) munmap(reinterpret_cast<void*>(begin), end - begin);
  };
  uintptr_t begin = map(size);
  if (begin % kHugePage != 0) {
    // Before Linux 6.7 mappings are not aligned to huge pages: map more, and unmap the ends.
    unmap(begin, begin + size);
    const uintptr_t from = map(size + kHugePage);
    if (from == 0) return nullptr;
    begin = RoundUp(from, kHugePage);
    unmap(from, begin);
    unmap(begin + size, from + size + kHugePage);
  }
  auto* data = reinterpret_cast<void*>(begin);
#ifdef MADV_HUGEPAGE
  // Only a hint: without huge pages the system uses small ones.
  if (data != nullptr && UseHugePages()) madvise(data, size, MADV_HUGEPAGE);
#endif
  return data;
}

// The cache of the process, which is never destroyed.
class Kept {
 public:
  static Kept& Get() {
    static constinit Kept kept;
    [[maybe_unused]] static const bool arranged = [] {
      HoldDuringForks<&Mutex>();
      return true;
    }();
    return kept;
  }

  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

  // The block of exactly `size` bytes that was freed last, which the processor's caches may still
  // hold; or nullptr.
  void* Take(size_t size) {
    const StdMutexLock lock(mutex_);
    for (int i = count_ - 1; i >= 0; --i) {
      if (blocks_[i].size == size) return Remove(i).data;
    }
    return nullptr;
  }

  // Adds `block`, of MostKept() bytes at most. The oldest blocks make room for it.
  void Put(Block block) {
    Unmapped oldest;
    const StdMutexLock lock(mutex_);
    TakeOldest(MostKept() - block.size, kMostBlocks - 1, oldest);
    blocks_[count_++] = block;
    bytes_.store(bytes() + block.size, std::memory_order_relaxed);
  }

  // Unmaps the oldest blocks until most_bytes at most are left.
  void ShrinkTo(size_t most_bytes) {
    Unmapped oldest;
    const StdMutexLock lock(mutex_);
    TakeOldest(most_bytes, kMostBlocks, oldest);
  }

 private:
  static constexpr int kMostBlocks = 64;

  static StdMutex& Mutex() { return Get().mutex_; }

  // Unmaps its blocks when it is destroyed, after the mutex is released: unmapping takes long.
  struct Unmapped {
    std::array<Block, kMostBlocks> blocks;
    int count = 0;
    ~Unmapped() {
      for (int i = 0; i < count; ++i) Unmap(blocks[i]);
    }
  };

  void TakeOldest(size_t most_bytes, int most_blocks, Unmapped& oldest)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    while (bytes() > most_bytes || count_ > most_blocks) oldest.blocks[oldest.count++] = Remove(0);
  }
  Block Remove(int i) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const Block block = blocks_[i];
    std::copy(blocks_.begin() + i + 1, blocks_.begin() + count_, blocks_.begin() + i);
    --count_;
    bytes_.store(bytes() - block.size, std::memory_order_relaxed);
    return block;
  }

  StdMutex mutex_;
  std::array<Block, kMostBlocks> blocks_ ABSL_GUARDED_BY(mutex_){};  // the oldest first
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<size_t> bytes_{0};  // written under mutex_, read without it
};

static_assert(std::is_trivially_destructible_v<Kept>);

}  // namespace

void* AllocateMapped(size_t nbytes) noexcept {
  if (nbytes > PTRDIFF_MAX) return nullptr;  // larger than any address space
  if constexpr (kAddressSanitizer) {
    void* data = nullptr;
    return posix_memalign(&data, kHugePage, nbytes) == 0 ? data : nullptr;
  }
  const size_t size = MappedSize(nbytes);
  if (size <= MostKept()) {
    if (void* data = Kept::Get().Take(size); data != nullptr) return data;
  }
  void* data = Map(size);
  if (data != nullptr || MappedBytesKept() == 0) return data;
  TrimMapped(0);
  return Map(size);
}

void FreeMapped(void* data, size_t nbytes) noexcept {
  if constexpr (kAddressSanitizer) return std::free(data);
  const Block block{data, MappedSize(nbytes)};
  if (block.size <= MostKept()) {
    Kept::Get().Put(block);
  } else {
    Unmap(block);
  }
}

bool IsNewMapping(size_t nbytes) { return !kAddressSanitizer && MappedSize(nbytes) > MostKept(); }

int64_t MappedBytesKept() { return static_cast<int64_t>(Kept::Get().bytes()); }

void TrimMapped(size_t keep) noexcept { Kept::Get().ShrinkTo(keep); }

}  // namespace internal_cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
