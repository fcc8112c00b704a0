#include "dovetail/core/storage.h"

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "dovetail/core/internal/storage_access.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/testing/failing_new.h"
#include "dovetail/core/testing/fake_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using internal_storage::StorageAccess;

using testing::ElementsAre;
using testing::IsEmpty;

// Lends memory and counts how often it was released.
struct Lender {
  char bytes[16] = {};
  std::atomic<int> returned{0};
  std::thread::id returned_on;

  Storage::Release release() {
    return {[](void* context) {
              auto* self = static_cast<Lender*>(context);
              self->returned_on = std::this_thread::get_id();
              ++self->returned;
            },
            this};
  }
  StorageRef Lend() { return Storage::Adopt(bytes, sizeof bytes, Device::Cpu(), release()); }
};

TEST(Storage, AdoptedMemoryIsDescribedAndReleasedOnce) {
  Lender lender;
  {
    StorageRef s = lender.Lend();
    EXPECT_EQ(s->data(), lender.bytes);
    EXPECT_EQ(s->nbytes(), 16u);
    EXPECT_EQ(s->device(), Device::Cpu());
    EXPECT_EQ(s->use_count(), 1);
    EXPECT_EQ(lender.returned, 0);
  }
  EXPECT_EQ(lender.returned, 1);
}

TEST(Storage, TheLastReferenceReleases) {
  Lender lender;
  StorageRef a = lender.Lend();
  StorageRef b = a;
  EXPECT_EQ(a->use_count(), 2);
  EXPECT_EQ(a, b);
  StorageRef c = std::move(a);
  EXPECT_FALSE(a);  // NOLINT: a moved-from reference is null
  EXPECT_EQ(c->use_count(), 2);
  b = c;
  EXPECT_EQ(c->use_count(), 2);
  b = StorageRef();
  EXPECT_EQ(c->use_count(), 1);
  const StorageRef& alias = c;
  c = alias;
  EXPECT_EQ(lender.returned, 0);
  c = StorageRef();
  EXPECT_EQ(lender.returned, 1);
}

TEST(Storage, ALeakedReferenceCanBeTakenBack) {
  Lender lender;
  StorageRef s = lender.Lend();
  Storage* leaked = std::move(s).Leak();
  EXPECT_FALSE(s);  // NOLINT: Leak gave it up
  EXPECT_EQ(lender.returned, 0);
  StorageRef::Take(leaked);
  EXPECT_EQ(lender.returned, 1);
}

TEST(Storage, OneThreadCopiesItsReferenceWhileOthersDropTheCopies) {
  constexpr int kCopies = 20000;
  Lender lender;
  StorageRef own = lender.Lend();
  std::atomic<Storage*> handed_over{nullptr};
  std::thread other([&] {
    for (int i = 0; i < kCopies; ++i) {
      Storage* copy;
      while ((copy = handed_over.exchange(nullptr)) == nullptr) std::this_thread::yield();
      StorageRef::Take(copy);
    }
  });
  for (int i = 0; i < kCopies; ++i) {
    Storage* copy = StorageAccess::CopyUnshared(own).Leak();
    Storage* taken = nullptr;
    while (!handed_over.compare_exchange_weak(taken, copy)) {
      taken = nullptr;
      std::this_thread::yield();
    }
  }
  other.join();
  EXPECT_EQ(own->use_count(), 1);
  EXPECT_EQ(lender.returned, 0);
  EXPECT_FALSE(StorageAccess::CopyUnshared(StorageRef()));
  own = StorageRef();
  EXPECT_EQ(lender.returned, 1);
}

TEST(Storage, ANullReleaseIsAllowed) {
  char byte;
  StorageRef s = Storage::Adopt(&byte, 1, Device::Cuda(0), {});
  EXPECT_EQ(s->device(), Device::Cuda(0));
  s = StorageRef();
  EXPECT_FALSE(s);
}

TEST(Storage, ReleaseHappensOnTheThreadOfTheLastReference) {
  Lender lender;
  StorageRef s = lender.Lend();
  std::thread thread([moved = std::move(s)]() mutable { moved = StorageRef(); });
  const std::thread::id id = thread.get_id();
  thread.join();
  EXPECT_EQ(lender.returned, 1);
  EXPECT_EQ(lender.returned_on, id);
}

TEST(Storage, ManyThreadsThatCopyAndDropReleaseOnce) {
  for (int round = 0; round < 50; ++round) {
    Lender lender;
    {
      StorageRef shared = lender.Lend();
      std::vector<std::thread> threads;
      for (int t = 0; t < 4; ++t) {
        threads.emplace_back([mine = shared] {
          for (int i = 0; i < 1000; ++i) {
            StorageRef copy = mine;
            StorageRef moved = std::move(copy);
          }
        });
      }
      shared = StorageRef();
      for (std::thread& t : threads) t.join();
    }
    ASSERT_EQ(lender.returned, 1);
  }
}

TEST(Storage, ASoleOwnerMayTakeTheReleaseOver) {
  Lender lender;
  StorageRef s = lender.Lend();
  StorageRef other = s;
  EXPECT_EQ(StorageAccess::TakeRelease(*s).function, nullptr) << "somebody else holds it";
  other = StorageRef();
  const Storage::Release release = StorageAccess::TakeRelease(*s);
  EXPECT_EQ(release.function, lender.release().function);
  EXPECT_EQ(release.context, &lender);
  s = StorageRef();
  EXPECT_EQ(lender.returned, 0);
}

class AllocatedStorage : public testing::Test {
 protected:
  FakeLog log;
  ScopedBackendOverride fake{std::make_unique<FakeBackend>(
      std::vector<DeviceType>{DeviceType::kCpu, DeviceType::kCuda}, &log)};
};

