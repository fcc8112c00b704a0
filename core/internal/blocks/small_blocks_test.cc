#include "dovetail/core/internal/blocks/small_blocks.h"

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "dovetail/core/internal/address_sanitizer.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

constexpr bool kKeeps = !kAddressSanitizer;
constexpr int64_t kKeptPerSize = 256 << 10;
constexpr int64_t kHeader = sizeof(SmallBlock);

class SmallBlocks : public testing::Test {
 protected:
  void SetUp() override {
    TrimSmallBlocks();
    ASSERT_EQ(ReservedSmallBytes(), 0);
  }
};

TEST_F(SmallBlocks, MemoryIsAlignedAndWritableToItsEnd) {
  for (size_t nbytes : {size_t{1}, size_t{256}, size_t{257}, size_t{5000}, kMostSmallBytes}) {
    SmallBlock* block = TakeSmallBlock(nbytes);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block->data()) % kAllocationAlignment, 0u) << nbytes;
    EXPECT_EQ(SmallBlock::Of(block->data()), block);
    EXPECT_FALSE(block->has_header);
    std::memset(block->data(), 0xab, SmallBytes(SmallSizeClass(nbytes)));
    GiveSmallBlock(block, nbytes);
  }
}

TEST_F(SmallBlocks, AGivenBlockIsTakenAgainWithItsHeader) {
  EXPECT_EQ(TakeKeptSmallBlock(100), nullptr);
  SmallBlock* block = TakeSmallBlock(100);
  block->has_header = true;
  block->header[63] = std::byte{7};
  GiveSmallBlock(block, 100);
  EXPECT_EQ(TakeKeptSmallBlock(257), nullptr);  // of another size
  if (!kKeeps) return;
  ASSERT_EQ(TakeKeptSmallBlock(256), block);
  EXPECT_TRUE(block->has_header);
  EXPECT_EQ(block->header[63], std::byte{7});
  EXPECT_EQ(TakeKeptSmallBlock(256), nullptr);
  GiveSmallBlock(block, 256);
}

TEST_F(SmallBlocks, AThreadKeepsABoundedNumberOfBytesAndGivesThemBackAtItsEnd) {
  int64_t kept = 0;
  std::thread([&] {
    constexpr int kBlocks = 2000;
    std::vector<SmallBlock*> blocks(kBlocks);
    for (int c = 0; c < kSmallSizes; ++c) {
      for (SmallBlock*& block : blocks) block = TakeSmallBlock(SmallBytes(c));
      for (SmallBlock* block : blocks) GiveSmallBlock(block, SmallBytes(c));
    }
    kept = ReservedSmallBytes();
  }).join();
  int64_t expected = 0;
  for (int c = 0; kKeeps && c < kSmallSizes; ++c) {
    const auto nbytes = static_cast<int64_t>(SmallBytes(c));
    expected += kKeptPerSize / nbytes * (kHeader + nbytes);
  }
  EXPECT_EQ(kept, expected);
  EXPECT_EQ(ReservedSmallBytes(), 0);
}

TEST_F(SmallBlocks, TrimGivesBackWhatIsKeptAndTheListsGoOnWorking) {
  for (int i = 0; i < 2; ++i) {
    GiveSmallBlock(TakeSmallBlock(300), 300);
    EXPECT_EQ(ReservedSmallBytes(), kKeeps ? kHeader + 512 : 0);
    TrimSmallBlocks();
    EXPECT_EQ(ReservedSmallBytes(), 0);
  }
}

TEST_F(SmallBlocks, AnotherThreadTrimsWhenItNextGivesABlockOrTakesANewOne) {
  GiveSmallBlock(TakeSmallBlock(300), 300);
  std::thread(TrimSmallBlocks).join();
  EXPECT_EQ(ReservedSmallBytes(), kKeeps ? kHeader + 512 : 0);
  SmallBlock* block = TakeSmallBlock(1);
  EXPECT_EQ(ReservedSmallBytes(), kHeader + 256);
  GiveSmallBlock(block, 1);

  block = TakeSmallBlock(1);
  GiveSmallBlock(TakeSmallBlock(300), 300);
  std::thread(TrimSmallBlocks).join();
  GiveSmallBlock(block, 1);
  EXPECT_EQ(ReservedSmallBytes(), kKeeps ? kHeader + 256 : 0);
}

TEST_F(SmallBlocks, BlocksAreCountedOnWhicheverThreadTheyAreGivenBack) {
  const SmallBlockStats before = GetSmallBlockStats();
  SmallBlock* a = TakeSmallBlock(100);
  SmallBlock* b = TakeSmallBlock(5000);
  EXPECT_EQ(GetSmallBlockStats().allocated_bytes, before.allocated_bytes + 5100);
  EXPECT_EQ(GetSmallBlockStats().allocations, before.allocations + 2);
  std::thread([&] { GiveSmallBlock(a, 100); }).join();
  GiveSmallBlock(b, 5000);
  EXPECT_EQ(GetSmallBlockStats().allocated_bytes, before.allocated_bytes);
}

TEST_F(SmallBlocks, AddressSanitizerReportsAccessesBelowTheMemory) {
  if (!kAddressSanitizer) GTEST_SKIP() << "not built with it";
  SmallBlock* block = TakeSmallBlock(100);
  auto* data = static_cast<volatile char*>(block->data());
  EXPECT_DEATH(data[-1] = 1, "use-after-poison");
  GiveSmallBlock(block, 100);
}

}  // namespace
}  // namespace dovetail
