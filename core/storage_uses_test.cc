// What Storage asks of the backend for the uses of its memory: waits, events, and their failures.

#include <memory>
#include <vector>

#include "dovetail/core/registry.h"
#include "dovetail/core/storage.h"
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

}  // namespace
}  // namespace dovetail
