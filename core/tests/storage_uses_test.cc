// What Storage asks of the backend for the uses of its memory: waits, events, and their failures.

#include <memory>
#include <new>
#include <vector>

#include "dovetail/core/registry.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/testing/failing_new.h"
#include "dovetail/core/testing/fake_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;

struct Script {
  absl::Status record, query, synchronize;
  bool happened = false;
  int queries = 0;
};

// A backend that fails, and whose events happen, as the script says.
class ScriptedBackend final : public FakeBackend {
 public:
  ScriptedBackend(FakeLog* log, Script* script)
      : FakeBackend({DeviceType::kCpu, DeviceType::kCuda}, log), script_(script) {}

  absl::StatusOr<Event> Record(const Stream& stream) override {
    return script_->record.ok() ? FakeBackend::Record(stream) : script_->record;
  }
  absl::StatusOr<bool> Query(const Event&) override {
    ++script_->queries;
    if (!script_->query.ok()) return script_->query;
    return script_->happened;
  }
  absl::Status Synchronize(const Stream& stream) override {
    return script_->synchronize.ok() ? FakeBackend::Synchronize(stream) : script_->synchronize;
  }

 private:
  Script* script_;
};

class StorageUses : public testing::Test {
 protected:
  FakeLog log;
  Script script;
  ScopedBackendOverride backend{std::make_unique<ScriptedBackend>(&log, &script)};

  const Stream by_default = Stream::Default(Device::Cuda(0));
  const Stream lasting = FakeStream(Device::Cuda(0), 7);
  const Stream borrowed = Stream::Borrow(Device::Cuda(0), NativeStream{8});
  // A device that has no backend.
  const Stream unserved = FakeStream(Device::Rocm(0), 1);

  StorageRef s = *Storage::Allocate(8, Device::Cuda(0));

  size_t events() const { return s->uses()->events().size(); }
};

// Rule 50.
TEST_F(StorageUses, SynchronizeWaitsForEveryStreamAndEvent) {
  script.happened = true;
  s->RecordUse(lasting);
  s->RecordUse(borrowed);
  s->RecordUse(Event(Device::Cuda(0), nullptr));
  ASSERT_EQ(events(), 2u);
  EXPECT_TRUE(s->Synchronize().ok());
  EXPECT_THAT(log.synchronized, ElementsAre(by_default, lasting));
  EXPECT_EQ(script.queries, 2);
}

TEST_F(StorageUses, SynchronizeReturnsTheBackendsErrors) {
  script.synchronize = absl::InternalError("lost");
  EXPECT_EQ(s->Synchronize(), script.synchronize);
  script.synchronize = absl::OkStatus();
  script.query = absl::AbortedError("broken");
  s->RecordUse(borrowed);
  EXPECT_EQ(s->Synchronize(), script.query);
}

