#include "dovetail/devices/gpu/memory/allocators.h"

#include <string>
#include <thread>
#include <vector>

#include "dovetail/devices/gpu/memory/caching_allocator.h"
#include "dovetail/tests/emulator/fixture.h"

namespace dovetail {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SizeClass, IsAtMostAnEighthMoreThanAskedFor) {
  EXPECT_EQ(gpu::SizeClass(1), 512u);
  EXPECT_EQ(gpu::SizeClass(512), 512u);
  EXPECT_EQ(gpu::SizeClass(513), 1024u);
  EXPECT_EQ(gpu::SizeClass(4096), 4096u);
  EXPECT_EQ(gpu::SizeClass(4097), 4608u);
  EXPECT_EQ(gpu::SizeClass(8192), 8192u);
  for (size_t n = 4096; n < 100'000'000; n = n * 21 / 20) {
    const size_t size = gpu::SizeClass(n);
    EXPECT_GE(size, n);
    EXPECT_LE(size, n + n / 8);
    EXPECT_EQ(size % 512, 0u);
    EXPECT_EQ(gpu::SizeClass(size), size);
  }
}

class Allocators : public EmulatedGpu {
 protected:
  static constexpr size_t kDeviceBytes = size_t{1} << 20;
  Allocators() : EmulatedGpu({.device_bytes = kDeviceBytes}) {}

  Allocator& Choose(const std::string& name, MemoryKind kind = MemoryKind::kDevice) {
    EXPECT_TRUE(backend().SelectAllocator(device(), kind, name).ok());
    return AllocatorOf(device(), kind);
  }
  // What the last reference to memory does.
  static void Give(Allocator& allocator, void* data, size_t nbytes, const Stream& used_on) {
    auto uses = std::make_unique<Uses>();
    uses->AddStream(used_on, UseKind::kWork);
    allocator.Deallocate(data, nbytes, std::move(uses));
  }
};

TEST_F(Allocators, AreKnownByName) {
  EXPECT_THAT(backend().AllocatorNames(device(), MemoryKind::kDevice),
              ElementsAre("async", "direct", "caching(async)", "caching(direct)"));
  EXPECT_THAT(backend().AllocatorNames(device(), MemoryKind::kPinnedHost),
              ElementsAre("pinned", "caching(pinned)"));
  EXPECT_THAT(backend().AllocatorNames(pinned(), MemoryKind::kDevice),
              ElementsAre("pinned", "caching(pinned)"));
  EXPECT_THAT(backend().AllocatorNames(device(), MemoryKind::kManaged),
              ElementsAre("managed", "caching(managed)"));
  EXPECT_THAT(
      std::string(backend().SelectAllocator(device(), MemoryKind::kDevice, "pinned").message()),
      AllOf(HasSubstr("\"pinned\""), HasSubstr("async, direct")));
}

TEST_F(Allocators, WithoutPoolsDirectIsTheDefault) {
  Start({.has_pools = false, .has_managed = false});
  EXPECT_THAT(backend().AllocatorNames(device(), MemoryKind::kDevice),
              ElementsAre("direct", "caching(direct)"));
  EXPECT_TRUE(Tensor::Empty({4}, kInt32, device()).ok());
  EXPECT_FALSE(backend().GetAllocator(device(), MemoryKind::kManaged).ok());
}

TEST_F(Allocators, MemoryGoesBackToTheOneItCameFrom) {
  absl::StatusOr<StorageRef> s = Storage::Allocate(4096, device());
  ASSERT_TRUE(s.ok());
  Allocator& before = AllocatorOf(device());
  Choose("caching(direct)");
  EXPECT_EQ(before.Stats().allocated_bytes, 4096);
  *s = StorageRef();
  EXPECT_EQ(before.Stats().allocated_bytes, 0);
}

TEST_F(Allocators, NoBytesAreNoMemory) {
  for (const std::string& name : backend().AllocatorNames(device(), MemoryKind::kDevice)) {
    Allocator& allocator = Choose(name);
    EXPECT_EQ(*allocator.Allocate(0, Stream::Default(device())), nullptr);
    allocator.Deallocate(nullptr, 0, nullptr);
    EXPECT_EQ(allocator.Stats().allocations, 0);
  }
}

