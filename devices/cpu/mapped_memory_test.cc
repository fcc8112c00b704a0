#include "dovetail/devices/cpu/mapped_memory.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "dovetail/core/internal/address_sanitizer.h"
#include "gtest/gtest.h"

namespace dovetail::internal_cpu {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr int64_t kMostKept = 64 << 20;

class MappedMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (kAddressSanitizer) GTEST_SKIP() << "is malloc's under AddressSanitizer";
    TrimMapped(0);
  }
  void TearDown() override { TrimMapped(0); }
};

// Asks the system whether the page at `data` is mapped.
bool IsMapped(void* data) {
  unsigned char in_memory;
  return mincore(data, 1, &in_memory) == 0 || errno != ENOMEM;
}

TEST(MappedMemoryAnywhere, ItIsAlignedToHugePagesAndWritableToItsLastByte) {
  for (size_t nbytes : {4 * kMiB, 4 * kMiB + 1, 5 * kMiB - 1, 63 * kMiB, 100 * kMiB + 12345}) {
    auto* data = static_cast<unsigned char*>(AllocateMapped(nbytes));
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % kHugePage, 0u) << nbytes;
    std::memset(data, 0xab, nbytes);
    EXPECT_EQ(data[nbytes - 1], 0xab);
    FreeMapped(data, nbytes);
  }
  TrimMapped(0);
}

TEST(MappedMemoryAnywhere, WhatNoMachineHasIsRefused) {
  for (size_t nbytes : {SIZE_MAX, size_t{1} << 63, size_t{1} << 60}) {
    EXPECT_EQ(AllocateMapped(nbytes), nullptr) << nbytes;
  }
}

TEST_F(MappedMemory, AFreedBlockIsTheNextOneOfAboutItsSize) {
  void* first = AllocateMapped(10 * kMiB);
  std::memset(first, 7, 10 * kMiB);
  FreeMapped(first, 10 * kMiB);
  EXPECT_EQ(MappedBytesKept(), 10 << 20);
  void* other = AllocateMapped(20 * kMiB);
  EXPECT_NE(other, first);
  auto* second = static_cast<char*>(AllocateMapped(10 * kMiB - 1000));
  EXPECT_EQ(second, first);
  EXPECT_EQ(second[10 * kMiB - 1001], 7) << "its pages were filled anew";
  EXPECT_EQ(MappedBytesKept(), 0);
  FreeMapped(second, 10 * kMiB - 1000);
  FreeMapped(other, 20 * kMiB);
}

TEST_F(MappedMemory, ALargerBlockIsLeftForItsOwnSize) {
  void* large = AllocateMapped(20 * kMiB);
  FreeMapped(large, 20 * kMiB);
  for (const size_t nbytes : {10 * kMiB, 18 * kMiB, 22 * kMiB}) {
    void* other = AllocateMapped(nbytes);
    EXPECT_NE(other, large) << nbytes;
    EXPECT_EQ(MappedBytesKept(), 20 << 20);
    FreeMapped(other, nbytes);
    TrimMapped(0);
    large = AllocateMapped(20 * kMiB);
    FreeMapped(large, 20 * kMiB);
  }
}

TEST_F(MappedMemory, TheLastOneFreedIsTheNext) {
  std::vector<void*> blocks(3);
  for (void*& block : blocks) block = AllocateMapped(8 * kMiB);
  for (void* block : blocks) FreeMapped(block, 8 * kMiB);
  for (int i = 2; i >= 0; --i) EXPECT_EQ(AllocateMapped(8 * kMiB), blocks[i]);
  for (void* block : blocks) FreeMapped(block, 8 * kMiB);
}

TEST_F(MappedMemory, WhatIsKeptIsBoundedAndTheOldestGoesFirst) {
  std::vector<void*> blocks(6);
  for (void*& block : blocks) block = AllocateMapped(16 * kMiB);
  for (void* block : blocks) {
    FreeMapped(block, 16 * kMiB);
    EXPECT_LE(MappedBytesKept(), kMostKept);
  }
  EXPECT_EQ(MappedBytesKept(), kMostKept);
  for (size_t i = 0; i < blocks.size(); ++i) EXPECT_EQ(IsMapped(blocks[i]), i >= 2) << i;
}

TEST_F(MappedMemory, WhatIsLargerThanAllThatIsKeptGoesBackAtOnce) {
  void* kept = AllocateMapped(8 * kMiB);
  FreeMapped(kept, 8 * kMiB);
  void* data = AllocateMapped(65 * kMiB);
  FreeMapped(data, 65 * kMiB);
  EXPECT_FALSE(IsMapped(data));
  EXPECT_TRUE(IsMapped(kept));
}

TEST_F(MappedMemory, WhatIsNeverKeptIsAllZeros) {
  const size_t nbytes = 70 * kMiB;
  EXPECT_TRUE(IsNewMapping(nbytes));
  EXPECT_FALSE(IsNewMapping(60 * kMiB));
  for (int round = 0; round < 2; ++round) {
    auto* data = static_cast<unsigned char*>(AllocateMapped(nbytes));
    for (size_t i = 0; i < nbytes; i += 4095) ASSERT_EQ(data[i], 0) << i;
    std::memset(data, 1, nbytes);
    FreeMapped(data, nbytes);
  }
}

TEST_F(MappedMemory, TrimmingGivesBackAllButWhatIsSaid) {
  std::vector<void*> blocks(4);
  for (void*& block : blocks) block = AllocateMapped(8 * kMiB);
  for (void* block : blocks) FreeMapped(block, 8 * kMiB);
  TrimMapped(20 * kMiB);
  EXPECT_EQ(MappedBytesKept(), 16 << 20);
  TrimMapped(0);
  EXPECT_EQ(MappedBytesKept(), 0);
  for (void* block : blocks) EXPECT_FALSE(IsMapped(block));
}

// A block in use belongs to one thread: its bytes do not change.
TEST_F(MappedMemory, ThreadsNeverShareABlock) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (size_t i = 0; i < 200; ++i) {
        const size_t nbytes = (4 + (i * 7 + static_cast<size_t>(t)) % 20) * kMiB;
        auto* data = static_cast<volatile int*>(AllocateMapped(nbytes));
        data[0] = t;
        data[nbytes / sizeof(int) - 1] = t;
        std::this_thread::yield();
        EXPECT_EQ(data[0], t);
        EXPECT_EQ(data[nbytes / sizeof(int) - 1], t);
        FreeMapped(const_cast<int*>(data), nbytes);
        if (i % 50 == 49) TrimMapped(0);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(MappedBytesKept(), kMostKept);
}

TEST_F(MappedMemory, AForkedChildHasItsOwnOfWhatIsKept) {
  auto* data = static_cast<char*>(AllocateMapped(8 * kMiB));
  data[0] = 'p';
  FreeMapped(data, 8 * kMiB);
  const pid_t child = fork();
  if (child == 0) {
    auto* mine = static_cast<char*>(AllocateMapped(8 * kMiB));
    const bool right = mine == data && mine[0] == 'p';
    mine[0] = 'c';
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  auto* mine = static_cast<char*>(AllocateMapped(8 * kMiB));
  EXPECT_EQ(mine, data);
  EXPECT_EQ(mine[0], 'p');
  FreeMapped(mine, 8 * kMiB);
}

}  // namespace
}  // namespace dovetail::internal_cpu
