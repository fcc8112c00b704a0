#include "dovetail/devices/cpu/allocator.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dovetail/core/internal/address_sanitizer.h"
#include "dovetail/core/internal/blocks/small_blocks.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::HasSubstr;

const Stream kStream = Stream::Default(Device::Cpu());

void* Take(CpuAllocator& allocator, size_t nbytes) {
  absl::StatusOr<void*> data = allocator.Allocate(nbytes, kStream);
  EXPECT_TRUE(data.ok()) << data.status();
  return data.ok() ? *data : nullptr;
}

TEST(CpuAllocator, MemoryIsAlignedAndWritable) {
  CpuAllocator allocator;
  for (size_t nbytes : {size_t{1}, size_t{255}, size_t{256}, size_t{257}, size_t{100000}}) {
    absl::StatusOr<void*> data = allocator.Allocate(nbytes, kStream);
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(*data) % 256, 0u) << nbytes;
    std::memset(*data, 0xab, nbytes);
    allocator.Deallocate(*data, nbytes, nullptr);
  }
}

TEST(CpuAllocator, NoBytesAreNoMemory) {
  CpuAllocator allocator;
  EXPECT_EQ(*allocator.Allocate(0, kStream), nullptr);
  allocator.Deallocate(nullptr, 0, nullptr);
}

TEST(CpuAllocator, WhatNoMachineHasIsRefusedWithTheSize) {
  CpuAllocator allocator;
  for (size_t nbytes : {SIZE_MAX, size_t{1} << 63}) {
    absl::StatusOr<void*> data = allocator.Allocate(nbytes, kStream);
    EXPECT_EQ(data.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(data.status().message()), HasSubstr(std::to_string(nbytes)));
  }
}

TEST(CpuAllocator, ASmallBlockIsTheNextOneOfItsSize) {
  if (kAddressSanitizer) GTEST_SKIP() << "off under AddressSanitizer";
  CpuAllocator allocator;
  for (int c = 0; c < kSmallSizes; ++c) {
    void* first = Take(allocator, SmallBytes(c));
    allocator.Deallocate(first, SmallBytes(c), nullptr);
    const size_t smallest = c == 0 ? 1 : SmallBytes(c - 1) + 1;
    void* second = Take(allocator, smallest);
    EXPECT_EQ(second, first) << SmallBytes(c);
    allocator.Deallocate(second, smallest, nullptr);
  }
}

TEST(CpuAllocator, MemoryInUseNeverOverlaps) {
  CpuAllocator allocator;
  std::vector<std::pair<unsigned char*, size_t>> live;
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < 300; ++i) {
      const size_t nbytes = 1 + (i * 977 + round * 131) % (2 * kMostSmallBytes);
      auto* data = static_cast<unsigned char*>(Take(allocator, nbytes));
      std::memset(data, static_cast<int>(i % 251), nbytes);
      live.emplace_back(data, nbytes);
    }
    for (size_t i = 0; i < live.size(); ++i) {
      const auto [data, nbytes] = live[i];
      ASSERT_EQ(data[0], i % 251);
      ASSERT_EQ(data[nbytes - 1], i % 251);
      allocator.Deallocate(data, nbytes, nullptr);
    }
    live.clear();
  }
}

TEST(CpuAllocator, TrimGivesBackWhatIsKept) {
  CpuAllocator allocator;
  allocator.Deallocate(Take(allocator, 300), 300, nullptr);
  EXPECT_TRUE(allocator.Trim(0).ok());
  EXPECT_EQ(allocator.Stats().reserved_bytes, 0);
}

TEST(CpuAllocator, MemoryMayBeFreedOnAnotherThread) {
  CpuAllocator allocator;
  const int64_t before = allocator.Stats().allocated_bytes;
  std::vector<void*> blocks(100);
  for (void*& block : blocks) block = Take(allocator, 1000);
  EXPECT_EQ(allocator.Stats().allocated_bytes, before + 100 * 1000);
  std::thread([&] {
    for (void* block : blocks) allocator.Deallocate(block, 1000, nullptr);
  }).join();
  EXPECT_EQ(allocator.Stats().allocated_bytes, before);
}

TEST(CpuAllocator, StatsCountWhatIsInUse) {
  CpuAllocator allocator;
  const AllocatorStats before = allocator.Stats();
  void* small = Take(allocator, 100);
  void* large = Take(allocator, 10 << 20);
  AllocatorStats stats = allocator.Stats();
  EXPECT_EQ(stats.allocated_bytes - before.allocated_bytes, 100 + (10 << 20));
  EXPECT_EQ(stats.allocations - before.allocations, 2);
  EXPECT_GE(stats.reserved_bytes, stats.allocated_bytes);
  EXPECT_GE(stats.peak_bytes, stats.allocated_bytes);
  allocator.Deallocate(small, 100, nullptr);
  allocator.Deallocate(large, 10 << 20, nullptr);
  const int64_t peak = stats.peak_bytes;
  stats = allocator.Stats();
  EXPECT_EQ(stats.allocated_bytes, before.allocated_bytes);
  EXPECT_EQ(stats.peak_bytes, peak);
}

TEST(CpuAllocator, LargeMemoryIsUsableToItsLastByte) {
  CpuAllocator allocator;
  for (size_t nbytes :
       {kMostSmallBytes + 1, (size_t{4} << 20) - 1, size_t{4} << 20, (size_t{9} << 20) + 12345}) {
    auto* data = static_cast<char*>(Take(allocator, nbytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 256, 0u);
    std::memset(data, 1, nbytes);
    allocator.Deallocate(data, nbytes, nullptr);
  }
}

TEST(CpuAllocator, AForkedChildAllocatesFreesAndCounts) {
  CpuAllocator allocator;
  void* data = Take(allocator, 1000);
  std::thread other([&] { allocator.Deallocate(Take(allocator, 2000), 2000, nullptr); });
  other.join();
  const int64_t in_use = allocator.Stats().allocated_bytes;
  const pid_t child = fork();
  if (child == 0) {
    bool right = allocator.Stats().allocated_bytes == in_use;
    allocator.Deallocate(data, 1000, nullptr);
    void* more = Take(allocator, 5000);
    std::thread([&] { allocator.Deallocate(more, 5000, nullptr); }).join();
    right &= allocator.Stats().allocated_bytes == in_use - 1000;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  allocator.Deallocate(data, 1000, nullptr);
}

}  // namespace
}  // namespace dovetail
