#include "dovetail/core/memory_source.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/testing/fake_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr MemoryKind kDevice = MemoryKind::kDevice;

struct SourceLog {
  absl::Mutex mutex;
  std::map<void*, size_t> live;
  int allocations = 0;
  int deallocations = 0;
  std::vector<Stream> freed_on;
  std::atomic<bool> ended = false;  // a log may be of two sources
  int failures = 0;                 // the next calls that find no memory
  size_t misalignment = 0;          // bytes added to each address
  absl::Status error;               // what Allocate returns, if not OK
  void (*in_allocate)() = nullptr;
};

// Counts, and fills memory that comes back with 0xDF.
class CountingSource final : public MemorySource {
 public:
  explicit CountingSource(SourceLog* log) : log_(*log) {}
  ~CountingSource() override { log_.ended = true; }

  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream&) override {
    if (log_.in_allocate != nullptr) log_.in_allocate();
    absl::MutexLock lock(&log_.mutex);
    ++log_.allocations;
    if (!log_.error.ok()) return log_.error;
    if (log_.failures > 0) {
      --log_.failures;
      return absl::ResourceExhaustedError("the pool is empty");
    }
    void* const block = std::aligned_alloc(256, (nbytes + 511) / 256 * 256);
    void* const data = static_cast<char*>(block) + log_.misalignment;
    log_.live[data] = nbytes;
    return data;
  }
  void Deallocate(void* data, size_t nbytes, const Stream& stream) noexcept override {
    absl::MutexLock lock(&log_.mutex);
    ++log_.deallocations;
    log_.freed_on.push_back(stream);
    EXPECT_EQ(log_.live[data], nbytes);
    log_.live.erase(data);
    std::memset(data, 0xDF, nbytes);
    std::free(static_cast<char*>(data) - log_.misalignment);
  }

 private:
  SourceLog& log_;
};

// The program's own Allocator, with all that comes with it.
class OwnAllocator final : public Allocator {
 public:
  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream&) override {
    ++allocations;
    return std::aligned_alloc(256, (nbytes + 255) / 256 * 256);
  }
  void Deallocate(void* data, size_t, std::unique_ptr<Uses>) noexcept override {
    ++deallocations;
    std::free(data);
  }
  std::atomic<int> allocations = 0, deallocations = 0;
};

class MemorySources : public testing::Test {
 protected:
  absl::Status SetSource(SourceLog* log, Device device = Device::Cpu(), MemoryKind kind = kDevice) {
    return Registry::Global().SetMemorySource(device, kind, std::make_unique<CountingSource>(log));
  }
  // Returns what was passed to ReleaseAfter.
  void FinishWork() {
    for (const Release& release : std::exchange(fake.late, {})) release.function(release.context);
  }
  static absl::Status Unset(Device device = Device::Cpu(), MemoryKind kind = kDevice) {
    return Registry::Global().SetAllocator(device, kind, nullptr);
  }

  FakeLog fake;
  SourceLog log;
  ScopedBackendOverride scope{
      std::make_unique<FakeBackend>(std::vector{DeviceType::kCpu, DeviceType::kCuda}, &fake)};
};

TEST_F(MemorySources, GiveTheMemoryOfNewTensorsAndGetItBack) {
  ASSERT_TRUE(SetSource(&log).ok());
  {
    const Tensor small = *Tensor::Empty({3}, kFloat32);
    const Tensor large = *Tensor::Empty({1000, 1000}, kFloat32);
    EXPECT_EQ(log.live[small.raw_data()], 12u);
    EXPECT_EQ(log.live[large.raw_data()], 4000000u);
  }
  EXPECT_EQ(log.deallocations, 2);
  EXPECT_THAT(log.live, IsEmpty());
  EXPECT_EQ(fake.allocated, 0);
  ASSERT_TRUE(Unset().ok());
}

TEST_F(MemorySources, AreChosenForOneKindOfMemoryOfOneDevice) {
  ASSERT_TRUE(SetSource(&log, Device::Cuda(1)).ok());
  EXPECT_NE(Registry::Global().FindSetAllocator(Device::Cuda(1), kDevice), nullptr);
  EXPECT_EQ(Registry::Global().FindSetAllocator(Device::Cuda(0), kDevice), nullptr);
  EXPECT_EQ(Registry::Global().FindSetAllocator(Device::Cpu(), kDevice), nullptr);
  EXPECT_EQ(Registry::Global().FindSetAllocator(Device::Cuda(1), MemoryKind::kShared), nullptr);
  ASSERT_TRUE(Storage::Allocate(100, Device::Cuda(0)).ok());
  EXPECT_EQ(log.allocations, 0);
  ASSERT_TRUE(Storage::Allocate(100, Device::Cuda(1)).ok());
  EXPECT_EQ(log.allocations, 1);
  FinishWork();
}

