#include <cstring>
#include <memory>
#include <string>

#include "dovetail/core/abi/convert.h"
#include "dovetail/core/abi/export.h"
#include "dovetail/core/abi/import.h"
#include "dovetail/core/copy.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/testing/fake_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A fake backend that is reached through the C struct.
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
  const Tensor y = *CopyTo(*x.Transpose(0, 1), Device::Cuda(1));
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

// What must not be taken is left as it is.
TEST(ImportBackend, RefusesWhatItDoesNotUnderstand) {
  FakeLog log;
  DovetailBackend* c = ExportBackend(
      std::make_unique<FakeBackend>(std::vector<DeviceType>{DeviceType::kCuda}, &log));
  DovetailBackend other = *c;
  other.major = 2;
  EXPECT_THAT(std::string(ImportBackend(&other).status().message()), HasSubstr("version 2.0"));
  other = *c;
  other.struct_size -= 8;
  EXPECT_THAT(std::string(ImportBackend(&other).status().message()), HasSubstr("bytes"));
  other = *c;
  other.query = nullptr;
  EXPECT_THAT(std::string(ImportBackend(&other).status().message()), HasSubstr("lacks"));
  EXPECT_FALSE(log.destroyed);
  c->release(c->self);
  EXPECT_TRUE(log.destroyed);
}

}  // namespace
}  // namespace dovetail