TEST_F(AllocatedStorage, MemoryGoesBackToItsAllocatorWithItsSize) {
  {
    absl::StatusOr<StorageRef> s = Storage::Allocate(100, Device::Cuda(1));
    ASSERT_TRUE(s.ok()) << s.status();
    EXPECT_EQ((*s)->nbytes(), 100u);
    EXPECT_EQ((*s)->device(), Device::Cuda(1));
    EXPECT_EQ(log.deallocated, 0);
  }
  EXPECT_EQ(log.allocated, 1);
  EXPECT_EQ(log.deallocated, 1);
  EXPECT_EQ(log.deallocated_bytes, 100u);
}

// Rule 50.
TEST_F(AllocatedStorage, ItsReleaseIsOrderedAfterEveryStreamThatUsedIt) {
  const Stream a = Stream::Default(Device::Cuda(0));
  const Stream b = FakeStream(Device::Cuda(0), 7);
  {
    absl::StatusOr<StorageRef> s = Storage::Allocate(8, a);
    ASSERT_TRUE(s.ok());
    EXPECT_THAT((*s)->used_on(), ElementsAre(a));
    (*s)->RecordUse(b);
    (*s)->RecordUse(a);
    (*s)->RecordUse(b);
    EXPECT_THAT((*s)->used_on(), ElementsAre(a, b));
  }
  EXPECT_THAT(log.used_on, ElementsAre(a, b));
}

// Rule 50.
TEST_F(AllocatedStorage, ABorrowedStreamIsRecordedAsAnEvent) {
  const Stream borrowed = Stream::Borrow(Device::Cuda(0), NativeStream{7});
  absl::StatusOr<StorageRef> s = Storage::Allocate(8, Device::Cuda(0));
  ASSERT_TRUE(s.ok());
  (*s)->RecordUse(borrowed);
  EXPECT_THAT(log.recorded, ElementsAre(borrowed));
  EXPECT_THAT((*s)->used_on(), ElementsAre(Stream::Default(Device::Cuda(0))));
  EXPECT_EQ((*s)->uses()->events().size(), 1u);
  EXPECT_FALSE((*s)->uses()->has_unknown());
}

// Rule 50.
TEST_F(AllocatedStorage, SharingOrdersTheConsumerAndRecordsItsUses) {
  absl::StatusOr<StorageRef> s = Storage::Allocate(8, Device::Cuda(0));
  ASSERT_TRUE(s.ok());
  const Stream lasting = FakeStream(Device::Cuda(0), 8);
  ASSERT_TRUE((*s)->Share(lasting).ok());
  EXPECT_THAT(log.recorded, ElementsAre(Stream::Default(Device::Cuda(0))));
  EXPECT_THAT(log.waited, ElementsAre(lasting));
  EXPECT_THAT((*s)->used_on(), ElementsAre(Stream::Default(Device::Cuda(0)), lasting));
  EXPECT_FALSE((*s)->uses()->has_unknown());
  ASSERT_TRUE((*s)->Share(Stream::Borrow(Device::Cuda(0), NativeStream{9})).ok());
  EXPECT_TRUE((*s)->uses()->has_unknown());
  EXPECT_EQ((*s)->used_on().size(), 2u) << "the handle is not kept";
}

// Rule 50.
TEST_F(AllocatedStorage, BorrowedMemoryIsReleasedAfterTheWorkOnIt) {
  Lender untouched, ordered, used, shared;
  const Stream stream = Stream::Default(Device::Cuda(0));
  auto lend = [](Lender& lender) {
    return Storage::Adopt(lender.bytes, sizeof lender.bytes, Device::Cuda(0), lender.release());
  };
  lend(untouched);
  lend(ordered)->RecordUse(stream, UseKind::kOrder);
  EXPECT_EQ(untouched.returned, 1) << "at once";
  EXPECT_EQ(ordered.returned, 1) << "at once: no work on it was enqueued";
  lend(used)->RecordUse(stream);
  ASSERT_TRUE(lend(shared)->Share(std::nullopt).ok());
  EXPECT_EQ(used.returned + shared.returned, 0);
  ASSERT_EQ(log.late.size(), 2u) << "the backend waits";
  for (const Release& release : log.late) release.function(release.context);
  EXPECT_EQ(used.returned + shared.returned, 2);
}

TEST_F(AllocatedStorage, StreamsAreNotRecordedOnTheCpu) {
  absl::StatusOr<StorageRef> s = Storage::Allocate(8, Device::Cpu());
  ASSERT_TRUE(s.ok());
  (*s)->RecordUse(Stream::Default(Device::Cpu()));
  EXPECT_THAT((*s)->used_on(), IsEmpty());
}

TEST_F(AllocatedStorage, FailuresReturnErrorsAndLeakNothing) {
  EXPECT_EQ(Storage::Allocate(8, Device::Rocm(0)).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Storage::Allocate(8, Device::Cuda(2)).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Storage::Allocate(8, Device::Cuda(0), MemoryKind::kManaged).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Storage::Allocate(SIZE_MAX, Device::Cuda(0)).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(log.allocated, 0);
}

TEST_F(AllocatedStorage, RunningOutOfHostMemoryLeaksNoDeviceMemory) {
  const int failures =
      ForEachAllocationFailure([&] { EXPECT_TRUE(Storage::Allocate(64, Device::Cuda(0)).ok()); },
                               [&] { EXPECT_EQ(log.deallocated, log.allocated); });
  EXPECT_GE(failures, 1);
}

}  // namespace
}  // namespace dovetail