TEST_F(StorageUses, WorkOnADeviceWithoutBackendIsKeptAndCantBeWaitedFor) {
  s->RecordUse(unserved);
  s->RecordUse(Stream::Borrow(Device::Rocm(0), NativeStream{2}));
  EXPECT_EQ(s->used_on().size(), 3u);
  EXPECT_EQ(s->Synchronize().code(), absl::StatusCode::kNotFound);

  const StorageRef other = *Storage::Allocate(8, Device::Cuda(0));
  other->RecordUse(Event(Device::Rocm(0), nullptr));
  EXPECT_EQ(other->Synchronize().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(other->OrderBefore(unserved).code(), absl::StatusCode::kNotFound);
}

TEST_F(StorageUses, OfManyEventsThoseThatHaveHappenedAreDropped) {
  for (int i = 0; i < 20; ++i) s->RecordUse(borrowed);
  EXPECT_EQ(events(), 20u) << "none has happened";
  script.query = absl::AbortedError("unknown");
  s->RecordUse(borrowed);
  EXPECT_EQ(events(), 21u) << "nor is known to have";
  script.query = absl::OkStatus();
  script.happened = true;
  s->RecordUse(borrowed);
  EXPECT_EQ(events(), 1u);
}

TEST_F(StorageUses, FewEventsAreNotAskedFor) {
  script.happened = true;
  for (int i = 0; i < 8; ++i) s->RecordUse(borrowed);
  EXPECT_EQ(events(), 8u);
  EXPECT_EQ(script.queries, 0);
  s->RecordUse(borrowed);
  EXPECT_EQ(events(), 1u);
}

TEST_F(StorageUses, WorkWhoseEventCantBeRecordedIsUnknown) {
  script.record = absl::InternalError("no event");
  s->RecordUse(borrowed);
  EXPECT_EQ(events(), 0u);
  EXPECT_TRUE(s->uses()->has_unknown());
}

TEST_F(StorageUses, MemoryThatNoBackendReusesIsSharedWithoutARecord) {
  char byte = 0;
  const StorageRef foreign = Storage::Adopt(&byte, 1, Device::Rocm(0), {});
  EXPECT_TRUE(foreign->Share(std::nullopt).ok());
  EXPECT_EQ(foreign->uses(), nullptr);
}

TEST_F(StorageUses, MemoryOfTheHostHasNone) {
  const StorageRef host = *Storage::Allocate(1000, Device::Cpu());
  EXPECT_EQ(host->uses(), nullptr);
  EXPECT_TRUE(host->Synchronize().ok());
  EXPECT_THAT(log.synchronized, ElementsAre());
}

// ---- Without memory for the record ----

// Calls record(storage) with each of its allocations failing, on memory that was never used.
template <typename Record>
void ExpectWorkIsNotForgotten(FakeLog& log, Record record) {
  static int released;
  char byte = 0;
  for (const Failures failures : {Failures::kOne, Failures::kAllLater}) {
    bool failed = true;
    for (int allowed = 0; failed; ++allowed) {
      log.synchronized.clear();
      log.synchronized.shrink_to_fit();
      released = 0;
      StorageRef s = Storage::Adopt(&byte, 1, Device::Cuda(0), {[](void*) { ++released; }, &byte});
      {
        const FailingNew scope(allowed, failures);
        record(*s);
        failed = FailingNew::failed();
      }
      const Uses* const uses = s->uses();
      const bool is_recorded = uses != nullptr && uses->has_work();
      const bool was_awaited = !log.synchronized.empty();
      const int64_t kept = s->use_count() - 1;
      EXPECT_TRUE(is_recorded || was_awaited || kept > 0) << allowed;
      if (kept == 0) continue;
      Storage* const memory = s.get();
      s = StorageRef();
      EXPECT_EQ(released, 0) << "the work may go on";
      for (int64_t i = 0; i < kept; ++i) StorageRef::Take(memory);
    }
  }
}

TEST_F(StorageUses, WorkThatFindsNoMemoryForItsRecordIsAwaitedOrKeepsTheMemory) {
  script.happened = true;
  ExpectWorkIsNotForgotten(log, [&](Storage& s) { s.RecordUse(borrowed); });
  ExpectWorkIsNotForgotten(log, [&](Storage& s) { s.RecordUse(lasting); });
  const Event event(Device::Cuda(0), nullptr);
  script.query = absl::AbortedError("An error whose text is long enough for a block of memory.");
  ExpectWorkIsNotForgotten(log, [&](Storage& s) { s.RecordUse(event); });
  ExpectWorkIsNotForgotten(log, [&](Storage& s) {
    for (int i = 0; i < 12; ++i) s.RecordUse(borrowed);
  });
}

// A backend that finds no memory to wait.
class CantWait final : public FakeBackend {
 public:
  CantWait(std::vector<DeviceType> types, FakeLog* log) : FakeBackend(std::move(types), log) {}
  absl::Status Synchronize(const Stream&) override { throw std::bad_alloc(); }
  void ReleaseAfter(std::unique_ptr<Uses> uses, Release release) noexcept override {
    DeviceBackend::ReleaseAfter(std::move(uses), release);
  }
};

TEST(StorageWithoutMemory, WhatCantBeWaitedForIsLeakedAndNotReturnedEarly) {
  FakeLog log, other_log;
  const ScopedBackendOverride gpu(
      std::make_unique<CantWait>(std::vector<DeviceType>{DeviceType::kCuda}, &log));
  const ScopedBackendOverride other(
      std::make_unique<FakeBackend>(std::vector<DeviceType>{DeviceType::kRocm}, &other_log));
  static int released;
  char byte = 0;
  released = 0;
  for (const Device device : {Device::Cuda(0), Device::Rocm(0)}) {
    StorageRef s = Storage::Adopt(&byte, 1, device, {[](void*) { ++released; }, &byte});
    s->RecordUse(FakeStream(Device::Cuda(0), 1));
    s = StorageRef();
    EXPECT_EQ(released, 0) << device;
  }
  StorageRef s = *Storage::Allocate(1, Device::Rocm(0));
  void* const data = s->data();
  s->RecordUse(FakeStream(Device::Cuda(0), 1));
  s = StorageRef();
  EXPECT_EQ(other_log.deallocated, 0);
  DeviceBackend* const backend = Registry::Global().Find(DeviceType::kRocm);
  (*backend->GetAllocator(Device::Rocm(0), MemoryKind::kDevice))->Deallocate(data, 1, nullptr);
}

// ---- Work of several backends ----

// The events of one backend. An event has happened once the host waited for it.
class OwnEvents final : public FakeBackend {
 public:
  struct State {
    explicit State(OwnEvents* maker) : backend(maker) {}
    OwnEvents* backend;
    bool has_happened = false;
  };

  OwnEvents(std::vector<DeviceType> types, FakeLog* log) : FakeBackend(std::move(types), log) {}

  Event New() {
    last = std::make_shared<State>(this);
    return Event({device_types()[0], 0}, last);
  }
  absl::StatusOr<Event> Record(const Stream& stream) override {
    EXPECT_TRUE(Serves(stream.device().type)) << stream;
    return New();
  }
  absl::Status Wait(const Stream& stream, const Event& event) override {
    Own(event);
    return FakeBackend::Wait(stream, event);
  }
  absl::StatusOr<bool> Query(const Event& event) override { return Own(event).has_happened; }
  absl::Status HostWait(const Event& event) override {
    ++host_waits;
    Own(event).has_happened = true;
    return absl::OkStatus();
  }
  absl::Status Synchronize(const Stream& stream) override {
    EXPECT_TRUE(Serves(stream.device().type)) << stream;
    return FakeBackend::Synchronize(stream);
  }
  void ReleaseAfter(std::unique_ptr<Uses> uses, Release release) noexcept override {
    DeviceBackend::ReleaseAfter(std::move(uses), release);
  }

  std::shared_ptr<State> last;
  int host_waits = 0;

 private:
  State& Own(const Event& event) {
    auto* state = static_cast<State*>(event.state());
    EXPECT_EQ(state->backend, this) << "an event of another backend";
    return *state;
  }
};

class WorkOfOthers : public testing::Test {
 protected:
  static std::unique_ptr<ScopedBackendOverride> Register(DeviceType type, FakeLog* log,
                                                         OwnEvents** backend) {
    auto made = std::make_unique<OwnEvents>(std::vector<DeviceType>{type}, log);
    *backend = made.get();
    return std::make_unique<ScopedBackendOverride>(std::move(made));
  }
  // Memory of `device` that a lender gets back. `when` is called then.
  StorageRef Lend(Device device) {
    return Storage::Adopt(&byte, 1, device,
                          {[](void* self) {
                             auto* test = static_cast<WorkOfOthers*>(self);
                             ++test->returned;
                             test->event_was_done =
                                 test->other->last == nullptr || test->other->last->has_happened;
                           },
                           this});
  }

  char byte = 0;
  int returned = 0;
  bool event_was_done = false;
  FakeLog cpu_log, own_log, other_log;
  OwnEvents *cpu, *own, *other;
  std::unique_ptr<ScopedBackendOverride> scopes[3] = {
      Register(DeviceType::kCpu, &cpu_log, &cpu), Register(DeviceType::kCuda, &own_log, &own),
      Register(DeviceType::kRocm, &other_log, &other)};
  const Stream ours = FakeStream(Device::Cuda(0), 1), theirs = FakeStream(Device::Rocm(0), 2);
};

// Rule 49.
TEST_F(WorkOfOthers, AStreamsNextUserHasTheHostWaitForIt) {
  const StorageRef s = Lend(Device::Cuda(0));
  s->RecordUse(other->New());
  s->RecordUse(theirs);
  ASSERT_TRUE(s->OrderBefore(ours).ok());
  EXPECT_EQ(other->host_waits, 1);
  EXPECT_THAT(other_log.synchronized, ElementsAre(theirs));
  EXPECT_THAT(own_log.waited, ElementsAre());
}

TEST_F(WorkOfOthers, EachBackendIsAskedForItsOwnEvents) {
  const Stream borrowed = Stream::Borrow(Device::Cuda(0), NativeStream{8});
  const StorageRef s = Lend(Device::Cuda(0));
  for (int i = 0; i < 20; ++i) {
    s->RecordUse(other->New());
    s->RecordUse(borrowed);
  }
  EXPECT_EQ(s->uses()->events().size(), 40u) << "none has happened";
  ASSERT_TRUE(s->Synchronize().ok());
  s->RecordUse(borrowed);
  EXPECT_EQ(s->uses()->events().size(), 1u);
}

// Rule 50.
TEST_F(WorkOfOthers, MemoryGoesBackAfterIt) {
  for (const Device device : {Device::Cuda(0), Device::Cpu()}) {
    returned = other->host_waits = 0;
    other_log.synchronized.clear();
    StorageRef s = Lend(device);
    s->RecordUse(other->New());
    if (device != Device::Cpu()) s->RecordUse(theirs);
    s = StorageRef();
    EXPECT_EQ(returned, 1);
    EXPECT_TRUE(event_was_done);
    EXPECT_EQ(other->host_waits, 1);
    EXPECT_EQ(other_log.synchronized.size(), device == Device::Cpu() ? 0u : 1u);
  }
}

TEST_F(WorkOfOthers, AllocatedMemoryGoesBackAfterIt) {
  for (const Device device : {Device::Cuda(0), Device::Cpu()}) {
    for (const size_t nbytes : {size_t{8}, size_t{100000}}) {
      other->host_waits = 0;
      StorageRef s = *Storage::Allocate(nbytes, device);
      s->RecordUse(other->New());
      s = StorageRef();
      EXPECT_EQ(other->host_waits, 1) << device;
    }
  }
  EXPECT_EQ(own_log.deallocated, 2);
  EXPECT_EQ(cpu_log.deallocated, 2);
}

TEST_F(WorkOfOthers, MemoryOfTheHostThatAnotherDeviceReadsGoesBackAfterTheRead) {
  StorageRef s = Lend(Device::Cpu());
  s->RecordUse(other->New());
  EXPECT_TRUE(s->OrderBefore(ours).ok());
  EXPECT_EQ(other->host_waits, 1);
  s = StorageRef();
  EXPECT_EQ(returned, 1);
}

// Rule 50.
TEST_F(WorkOfOthers, ABackendThatDoesNotReleaseLaterWaitsBeforeItReleases) {
  StorageRef s = Lend(Device::Rocm(0));
  s->RecordUse(other->New());
  s->RecordUse(theirs);
  s->RecordUse(FakeStream(Device::Rocm(0), 3), UseKind::kOrder);
  s = StorageRef();
  EXPECT_EQ(returned, 1);
  EXPECT_TRUE(event_was_done);
  EXPECT_THAT(other_log.synchronized, ElementsAre(theirs)) << "the other stream did no work";
}

TEST_F(WorkOfOthers, MemoryWithWorkOfADeviceThatNobodyServesGoesBackAtOnce) {
  StorageRef s = Lend(Device::Cuda(0));
  s->RecordUse(Event({DeviceType::kOneApi, 0}, nullptr));
  s->RecordUse(Stream::Borrow({DeviceType::kOneApi, 0}, NativeStream{2}));
  s = StorageRef();
  EXPECT_EQ(returned, 1);
}

}  // namespace
}  // namespace dovetail
