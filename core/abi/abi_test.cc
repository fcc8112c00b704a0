#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "dovetail/core/abi/convert.h"
#include "dovetail/core/abi/export.h"
#include "dovetail/core/abi/import.h"
#include "dovetail/core/copy.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/testing/failing_new.h"
#include "dovetail/core/testing/fake_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A fake backend, used through the C struct.
class BackendAbi : public testing::Test {
 protected:
  BackendAbi() {
    auto fake = std::make_unique<FakeBackend>(
        std::vector<DeviceType>{DeviceType::kCpu, DeviceType::kCuda}, &log);
    absl::StatusOr<std::unique_ptr<DeviceBackend>> imported =
        ImportBackend(ExportBackend(std::move(fake)));
    EXPECT_TRUE(imported.ok()) << imported.status();
    backend = imported->get();
    scope.emplace(*std::move(imported));
  }

  FakeLog log;
  DeviceBackend* backend;
  std::optional<ScopedBackendOverride> scope;
  const Stream borrowed = Stream::Borrow(Device::Cuda(0), NativeStream{7});
};

TEST_F(BackendAbi, TellsWhoItIs) {
  EXPECT_EQ(backend->name(), "fake");
  EXPECT_THAT(backend->device_types(), ElementsAre(DeviceType::kCpu, DeviceType::kCuda));
  EXPECT_EQ(*backend->DeviceCount(), 2);
}

TEST_F(BackendAbi, ErrorsKeepTheirCodeAndText) {
  const absl::Status s = backend->GetAllocator(Device::Cuda(5), MemoryKind::kDevice).status();
  EXPECT_EQ(s, absl::NotFoundError("The fake backend has two devices."));
  EXPECT_EQ(backend->GetPointerAttributes(&log).status(),
            absl::NotFoundError("The fake backend knows no pointers."));
  EXPECT_EQ(backend->WaitForeign(borrowed, nullptr).code(), absl::StatusCode::kUnimplemented);
}

TEST_F(BackendAbi, MemoryGoesBackWithItsUses) {
  const Stream made = *backend->CreateStream(Device::Cuda(0));
  EXPECT_TRUE(made.is_owned());
  {
    absl::StatusOr<StorageRef> s = Storage::Allocate(100, made);
    ASSERT_TRUE(s.ok()) << s.status();
    EXPECT_EQ(log.allocated_bytes, 100u);
    (*s)->RecordUse(borrowed);
    ASSERT_TRUE((*s)->Share(std::nullopt).ok());
  }
  EXPECT_EQ(log.deallocated_bytes, 100u);
  EXPECT_THAT(log.used_on, ElementsAre(made));
  EXPECT_THAT(log.recorded, ElementsAre(borrowed));
}