TEST_F(Allocators, OutOfMemoryIsTriedOnceMoreAndThenSaidWithSizes) {
  for (const std::string& name : backend().AllocatorNames(device(), MemoryKind::kDevice)) {
    Allocator& allocator = Choose(name);
    const Stream stream = MakeStream();
    const absl::Status s = allocator.Allocate(kDeviceBytes * 2, stream).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(s.message()),
                AllOf(HasSubstr("Out of memory on cuda:0"), HasSubstr("2097152 bytes"),
                      HasSubstr("1048576 bytes, of which")))
        << name;
    EXPECT_EQ(allocator.Stats().retries, 1);
  }
}

TEST_F(Allocators, WhatIsOnItsWayBackIsWaitedForBeforeMemoryIsSaidToBeOut) {
  for (const std::string& name : backend().AllocatorNames(device(), MemoryKind::kDevice)) {
    Allocator& allocator = Choose(name);
    const Stream a = MakeStream(), b = MakeStream();
    constexpr size_t kMost = kDeviceBytes / 4 * 3;
    absl::StatusOr<void*> first = allocator.Allocate(kMost, a);
    ASSERT_TRUE(first.ok()) << name << first.status();
    Give(allocator, *first, kMost, b);
    absl::StatusOr<void*> second = allocator.Allocate(kMost - 4096, a);
    ASSERT_TRUE(second.ok()) << name << second.status();
    Give(allocator, *second, kMost - 4096, a);
    ASSERT_TRUE(allocator.Trim(0).ok());
    EXPECT_EQ(allocator.Stats().reserved_bytes, 0) << name;
  }
}

TEST_F(Allocators, StatisticsAddUp) {
  Allocator& allocator = Choose("caching(direct)");
  const Stream s = MakeStream();
  void* a = *allocator.Allocate(1000, s);
  void* b = *allocator.Allocate(2000, s);
  AllocatorStats stats = allocator.Stats();
  EXPECT_EQ(stats.allocated_bytes, 3000);
  EXPECT_EQ(stats.peak_bytes, 3000);
  EXPECT_EQ(stats.reserved_bytes, 1024 + 2048);
  EXPECT_EQ(stats.allocations, 2);
  Give(allocator, a, 1000, s);
  Give(allocator, b, 2000, s);
  stats = allocator.Stats();
  EXPECT_EQ(stats.allocated_bytes, 0);
  EXPECT_EQ(stats.peak_bytes, 3000);
  EXPECT_EQ(stats.reserved_bytes, 1024 + 2048) << "kept";
  ASSERT_TRUE(allocator.Trim(1024).ok());
  EXPECT_LE(allocator.Stats().reserved_bytes, 1024);
  ASSERT_TRUE(allocator.Trim(0).ok());
  EXPECT_EQ(allocator.Stats().reserved_bytes, 0);
}

TEST_F(Allocators, ACacheGivesAStreamItsOwnMemoryWithoutACall) {
  Allocator& allocator = Choose("caching(direct)");
  const Stream s = MakeStream(), t = MakeStream();
  void* a = *allocator.Allocate(1000, s);
  Give(allocator, a, 1000, s);
  const int before = gpu().counts().allocations;
  EXPECT_EQ(*allocator.Allocate(900, s), a) << "the same class";
  EXPECT_EQ(gpu().counts().allocations, before);
  Give(allocator, a, 900, s);
  void* other = *allocator.Allocate(1000, t);
  EXPECT_NE(other, a) << "s may use it still";
  Give(allocator, other, 1000, t);
  ASSERT_TRUE(allocator.Trim(0).ok());
}

TEST_F(Allocators, WhatTwoStreamsUsedIsForAnyOnceBothAreDone) {
  Allocator& allocator = Choose("caching(direct)");
  const Stream s = MakeStream(), t = MakeStream(), u = MakeStream();
  void* a = *allocator.Allocate(1000, s);
  auto uses = std::make_unique<Uses>();
  uses->AddStream(s, UseKind::kWork);
  uses->AddStream(t, UseKind::kWork);
  allocator.Deallocate(a, 1000, std::move(uses));
  void* b = *allocator.Allocate(1000, u);  // drains; both are idle
  EXPECT_EQ(b, a);
  Give(allocator, b, 1000, u);
  ASSERT_TRUE(allocator.Trim(0).ok());
}

