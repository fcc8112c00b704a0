// The number of mappings that are cached, with a cache of more bytes than the default
// (DOVETAIL_CPU_LARGE_CACHE_BYTES in BUILD).

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "dovetail/core/internal/address_sanitizer.h"
#include "dovetail/devices/cpu/mapped_memory.h"
#include "gtest/gtest.h"

namespace dovetail::internal_cpu {
namespace {

constexpr size_t kMost = 64;

bool IsMapped(void* data) {
  unsigned char in_memory;
  return mincore(data, 1, &in_memory) == 0 || errno != ENOMEM;
}

// The memory is never touched, so that it takes no pages.
TEST(MappedBlocks, TheOldestMakesRoomForTheSixtyFifth) {
  if (kAddressSanitizer) GTEST_SKIP() << "is malloc's under AddressSanitizer";
  ASSERT_FALSE(IsNewMapping(1 << 30)) << "a block of 1 GiB would be cached";
  std::vector<void*> blocks(kMost + 2);
  for (void*& block : blocks) {
    block = AllocateMapped(kLeastMapped);
    ASSERT_NE(block, nullptr);
  }
  for (size_t i = 0; i < kMost; ++i) FreeMapped(blocks[i], kLeastMapped);
  EXPECT_EQ(MappedBytesKept(), static_cast<int64_t>(kMost * kLeastMapped));
  EXPECT_TRUE(IsMapped(blocks[0]));
  for (size_t i = kMost; i < blocks.size(); ++i) {
    FreeMapped(blocks[i], kLeastMapped);
    EXPECT_EQ(MappedBytesKept(), static_cast<int64_t>(kMost * kLeastMapped));
    EXPECT_FALSE(IsMapped(blocks[i - kMost])) << "the oldest";
    EXPECT_TRUE(IsMapped(blocks[i - kMost + 1]));
  }
  for (size_t i = blocks.size(); i-- > 2;) EXPECT_EQ(AllocateMapped(kLeastMapped), blocks[i]);
  EXPECT_EQ(MappedBytesKept(), 0);
  for (size_t i = 2; i < blocks.size(); ++i) FreeMapped(blocks[i], kLeastMapped);
  TrimMapped(0);
}

}  // namespace
}  // namespace dovetail::internal_cpu