TEST_F(BackendAbi, TensorsAreCopied) {
  const Tensor x = *Tensor::Empty({2, 3}, kInt32);
  for (int i = 0; i < 6; ++i) static_cast<int32_t*>(x.raw_data())[i] = i;
  const Tensor y = *Copied(*x.Transpose(0, 1), {.device = Device::Cuda(1)});
  const auto* got = static_cast<const int32_t*>(y.raw_data());
  EXPECT_THAT(std::vector<int32_t>(got, got + 6), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST_F(BackendAbi, StreamsAndEventsPass) {
  const Stream made = *backend->CreateStream(Device::Cuda(0));
  const Event event = *backend->Record(made);
  ASSERT_TRUE(backend->Wait(borrowed, event).ok());
  EXPECT_THAT(log.recorded, ElementsAre(made));
  EXPECT_THAT(log.waited, ElementsAre(borrowed));
  EXPECT_TRUE(*backend->Query(event));
  EXPECT_TRUE(backend->HostWait(event).ok());
  ASSERT_TRUE(backend->Synchronize(made).ok());
  EXPECT_THAT(log.synchronized, ElementsAre(made));
  EXPECT_FALSE(backend->DecodeStream(Device::Cuda(0), 3)->stream.has_value());
  EXPECT_EQ(*backend->EncodeStream(made), std::nullopt);
}

TEST_F(BackendAbi, ThatTheHostWaitsForAConsumerPasses) {
  class Waiting final : public FakeBackend {
   public:
    using FakeBackend::FakeBackend;
    absl::StatusOr<StreamRequest> DecodeStream(Device device, std::optional<int64_t>) override {
      return StreamRequest{.stream = Stream::Default(device), .host_waits = true};
    }
  };
  const std::unique_ptr<DeviceBackend> waiting = *ImportBackend(
      ExportBackend(std::make_unique<Waiting>(std::vector<DeviceType>{DeviceType::kOneApi}, &log)));
  const StreamRequest request = *waiting->DecodeStream({DeviceType::kOneApi, 0}, std::nullopt);
  EXPECT_EQ(request.stream, Stream::Default({DeviceType::kOneApi, 0}));
  EXPECT_TRUE(request.host_waits);
}

TEST_F(BackendAbi, LentMemoryIsTheBackendsToGiveBack) {
  int returned = 0;
  char byte;
  {
    StorageRef s = Storage::Adopt(&byte, 1, Device::Cuda(0),
                                  {[](void* n) { ++*static_cast<int*>(n); }, &returned});
    s->RecordUse(Stream::Default(Device::Cuda(0)));
  }
  ASSERT_EQ(log.late.size(), 1u);
  EXPECT_EQ(returned, 0);
  log.late[0].function(log.late[0].context);
  EXPECT_EQ(returned, 1);
}

// A backend in this shared object. What the state of its events is, is its own affair.
class Neighbour final : public FakeBackend {
 public:
  using FakeBackend::FakeBackend;
  absl::StatusOr<Event> Record(const Stream& stream) override {
    return Event(stream.device(), std::make_shared<std::string>("private to this backend"));
  }
  absl::StatusOr<bool> Query(const Event&) override { return host_waits > 0; }
  absl::Status HostWait(const Event&) override { return ++host_waits, absl::OkStatus(); }
  int host_waits = 0;
};

TEST_F(BackendAbi, TheHostWaitsForEventsOfOtherBackends) {
  FakeLog other_log;
  auto made = std::make_unique<Neighbour>(std::vector<DeviceType>{DeviceType::kRocm}, &other_log);
  Neighbour& other = *made;
  const ScopedBackendOverride others(std::move(made));
  const Stream theirs = FakeStream(Device::Rocm(0), 4);
  const Event event = *other.Record(theirs);
  EXPECT_FALSE(*backend->Query(event));
  ASSERT_TRUE(backend->Wait(borrowed, event).ok());
  EXPECT_EQ(other.host_waits, 1);
  EXPECT_TRUE(*backend->Query(event));
  ASSERT_TRUE(backend->HostWait(event).ok());
  EXPECT_EQ(other.host_waits, 2);

  Uses uses;
  uses.AddEvent(event);
  uses.AddEvent(*backend->Record(borrowed));
  uses.AddStream(theirs, UseKind::kWork);
  log.waited.clear();
  ASSERT_TRUE(backend->OrderBefore(uses, borrowed).ok());
  EXPECT_EQ(other.host_waits, 3);
  EXPECT_THAT(other_log.synchronized, ElementsAre(theirs));
  EXPECT_THAT(log.waited, ElementsAre(borrowed)) << "for its own event";
  EXPECT_FALSE(backend->ShareMemory(Device::Cuda(0), &log, 1, &uses, borrowed).ok());

  StorageRef s = *Storage::Allocate(100, Device::Cuda(0));
  s->RecordUse(event);
  s->RecordUse(theirs);
  s = StorageRef();
  EXPECT_EQ(other.host_waits, 4);
  EXPECT_THAT(log.used_on, ElementsAre(Stream::Default(Device::Cuda(0))));
}

TEST_F(BackendAbi, ItsEndIsTheStructsEnd) {
  scope.reset();
  EXPECT_TRUE(log.destroyed);
}

TEST(Shared, ABoxKeepsWhatIsInItUntilTheLastReferenceGoes) {
  auto pointer = std::make_shared<int>(3);
  std::weak_ptr<int> alive = pointer;
  const DovetailShared box = abi::Box(std::move(pointer));
  std::shared_ptr<void> first = abi::Share(box), second = abi::Adopt(box);
  first.reset();
  EXPECT_FALSE(alive.expired());
  second.reset();
  EXPECT_TRUE(alive.expired());
  EXPECT_EQ(abi::Share(abi::Box(nullptr)), nullptr);
}

// Rejected structs are left as they are.
TEST(ImportBackend, RefusesWhatItDoesNotUnderstand) {
  FakeLog log;
  DovetailBackend* c = ExportBackend(
      std::make_unique<FakeBackend>(std::vector<DeviceType>{DeviceType::kCuda}, &log));
  DovetailBackend other = *c;
  other.major = 2;
  EXPECT_THAT(std::string(ImportBackend(&other).status().message()), HasSubstr("version 2.3"));
  other = *c;
  other.struct_size = offsetof(DovetailBackend, share_memory) - 8;
  EXPECT_THAT(std::string(ImportBackend(&other).status().message()), HasSubstr("bytes"));
  other = *c;
  other.query = nullptr;
  EXPECT_THAT(std::string(ImportBackend(&other).status().message()), HasSubstr("lacks"));
  EXPECT_FALSE(log.destroyed);
  c->release(c->self);
  EXPECT_TRUE(log.destroyed);
}

TEST(ImportBackend, TakesABackendOfAnEarlierMinorVersionWithoutWhatCameLater) {
  FakeLog log;
  DovetailBackend* c = ExportBackend(
      std::make_unique<FakeBackend>(std::vector<DeviceType>{DeviceType::kCuda}, &log));
  c->minor = 0;
  c->struct_size = offsetof(DovetailBackend, share_memory);
  auto never = [](auto...) -> int32_t { std::abort(); };
  c->share_memory = never;  // beyond the end of a struct of minor version 0
  c->open_memory = never;
  c->fill = never;
  c->cast_copy = never;
  c->arange = never;
  const std::unique_ptr<DeviceBackend> backend = *ImportBackend(c);
  const Device device = Device::Cuda(0);
  EXPECT_EQ(
      backend->ShareMemory(device, nullptr, 1, nullptr, Stream::Default(device)).status().code(),
      absl::StatusCode::kUnimplemented);
  EXPECT_EQ(backend->OpenMemory(device.type, "").status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(backend->Fill({}, nullptr, Stream::Default(device)).code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(backend->CastCopy({}, {}, Stream::Default(device)).code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(backend->Arange({}, {}, Stream::Default(device)).code(),
            absl::StatusCode::kUnimplemented);
}

TEST(ImportBackend, TakesEventsWithoutAnObject) {
  FakeLog log;
  DovetailBackend* c = ExportBackend(
      std::make_unique<FakeBackend>(std::vector<DeviceType>{DeviceType::kCuda}, &log));
  c->record = [](void*, const DovetailStream* stream, DovetailEvent* event, DovetailMessage*) {
    *event = {stream->device, {nullptr, nullptr, nullptr}};
    return int32_t{0};
  };
  c->query = [](void*, const DovetailEvent* event, int32_t* happened, DovetailMessage*) {
    *happened = event->state.object == nullptr ? 1 : 0;
    return int32_t{0};
  };
  const std::unique_ptr<DeviceBackend> backend = *ImportBackend(c);
  const absl::StatusOr<Event> event = backend->Record(Stream::Default(Device::Cuda(0)));
  ASSERT_TRUE(event.ok()) << event.status();
  EXPECT_TRUE(*backend->Query(*event));
}

// As C code does, the backend lets no exception through.
TEST(ImportBackend, NamesThatFindNoMemoryAreAnExceptionAfterTheCall) {
  FakeLog log;
  DovetailBackend* c = ExportBackend(
      std::make_unique<FakeBackend>(std::vector<DeviceType>{DeviceType::kCuda}, &log));
  static int told;
  c->allocator_names = [](void*, DovetailDevice, int32_t, void* context,
                          void (*take)(void*, const char*)) noexcept {
    for (told = 0; told < 3; ++told) take(context, "a name that takes a block of memory");
  };
  const std::unique_ptr<DeviceBackend> backend = *ImportBackend(c);
  std::vector<std::string> names;
  const int failures = ForEachAllocationFailure(
      [&] {
        names.clear();
        names = backend->AllocatorNames(Device::Cuda(0), MemoryKind::kDevice);
      },
      [&] {
        EXPECT_EQ(told, 3);
        EXPECT_TRUE(names.empty() || names.size() == 3u) << "no part of the names";
      });
  EXPECT_GE(failures, 4);
  EXPECT_EQ(names.size(), 3u);
}

class ThrowingBackend final : public FakeBackend {
 public:
  using FakeBackend::FakeBackend;
  absl::StatusOr<int> DeviceCount() override { throw 5; }
  Device MemoryDevice(Device, MemoryKind) override { throw std::bad_alloc(); }
  absl::StatusOr<Allocator*> GetAllocator(Device, MemoryKind) override { return &allocator_; }

 private:
  class ThrowingAllocator final : public Allocator {
   public:
    absl::StatusOr<void*> Allocate(size_t, const Stream&) override { throw std::bad_alloc(); }
    void Deallocate(void*, size_t, std::unique_ptr<Uses>) noexcept override {}
    AllocatorStats Stats() override { throw std::bad_alloc(); }
  };
  ThrowingAllocator allocator_;
};

TEST(ExportBackend, NothingIsThrownThroughTheStruct) {
  FakeLog log;
  const std::unique_ptr<DeviceBackend> backend = *ImportBackend(ExportBackend(
      std::make_unique<ThrowingBackend>(std::vector<DeviceType>{DeviceType::kCuda}, &log)));
  const Device device = Device::Cuda(1);
  EXPECT_EQ(backend->DeviceCount().status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(backend->MemoryDevice(device, MemoryKind::kPinnedHost), device);
  Allocator* const allocator = *backend->GetAllocator(device, MemoryKind::kDevice);
  EXPECT_EQ(allocator->Allocate(1, Stream::Default(device)).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(allocator->Stats().allocated_bytes, 0);
}

// Gives the answers that a test sets, and remembers its arguments.
class SharingBackend final : public FakeBackend {
 public:
  using FakeBackend::FakeBackend;
  absl::StatusOr<MemoryShare> ShareMemory(Device, void* data, size_t nbytes, const Uses* uses,
                                          const Stream&) override {
    if (nbytes == 0) return absl::FailedPreconditionError("no bytes");
    const size_t known = uses == nullptr ? 0 : uses->events().size();
    return MemoryShare{.name = std::string(nbytes, 'n'),
                       .offset = reinterpret_cast<intptr_t>(data),
                       .until = known != 0 ? std::nullopt : std::optional<Event>(event)};
  }
  absl::StatusOr<OpenedMemory> OpenMemory(DeviceType type, std::string_view name) override {
    if (name.empty()) return absl::FailedPreconditionError("no name");
    return OpenedMemory{.data = &opened,
                        .nbytes = name.size(),
                        .device = {type, 1},
                        .ready = event,
                        .release = {[](void* n) { ++*static_cast<int*>(n); }, &released}};
  }
  static inline Event event{Device::Cuda(0), std::make_shared<int>(3)};
  static inline int opened = 0, released = 0;
};

TEST(SharedMemory, GoesThroughTheStructBothWays) {
  FakeLog log;
  const std::unique_ptr<DeviceBackend> backend = *ImportBackend(ExportBackend(
      std::make_unique<SharingBackend>(std::vector<DeviceType>{DeviceType::kCuda}, &log)));
  const Device device = Device::Cuda(0);
  const Stream stream = Stream::Default(device);
  const auto before = SharingBackend::event.shared_state().use_count();
  {
    const MemoryShare share =
        *backend->ShareMemory(device, reinterpret_cast<void*>(40), 16, nullptr, stream);
    EXPECT_EQ(share.name, std::string(16, 'n'));
    EXPECT_EQ(share.offset, 40);
    ASSERT_TRUE(share.until.has_value());
    EXPECT_EQ(SharingBackend::event.shared_state().use_count(), before + 1);
    Uses uses;
    uses.AddEvent(*share.until);
    EXPECT_FALSE(backend->ShareMemory(device, nullptr, 1, &uses, stream)->until.has_value());
    EXPECT_EQ(backend->ShareMemory(device, nullptr, 0, &uses, stream).status().message(),
              "no bytes");
    EXPECT_FALSE(backend->ShareMemory(device, nullptr, 257, &uses, stream).ok());  // too long
    const OpenedMemory opened = *backend->OpenMemory(DeviceType::kCuda, std::string("a\0b", 3));
    EXPECT_EQ(opened.data, &SharingBackend::opened);
    EXPECT_EQ(opened.nbytes, 3u);
    EXPECT_EQ(opened.device, Device::Cuda(1));
    EXPECT_TRUE(opened.ready.has_value());
    opened.release.function(opened.release.context);
    EXPECT_EQ(SharingBackend::released, 1);
    EXPECT_EQ(backend->OpenMemory(DeviceType::kCuda, "").status().message(), "no name");
  }
  EXPECT_EQ(SharingBackend::event.shared_state().use_count(), before);
}

}  // namespace
}  // namespace dovetail