TEST_F(MemorySources, PinnedMemoryHasOneAllocatorByItsDeviceAndByItsKind) {
  FakeLog other;
  const ScopedBackendOverride host(
      std::make_unique<FakeBackend>(std::vector{DeviceType::kCudaHost}, &other));
  ASSERT_TRUE(SetSource(&log, {DeviceType::kCudaHost, 0}).ok());
  Allocator* const set =
      Registry::Global().FindSetAllocator(Device::Cuda(0), MemoryKind::kPinnedHost);
  EXPECT_NE(set, nullptr);
  EXPECT_EQ(Registry::Global().FindSetAllocator({DeviceType::kCudaHost, 0}, kDevice), set);
  ASSERT_TRUE(Unset({DeviceType::kCudaHost, 0}).ok());
}

TEST_F(MemorySources, EndOnceTheyAreUnsetAndAllMemoryIsBack) {
  ASSERT_TRUE(SetSource(&log).ok());
  absl::StatusOr<StorageRef> kept = Storage::Allocate(100, Device::Cpu());
  ASSERT_TRUE(kept.ok());
  ASSERT_TRUE(Unset().ok());
  EXPECT_FALSE(log.ended);
  ASSERT_TRUE(Storage::Allocate(100, Device::Cpu()).ok());
  EXPECT_EQ(log.allocations, 1);
  EXPECT_EQ(fake.allocated, 1);
  *kept = StorageRef();
  EXPECT_EQ(log.deallocations, 1) << "memory returns to where it came from";
  EXPECT_TRUE(log.ended);
}

TEST_F(MemorySources, AnotherOneTakesThePlaceOfTheFirst) {
  SourceLog second;
  ASSERT_TRUE(SetSource(&log).ok());
  const absl::StatusOr<StorageRef> first = Storage::Allocate(100, Device::Cpu());
  ASSERT_TRUE(SetSource(&second).ok());
  ASSERT_TRUE(Storage::Allocate(100, Device::Cpu()).ok());
  EXPECT_EQ(log.allocations, 1);
  EXPECT_EQ(second.allocations, 1);
  EXPECT_FALSE(log.ended);
  EXPECT_FALSE(second.ended);
  ASSERT_TRUE(Unset().ok());
  EXPECT_TRUE(second.ended);
}

// A thread that found the allocator before it was unset.
TEST_F(MemorySources, AnAllocationAfterTheEndIsTheBackends) {
  ASSERT_TRUE(SetSource(&log).ok());
  Allocator* const found = *Registry::Global().GetAllocator(Device::Cpu(), kDevice);
  ASSERT_TRUE(Unset().ok());
  ASSERT_TRUE(log.ended);
  void* const data = *found->Allocate(100, Stream::Default(Device::Cpu()));
  EXPECT_EQ(fake.allocated, 1);
  found->Deallocate(data, 100, nullptr);
  EXPECT_EQ(fake.deallocated, 1);
  EXPECT_EQ(log.allocations + log.deallocations, 0);
}

TEST_F(MemorySources, AreAskedOnceMoreWhenMemoryRunsOut) {
  ASSERT_TRUE(SetSource(&log).ok());
  log.failures = 1;
  EXPECT_TRUE(Storage::Allocate(100, Device::Cpu()).ok());
  EXPECT_EQ(log.allocations, 2);
  log.failures = 5;
  const absl::Status status = Storage::Allocate(100, Device::Cpu()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("Out of memory on cpu: 100 bytes"), HasSubstr("the pool is empty")));
  EXPECT_EQ(log.allocations, 4);
  log.failures = 0;
  EXPECT_EQ((*Registry::Global().GetAllocator(Device::Cpu(), kDevice))->Stats().retries, 2);
}

TEST_F(MemorySources, OtherErrorsAreTheAllocations) {
  ASSERT_TRUE(SetSource(&log).ok());
  log.error = absl::InternalError("the pool is broken");
  EXPECT_EQ(Storage::Allocate(100, Device::Cpu()).status(), log.error);
  EXPECT_EQ(log.allocations, 1);
}

TEST_F(MemorySources, MisalignedMemoryIsGivenBackAndTheErrorHasItsAddress) {
  ASSERT_TRUE(SetSource(&log).ok());
  log.misalignment = 64;
  const absl::Status status = Storage::Allocate(100, Device::Cpu()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("returned the address 0x"), HasSubstr("aligned to 256 bytes")));
  EXPECT_EQ(log.deallocations, 1);
}

TEST_F(MemorySources, NeverSeeZeroBytes) {
  ASSERT_TRUE(SetSource(&log).ok());
  ASSERT_TRUE(Tensor::Empty({0, 3}, kFloat32).ok());
  EXPECT_EQ(log.allocations + log.deallocations, 0);
}

TEST_F(MemorySources, HaveStatistics) {
  ASSERT_TRUE(SetSource(&log).ok());
  Allocator& allocator = **Registry::Global().GetAllocator(Device::Cpu(), kDevice);
  {
    const absl::StatusOr<StorageRef> a = Storage::Allocate(1000, Device::Cpu());
    ASSERT_TRUE(Storage::Allocate(500, Device::Cpu()).ok());
    EXPECT_EQ(allocator.Stats().allocated_bytes, 1000);
    EXPECT_EQ(allocator.Stats().reserved_bytes, 1000);
  }
  EXPECT_EQ(allocator.Stats().allocated_bytes, 0);
  EXPECT_EQ(allocator.Stats().peak_bytes, 1500);
  EXPECT_EQ(allocator.Stats().reserved_bytes, 0);
  EXPECT_EQ(allocator.Stats().allocations, 2);
}

