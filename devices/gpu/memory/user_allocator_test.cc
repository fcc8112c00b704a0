#include "dovetail/devices/gpu/memory/user_allocator.h"

#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/registry.h"
#include "dovetail/tests/emulator/fixture.h"

namespace dovetail {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr MemoryKind kDevice = MemoryKind::kDevice;

struct PoolLog {
  std::map<void*, size_t> live;
  std::vector<Stream> allocated_on, freed_on;
  int allocations = 0;  // calls
  int failures = 0;     // the next calls that find no memory
  bool ended = false;
};

// A pool as other libraries have it. Memory that comes back on a stream is poisoned in the order of
// that stream, and given out again on it without waiting. Memory that is freed too early is
// therefore seen to change.
class PoisoningPool final : public MemorySource {
 public:
  PoisoningPool(emulator::Emulator& gpu, int device, PoolLog* log)
      : gpu_(gpu), device_(device), log_(*log) {}
  ~PoisoningPool() override {
    EXPECT_THAT(log_.live, IsEmpty());
    log_.ended = true;
    gpu_.Finish();
    for (const auto& [key, data] : kept_) gpu_.Free(data);
  }

  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override {
    ++log_.allocations;
    if (log_.failures > 0) {
      --log_.failures;
      return absl::ResourceExhaustedError("the pool is empty");
    }
    void* data = nullptr;
    if (const auto found = kept_.find({stream.native(), nbytes}); found != kept_.end()) {
      data = found->second;
      kept_.erase(found);
    } else {
      data = gpu_.Malloc(device_, nbytes);
    }
    log_.live[data] = nbytes;
    log_.allocated_on.push_back(stream);
    return data;
  }

  void Deallocate(void* data, size_t nbytes, const Stream& stream) noexcept override {
    EXPECT_EQ(log_.live[data], nbytes);
    log_.live.erase(data);
    log_.freed_on.push_back(stream);
    gpu_.Set(gpu_.api().legacy_stream == stream.native() || stream.native() == NativeStream{0}
                 ? gpu_.api().legacy_stream
                 : stream.native(),
             device_, data, 0xDF, nbytes);
    kept_.insert({{stream.native(), nbytes}, data});
  }

 private:
  emulator::Emulator& gpu_;
  const int device_;
  PoolLog& log_;
  std::multimap<std::pair<NativeStream, size_t>, void*> kept_;
};

class UserAllocators : public EmulatedGpu {
 protected:
  void SetPool(PoolLog* log, MemoryKind kind = kDevice) {
    ASSERT_TRUE(Registry::Global()
                    .SetMemorySource(device(), kind, std::make_unique<PoisoningPool>(gpu(), 0, log))
                    .ok());
  }
  void Unset(MemoryKind kind = kDevice) {
    ASSERT_TRUE(Registry::Global().SetAllocator(device(), kind, nullptr).ok());
  }
  Allocator& Chosen() { return **Registry::Global().GetAllocator(device(), kDevice); }
  // The next allocation drains what was released; it is the backend's own, on the other device.
  void Drain() { ASSERT_TRUE(Storage::Allocate(1, device(1)).ok()); }

