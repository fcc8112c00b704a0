#include "dovetail/core/internal/blocks/block_cache.h"

#include <set>
#include <thread>
#include <vector>

#include "dovetail/core/internal/address_sanitizer.h"
#include "dovetail/core/testing/failing_new.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using internal_block_cache::kBlocksPerThread;

constexpr size_t kSize = 104;

TEST(BlockCache, AFreedBlockIsTheNextOneOfItsSize) {
  if (kAddressSanitizer) GTEST_SKIP() << "off under AddressSanitizer";
  void* first = AllocateBlock<kSize>();
  void* second = AllocateBlock<kSize>();
  FreeBlock<kSize>(first);
  FreeBlock<kSize>(second);
  const int64_t live = LiveBlocks();
  void* other_size = AllocateBlock<kSize + 8>();
  EXPECT_EQ(LiveBlocks(), live + 1);
  EXPECT_EQ(AllocateBlock<kSize>(), second);
  EXPECT_EQ(AllocateBlock<kSize>(), first);
  EXPECT_EQ(LiveBlocks(), live + 1);
  FreeBlock<kSize>(first);
  FreeBlock<kSize>(second);
  FreeBlock<kSize + 8>(other_size);
}

TEST(BlockCache, BlocksInUseAreDistinct) {
  std::set<void*> blocks;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(blocks.insert(AllocateBlock<kSize>()).second);
    for (void* block : blocks) FreeBlock<kSize>(block);
    blocks.clear();
  }
}

TEST(BlockCache, AThreadKeepsABoundedNumberAndGivesThemBackAtItsEnd) {
  const int64_t before = LiveBlocks();
  int64_t kept = 0;
  std::thread([&] {
    std::vector<void*> blocks(100);
    for (void*& block : blocks) block = AllocateBlock<kSize>();
    const int64_t in_use = LiveBlocks();
    for (void* block : blocks) FreeBlock<kSize>(block);
    kept = 100 - (in_use - LiveBlocks());
  }).join();
  EXPECT_EQ(kept, kAddressSanitizer ? 0 : kBlocksPerThread);
  EXPECT_EQ(LiveBlocks(), before);
}

TEST(BlockCache, ABlockMayBeFreedOnAnotherThread) {
  std::vector<void*> blocks(100);
  const int64_t before = LiveBlocks();
  for (void*& block : blocks) block = ::operator new(kSize);
  std::thread([&] {
    for (void* block : blocks) FreeBlock<kSize>(block);
  }).join();
  EXPECT_EQ(LiveBlocks(), before);
}

// It is constructed before the thread's lists, and so destroyed after them.
struct FreesLate {
  void* block = nullptr;
  ~FreesLate() {
    if (block != nullptr) FreeBlock<kSize>(block);
  }
};
thread_local FreesLate frees_late;

TEST(BlockCache, BlocksFreedAfterTheThreadsListsAreEmptiedAreDeleted) {
  const int64_t before = LiveBlocks();
  std::thread([] {
    frees_late.block = AllocateBlock<kSize>();
    FreeBlock<kSize>(AllocateBlock<kSize>());
  }).join();
  EXPECT_EQ(LiveBlocks(), before);
  // The same if the thread's first block is freed that late.
  std::thread([] { frees_late.block = AllocateBlock<kSize>(); }).join();
  EXPECT_EQ(LiveBlocks(), before);
}

TEST(BlockCache, BlocksOfTooManySizesAreDeletedAtOnce) {
  const int64_t before = LiveBlocks();
  std::thread([&] {
    FreeBlock<16>(AllocateBlock<16>());
    FreeBlock<32>(AllocateBlock<32>());
    FreeBlock<48>(AllocateBlock<48>());
    FreeBlock<64>(AllocateBlock<64>());
    FreeBlock<80>(AllocateBlock<80>());
    FreeBlock<96>(AllocateBlock<96>());
    FreeBlock<112>(AllocateBlock<112>());
    FreeBlock<128>(AllocateBlock<128>());
    const int64_t kept = LiveBlocks();
    FreeBlock<144>(AllocateBlock<144>());
    EXPECT_EQ(LiveBlocks(), kept);
  }).join();
  EXPECT_EQ(LiveBlocks(), before);
}

}  // namespace
}  // namespace dovetail