TEST_F(MemorySources, GetMemoryWithWorkOnItAfterThatWork) {
  ASSERT_TRUE(SetSource(&log, Device::Cuda(0)).ok());
  const Stream stream = FakeStream(Device::Cuda(0), 3);
  {
    absl::StatusOr<StorageRef> memory = Storage::Allocate(100, stream);
    ASSERT_TRUE(memory.ok());
  }
  EXPECT_EQ(log.deallocations, 0);
  FinishWork();
  EXPECT_EQ(log.deallocations, 1);
  EXPECT_THAT(log.freed_on, ElementsAre(Stream::Default(Device::Cuda(0))));
}

TEST_F(MemorySources, MayBeSetFromWithinAnAllocation) {
  ASSERT_TRUE(SetSource(&log).ok());
  log.in_allocate = [] { ASSERT_TRUE(Unset().ok()); };
  ASSERT_TRUE(Storage::Allocate(100, Device::Cpu()).ok());
  EXPECT_EQ(log.deallocations, 1);
  EXPECT_TRUE(log.ended);
}

// A backend whose own allocator may be called on any thread.
class ThreadSafeBackend final : public FakeBackend {
 public:
  using FakeBackend::FakeBackend;
  absl::StatusOr<Allocator*> GetAllocator(Device, MemoryKind) override { return &own_; }

 private:
  OwnAllocator own_;
};

TEST_F(MemorySources, AreSetAndUsedOnManyThreads) {
  FakeLog unused;
  const ScopedBackendOverride host(
      std::make_unique<ThreadSafeBackend>(std::vector{DeviceType::kCpu}, &unused));
  std::vector<SourceLog> logs(50);
  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!done.load()) {
        const absl::StatusOr<StorageRef> a = Storage::Allocate(300, Device::Cpu());
        ASSERT_TRUE(a.ok()) << a.status();
        std::memset((*a)->data(), 1, 300);
        ASSERT_TRUE(Storage::Allocate(10, Device::Cpu(), MemoryKind::kShared).ok());
      }
    });
  }
  for (SourceLog& next : logs) {
    ASSERT_TRUE(SetSource(&next).ok());
  }
  ASSERT_TRUE(Unset().ok());
  done.store(true);
  for (std::thread& thread : threads) thread.join();
  for (SourceLog& each : logs) {
    EXPECT_TRUE(each.ended);
    EXPECT_EQ(each.allocations, each.deallocations);
  }
}

TEST_F(MemorySources, AreRefusedWhereThereIsNoSuchMemory) {
  EXPECT_EQ(SetSource(&log, Device::Rocm(0)).code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(log.ended) << "taken over in any case";
  EXPECT_EQ(SetSource(&log, Device::Cuda(7)).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Unset(Device::Rocm(0)).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Registry::Global().SetMemorySource(Device::Cpu(), kDevice, nullptr).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Registry::Global().GetAllocator(Device::Rocm(0), kDevice).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(MemorySources, AreSetAsideWhileATestReplacesTheBackend) {
  ASSERT_TRUE(SetSource(&log).ok());
  Allocator* const set = *Registry::Global().GetAllocator(Device::Cpu(), kDevice);
  SourceLog inner;
  {
    FakeLog replacement;
    const ScopedBackendOverride again(
        std::make_unique<FakeBackend>(std::vector{DeviceType::kCpu}, &replacement));
    EXPECT_NE(*Registry::Global().GetAllocator(Device::Cpu(), kDevice), set);
    ASSERT_TRUE(SetSource(&inner).ok());
  }
  EXPECT_TRUE(inner.ended);
  EXPECT_FALSE(log.ended);
  EXPECT_EQ(*Registry::Global().GetAllocator(Device::Cpu(), kDevice), set);
  EXPECT_EQ(Registry::Global().host_allocator(), set);
}

TEST_F(MemorySources, AnAllocatorIsSetInTheSameWay) {
  OwnAllocator own;
  ASSERT_TRUE(Registry::Global().SetAllocator(Device::Cpu(), kDevice, &own).ok());
  EXPECT_EQ(*Registry::Global().GetAllocator(Device::Cpu(), kDevice), &own);
  absl::StatusOr<StorageRef> kept = Storage::Allocate(100, Device::Cpu());
  ASSERT_TRUE(Storage::Allocate(200, Device::Cpu()).ok());
  ASSERT_TRUE(Unset().ok());
  *kept = StorageRef();
  EXPECT_EQ(own.allocations, 2);
  EXPECT_EQ(own.deallocations, 2);
}

}  // namespace
}  // namespace dovetail