TEST_F(Allocators, AStreamThatMemoryIsKeptForOutlivesItsLastUser) {
  Allocator& allocator = Choose("caching(direct)");
  {
    const Stream s = MakeStream();
    Give(allocator, *allocator.Allocate(1000, s), 1000, s);
    MakeStream();
  }
  ASSERT_TRUE(Tensor::Empty({4}, kInt32, device()).ok());
  ASSERT_TRUE(allocator.Trim(0).ok());
  EXPECT_EQ(allocator.Stats().reserved_bytes, 0);
}

TEST_F(Allocators, PinnedMemoryIsCachedToo) {
  Allocator& allocator = Choose("caching(pinned)", MemoryKind::kPinnedHost);
  const Stream s = Stream::Default(device());
  void* a = *allocator.Allocate(1000, s);
  std::memset(a, 0, 1000);
  Give(allocator, a, 1000, s);
  EXPECT_EQ(*allocator.Allocate(1000, s), a);
  Give(allocator, a, 1000, s);
  ASSERT_TRUE(allocator.Trim(0).ok());
}

// Dovetail sees the capture only when it looks at the memory's stream.
// Rules 49, 50.
TEST_F(Allocators, MemoryOfAStreamThatIsBeingCapturedWaitsForTheEndOfTheCapture) {
  for (const std::string& name : backend().AllocatorNames(device(), MemoryKind::kDevice)) {
    Allocator& allocator = Choose(name);
    const Stream s = MakeStream(), t = MakeStream();
    void* a = *allocator.Allocate(1000, s);
    void* b = *allocator.Allocate(5000, t);
    gpu().BeginCapture(s.native(), 0);
    Give(allocator, a, 1000, s);
    Give(allocator, b, 5000, Stream::Default(device()));
    void* c = *allocator.Allocate(2000, t);
    void* d = *allocator.Allocate(2000, t);
    EXPECT_TRUE(gpu().EndCapture(s.native(), 0)) << name;
    Give(allocator, c, 2000, t);
    Give(allocator, d, 2000, t);
    ASSERT_TRUE(allocator.Trim(0).ok());
    EXPECT_EQ(allocator.Stats().allocated_bytes, 0) << name;
    EXPECT_EQ(allocator.Stats().reserved_bytes, 0) << name;
  }
}

// Rules 49, 50.
TEST_F(Allocators, NeitherATrimNorASecondAttemptBreaksACapture) {
  for (const std::string& name : backend().AllocatorNames(device(), MemoryKind::kDevice)) {
    Allocator& allocator = Choose(name);
    const Stream s = MakeStream(), t = MakeStream();
    for (const bool trims : {true, false}) {
      void* a = *allocator.Allocate(1000, s);
      gpu().BeginCapture(s.native(), 0);
      Give(allocator, a, 1000, s);
      const absl::Status status =
          trims ? allocator.Trim(0) : allocator.Allocate(kDeviceBytes * 2, t).status();
      EXPECT_EQ(status.code(), trims ? absl::StatusCode::kFailedPrecondition
                                     : absl::StatusCode::kResourceExhausted)
          << name << status;
      EXPECT_TRUE(gpu().EndCapture(s.native(), 0)) << name;
      ASSERT_TRUE(allocator.Trim(0).ok());
      EXPECT_EQ(allocator.Stats().reserved_bytes, 0) << name;
    }
  }
}