  PoolLog pool;
};

TEST_F(UserAllocators, MemoryOfOneStreamIsFreedOnItAtOnce) {
  SetPool(&pool);
  const Stream s = MakeStream();
  {
    const absl::StatusOr<StorageRef> memory = Storage::Allocate(1000, s);
    ASSERT_TRUE(memory.ok()) << memory.status();
    gpu().Set(s.native(), 0, (*memory)->data(), 7, 1000);
  }
  EXPECT_THAT(pool.freed_on, IsEmpty()) << "a deleter calls nothing";
  gpu().ResetCounts();
  Drain();
  EXPECT_THAT(pool.freed_on, ElementsAre(s));
  EXPECT_EQ(gpu().counts().host_waits, 0);
  EXPECT_EQ(gpu().counts().event_records, 0);
  Unset();
}

TEST_F(UserAllocators, MemoryOfTwoStreamsIsFreedAfterTheWorkOfBothOnTheStreamOfItsAllocation) {
  SetPool(&pool);
  const Stream s = MakeStream(), t = MakeStream();
  {
    const absl::StatusOr<StorageRef> memory = Storage::Allocate(1000, s);
    ASSERT_TRUE(memory.ok());
    gpu().Set(t.native(), 0, (*memory)->data(), 7, 1000);
    (*memory)->RecordUse(t);
  }
  Drain();
  EXPECT_THAT(pool.freed_on, IsEmpty()) << "the work on t has not run";
  ASSERT_TRUE(backend().Synchronize(t).ok());
  ASSERT_TRUE(backend().Synchronize(s).ok());
  for (int patience = 0; patience < 4; ++patience) Drain();
  EXPECT_THAT(pool.freed_on, ElementsAre(s));
  Unset();
}

// PyTorch's and CuPy's frees take no stream: they reuse the memory in the order of the allocation.
TEST_F(UserAllocators, MemoryThatAnotherStreamUsedAloneWaitsForItsWork) {
  SetPool(&pool);
  const Stream s = MakeStream(), t = MakeStream();
  const NativeStream borrowed = gpu().MakeStream(0);
  for (const Stream& on : {s, Borrow(borrowed)}) {
    void* const data = *Chosen().Allocate(1000, on);
    gpu().Set(t.native(), 0, data, 7, 1000);
    auto uses = std::make_unique<Uses>();
    uses->AddStream(t, UseKind::kWork);
    Chosen().Deallocate(data, 1000, std::move(uses));
  }
  Drain();
  EXPECT_THAT(pool.freed_on, IsEmpty());
  ASSERT_TRUE(backend().Synchronize(t).ok());
  for (int patience = 0; patience < 4; ++patience) Drain();
  EXPECT_THAT(pool.freed_on, ElementsAre(s, Stream::Default(device())))
      << "the borrowed stream may be gone";
  Unset();
  gpu().DestroyStream(borrowed);
}

// Rule 50.
TEST_F(UserAllocators, DataNeverChangesUnderPendingWork) {
  for (const uint64_t seed : {0, 1, 2, 3, 4, 5, 6, 7}) {
    Start({.seed = seed});
    SetPool(&pool);
    {
      std::mt19937 random(static_cast<unsigned>(seed));
      const std::vector<Stream> streams = {MakeStream(), MakeStream(), Stream::Default(device())};
      const Tensor host = Counting({16, 16});
      const Tensor pinned = Pinned(host, device());
      std::vector<Tensor> held;
      for (int step = 0; step < 60; ++step) {
        const StreamScope scope(streams[random() % streams.size()]);
        const Tensor x = *Copied(pinned, {.device = device()});
        const StreamScope other(streams[random() % streams.size()]);
        held.push_back(*Copied(x, {.device = device()}));
        if (held.size() > 4) {
          const size_t dropped = random() % held.size();
          ASSERT_EQ(Values(held[dropped]), Values(host)) << "seed " << seed << ", step " << step;
          held.erase(held.begin() + static_cast<std::ptrdiff_t>(dropped));
        }
      }
      for (const Tensor& each : held) EXPECT_EQ(Values(each), Values(host)) << "seed " << seed;
    }
    EXPECT_LT(gpu().counts().allocations, 60) << "the pool's memory was used again";
    Unset();
    ASSERT_TRUE(AllocatorOf(device()).Trim(0).ok());
    EXPECT_TRUE(std::exchange(pool.ended, false));
  }
}

TEST_F(UserAllocators, PinnedMemoryIsFreedOnlyWhenItsWorkIsDone) {
  class HostPool final : public MemorySource {
   public:
    HostPool(emulator::Emulator& gpu, int* frees) : gpu_(gpu), frees_(*frees) {}
    absl::StatusOr<void*> Allocate(size_t nbytes, const Stream&) override {
      void* data = nullptr;
      EXPECT_EQ(gpu_.api().malloc_host(gpu_.api().self, nbytes, &data), 0);
      return data;
    }
    void Deallocate(void* data, size_t, const Stream&) noexcept override {
      ++frees_;
      gpu_.api().free_host(gpu_.api().self, data);
    }

   private:
    emulator::Emulator& gpu_;
    int& frees_;
  };
  int frees = 0;
  ASSERT_TRUE(Registry::Global()
                  .SetMemorySource(device(), MemoryKind::kPinnedHost,
                                   std::make_unique<HostPool>(gpu(), &frees))
                  .ok());
  const Stream s = MakeStream();
  {
    const absl::StatusOr<StorageRef> memory = Storage::Allocate(64, s, MemoryKind::kPinnedHost);
    ASSERT_TRUE(memory.ok());
    EXPECT_EQ((*memory)->device(), pinned());
    gpu().Set(s.native(), 0, (*memory)->data(), 7, 64);
    (*memory)->RecordUse(s);
  }
  Drain();
  EXPECT_EQ(frees, 0);
  ASSERT_TRUE(backend().Synchronize(s).ok());
  for (int patience = 0; patience < 4; ++patience) Drain();
  EXPECT_EQ(frees, 1);
  Unset(MemoryKind::kPinnedHost);
}

TEST_F(UserAllocators, OutOfMemoryAllOthersReturnTheirsBeforeTheSecondAttempt) {
  ASSERT_TRUE(backend().SelectAllocator(device(), kDevice, "caching(direct)").ok());
  ASSERT_TRUE(Storage::Allocate(5000, device()).ok());
  Drain();
  EXPECT_GT(AllocatorOf(device()).Stats().reserved_bytes, 0);
  SetPool(&pool);
  pool.failures = 1;
  ASSERT_TRUE(Storage::Allocate(1000, device()).ok());
  EXPECT_EQ(pool.allocations, 2);
  EXPECT_EQ(AllocatorOf(device()).Stats().reserved_bytes, 0);
  EXPECT_EQ(Chosen().Stats().retries, 1);
  pool.failures = 2;
  const absl::Status status = Storage::Allocate(1000, device()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("Out of memory on cuda:0, the program's allocator: 1000 bytes"),
                    HasSubstr("the pool is empty")));
  EXPECT_EQ(pool.allocations, 4);
  Unset();
}