TEST_F(Allocators, ATrimInACaptureThatIsKnownWaitsForNothing) {
  Allocator& allocator = Choose("async");
  const Stream s = MakeStream(), t = MakeStream();
  void* a = *allocator.Allocate(1000, t);
  gpu().BeginCapture(s.native(), 0);
  EXPECT_FALSE(allocator.Allocate(1000, s).ok());
  auto uses = std::make_unique<Uses>();
  uses->AddUnknown();
  allocator.Deallocate(a, 1000, std::move(uses));
  EXPECT_EQ(allocator.Trim(0).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(gpu().EndCapture(s.native(), 0));
  ASSERT_TRUE(allocator.Trim(0).ok());
  EXPECT_EQ(allocator.Stats().reserved_bytes, 0);
}

TEST_F(Allocators, OneThatHoldsUnusedMemoryDoesNotStarveTheOthersOfTheDevice) {
  constexpr size_t kMost = kDeviceBytes / 4 * 3;
  const std::vector<std::string> names = backend().AllocatorNames(device(), MemoryKind::kDevice);
  const Stream s = MakeStream();
  for (const std::string& hoarder : names) {
    for (const std::string& name : names) {
      Allocator& first = Choose(hoarder);
      Give(first, *first.Allocate(kMost, s), kMost, s);
      Allocator& second = Choose(name);
      absl::StatusOr<void*> data = second.Allocate(kMost - 8192, s);
      ASSERT_TRUE(data.ok()) << hoarder << ", " << name << data.status();
      Give(second, *data, kMost - 8192, s);
      ASSERT_TRUE(second.Trim(0).ok());
    }
  }
}

TEST_F(Allocators, MemoryForOtherProcessesIsNotStarvedEither) {
  constexpr size_t kMost = kDeviceBytes / 4 * 3;
  const Stream s = MakeStream();
  Allocator& pool = Choose("caching(async)");
  Give(pool, *pool.Allocate(kMost, s), kMost, s);
  Allocator& shared = AllocatorOf(device(), MemoryKind::kShared);
  absl::StatusOr<void*> data = shared.Allocate(kMost, s);
  ASSERT_TRUE(data.ok()) << data.status();
  Give(shared, *data, kMost, s);
}

TEST_F(Allocators, ATrimReachesThoseThatWereSelectedBefore) {
  const Stream s = MakeStream();
  std::vector<Allocator*> before;
  for (const std::string& name : backend().AllocatorNames(device(), MemoryKind::kDevice)) {
    before.push_back(&Choose(name));
    Give(*before.back(), *before.back()->Allocate(10'000, s), 10'000, s);
  }
  Choose("direct");
  ASSERT_TRUE(AllocatorOf(device()).Trim(1 << 20).ok()) << "what is kept is of the selected one";
  for (Allocator* allocator : before) EXPECT_EQ(allocator->Stats().reserved_bytes, 0);
  EXPECT_EQ(gpu().LiveBytes(0), 0u);
}

TEST_F(Allocators, ATrimIsOfItsDeviceAlone) {
  const Stream s = MakeStream(0), t = MakeStream(1);
  Allocator &first = AllocatorOf(device(0)), &second = AllocatorOf(device(1));
  Give(first, *first.Allocate(10'000, s), 10'000, s);
  Give(second, *second.Allocate(10'000, t), 10'000, t);
  ASSERT_TRUE(second.Trim(0).ok());
  EXPECT_GT(first.Stats().reserved_bytes, 0);
  EXPECT_EQ(second.Stats().reserved_bytes, 0);
}

TEST_F(Allocators, ManyThreadsAllocateAndFree) {
  for (const char* name : {"async", "caching(direct)"}) {
    Allocator& allocator = Choose(name);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        const Stream s = MakeStream();
        for (int round = 0; round < 50; ++round) {
          const size_t nbytes = 100 + 700 * ((round + i) % 5);
          absl::StatusOr<void*> data = allocator.Allocate(nbytes, s);
          ASSERT_TRUE(data.ok()) << data.status();
          Give(allocator, *data, nbytes, s);
        }
      });
    }
    for (std::thread& t : threads) t.join();
    ASSERT_TRUE(allocator.Trim(0).ok());
    EXPECT_EQ(allocator.Stats().allocated_bytes, 0);
    EXPECT_EQ(allocator.Stats().reserved_bytes, 0);
    EXPECT_EQ(allocator.Stats().allocations, 200);
  }
}

}  // namespace
}  // namespace dovetail