TEST_F(UserAllocators, MemoryThatWaitsForItsReleaseComesBackBeforeTheSecondAttempt) {
  SetPool(&pool);
  const Stream s = MakeStream(), t = MakeStream();
  {
    const absl::StatusOr<StorageRef> memory = Storage::Allocate(1000, s);
    ASSERT_TRUE(memory.ok());
    gpu().Set(t.native(), 0, (*memory)->data(), 7, 1000);
    (*memory)->RecordUse(t);
  }
  pool.failures = 1;
  ASSERT_TRUE(Storage::Allocate(500, s).ok());
  EXPECT_EQ(pool.freed_on.size(), 1u);
  Unset();
}

TEST_F(UserAllocators, AllocationOnACapturedStreamIsRefusedBeforeTheCall) {
  SetPool(&pool);
  const Stream s = MakeStream();
  gpu().BeginCapture(s.native(), 0);
  EXPECT_EQ(Storage::Allocate(1000, s).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(gpu().EndCapture(s.native(), 0));
  EXPECT_EQ(pool.allocations, 0);
  Unset();
}

// Rules 49, 50.
TEST_F(UserAllocators, NothingIsFreedIntoACapture) {
  SetPool(&pool);
  const Stream s = MakeStream();
  {
    const absl::StatusOr<StorageRef> memory = Storage::Allocate(1000, s);
    ASSERT_TRUE(memory.ok());
    gpu().BeginCapture(s.native(), 0);
  }
  Drain();
  EXPECT_THAT(pool.freed_on, IsEmpty());
  EXPECT_TRUE(gpu().EndCapture(s.native(), 0));
  Drain();
  EXPECT_THAT(pool.freed_on, ElementsAre(s));
  Unset();
}

TEST_F(UserAllocators, StatisticsAreOfThisAllocator) {
  SetPool(&pool);
  {
    const absl::StatusOr<StorageRef> a = Storage::Allocate(1000, device());
    ASSERT_TRUE(Storage::Allocate(500, device()).ok());
    EXPECT_EQ(Chosen().Stats().allocated_bytes, 1000);
    EXPECT_EQ(Chosen().Stats().peak_bytes, 1500);
    EXPECT_EQ(Chosen().Stats().allocations, 2);
    EXPECT_EQ(AllocatorOf(device()).Stats().allocations, 0);
  }
  EXPECT_EQ(Chosen().Stats().allocated_bytes, 0);
  EXPECT_EQ(Chosen().Stats().reserved_bytes, 1000 + 500) << "nothing was drained";
  ASSERT_TRUE(Chosen().Trim(0).ok());
  EXPECT_EQ(Chosen().Stats().reserved_bytes, 0);
  Unset();
}

TEST_F(UserAllocators, ATrimReachesDovetailsOwnAllocatorsAndWhatWaitsForItsRelease) {
  ASSERT_TRUE(backend().SelectAllocator(device(), kDevice, "caching(direct)").ok());
  ASSERT_TRUE(Storage::Allocate(5000, device()).ok());
  SetPool(&pool);
  ASSERT_TRUE(Storage::Allocate(1000, device()).ok());
  ASSERT_TRUE(Chosen().Trim(0).ok());
  EXPECT_EQ(AllocatorOf(device()).Stats().reserved_bytes, 0);
  EXPECT_EQ(pool.freed_on.size(), 1u);
  EXPECT_EQ(gpu().LiveBytes(0), 1000u) << "the pool keeps its own";
  Unset();
}

TEST_F(UserAllocators, TemporariesOfCopiesAreTheProgramsMemoryToo) {
  Start({.has_peers = false});
  {
    const Tensor x = *OnDevice(Counting({8, 12})).Slice(1, {.step = 2});
    const Tensor y = *Tensor::Empty({8, 12}, kInt32, device(1));
    Tensor strided = *y.Slice(1, {.step = 2});
    SetPool(&pool);
    ASSERT_TRUE(CopyInto(strided, x).ok());
    EXPECT_EQ(pool.allocations, 1);
    EXPECT_EQ(Values(strided), Values(*Counting({8, 12}).Slice(1, {.step = 2})));
  }
  Unset();
}

TEST_F(UserAllocators, OldMemoryReturnsToTheOldAllocatorAfterItIsUnset) {
  PoolLog second;
  SetPool(&pool);
  std::optional<Tensor> first = *Tensor::Empty({100}, kFloat32, device());
  SetPool(&second);
  const void* const address = first->raw_data();
  EXPECT_TRUE(Tensor::Empty({100}, kFloat32, device()).ok());
  EXPECT_EQ(second.allocations, 1);
  Unset();
  EXPECT_TRUE(Tensor::Empty({100}, kFloat32, device()).ok());
  EXPECT_EQ(second.allocations, 1);
  Drain();
  EXPECT_TRUE(second.ended);
  EXPECT_FALSE(pool.ended);
  EXPECT_THAT(pool.live, Not(IsEmpty()));
  EXPECT_EQ(pool.live.begin()->first, address);
  first.reset();
  Drain();
  EXPECT_TRUE(pool.ended);
}

TEST_F(UserAllocators, SharedMemoryKeepsItsOwnAllocatorUnlessSet) {
  SetPool(&pool);
  ASSERT_TRUE(Storage::Allocate(100, device(), MemoryKind::kShared).ok());
  EXPECT_EQ(pool.allocations, 0);
  Unset();
  SetPool(&pool, MemoryKind::kShared);
  ASSERT_TRUE(Storage::Allocate(100, device(), MemoryKind::kShared).ok());
  EXPECT_EQ(pool.allocations, 1);
  Unset(MemoryKind::kShared);
}

TEST_F(UserAllocators, DeviceMemoryForPinnedMemoryGoesBack) {
  PoolLog log;
  SetPool(&log, MemoryKind::kPinnedHost);
  const absl::Status s = Storage::Allocate(64, device(), MemoryKind::kPinnedHost).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(s.message(), HasSubstr("the host can't access"));
  EXPECT_THAT(log.live, IsEmpty());
  Unset(MemoryKind::kPinnedHost);
}

TEST_F(UserAllocators, AMemoryKindThatTheDeviceLacksIsRefused) {
  Start({.has_managed = false});
  EXPECT_EQ(Registry::Global()
                .SetMemorySource(device(), MemoryKind::kManaged,
                                 std::make_unique<PoisoningPool>(gpu(), 0, &pool))
                .code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      Registry::Global()
          .SetMemorySource(device(9), kDevice, std::make_unique<PoisoningPool>(gpu(), 0, &pool))
          .code(),
      absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace dovetail
